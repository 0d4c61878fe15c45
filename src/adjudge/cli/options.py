"""Options that several commands take, and what their values mean."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from adjudge.errors import ConfigError
from adjudge.serving.settings import VerifierSettings
from adjudge.types import FEVER_LABELS

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
LabelOption = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="THEIRS=OURS", help="Count a label as another, e.g. SUPPORTED=SUPPORTS."),
]
RayOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Work on a Ray cluster: auto, HOST:PORT, ray://HOST:PORT; or local for this machine.",
    ),
]
InjectGoldOption = Annotated[
    bool,
    typer.Option(
        "--inject-gold",
        help="Offer the selector the gold pages too; every output says that gold was injected.",
    ),
]
ForceOption = Annotated[bool, typer.Option(help="Replace existing files and begin again.")]
Command = Callable[..., None]
NO_CORPUS = "Say where to look: --corpus, an index or a folder or file of documents."


def as_sentence(text: str) -> str:
    """A description as help: begun with a capital, ended with a full stop. Greek letters stay as they are."""
    return f"{text[:1].upper() if text[:1].isascii() else text[:1]}{text[1:]}."


def field_of(record: type[BaseModel], path: str) -> FieldInfo:
    """A field of a settings record, ``key`` or ``section.key``."""
    section, _, key = path.rpartition(".")
    owner: Any = record.model_fields[section].annotation if section else record
    field: FieldInfo = owner.model_fields[key]
    return field


def field_option(record: type[BaseModel], path: str, *flags: str) -> Any:
    """The option of a settings field: its help and its bounds are those of the field."""
    field = field_of(record, path)
    bounds = {
        option: getattr(rule, attribute)
        for rule in field.metadata
        for option, attribute in (("min", "ge"), ("max", "le"))
        if hasattr(rule, attribute)
    }
    return typer.Option(*flags, help=as_sentence(field.description or ""), **bounds)


def takes(record: type[BaseModel], *names: str, **defaults: Any) -> Callable[[Command], Command]:
    """Give a command an option for each field of a settings record, in place of its parameter ``settings``.

    Args:
        record: the settings that the command gets, validated.
        names: the fields that are options; all of them where none is named.
        defaults: where the command's defaults differ from the record's.
    """
    fields = {name: record.model_fields[name] for name in names or record.model_fields}
    values = {name: defaults.get(name, field.default) for name, field in fields.items()}
    return _with_options(record, values, lambda options: record(**options))


def takes_given(record: type[BaseModel], *names: str, **paths: str) -> Callable[[Command], Command]:
    """As :func:`takes`, but ``settings`` is a dict of those options that were given on the command line.

    Args:
        record: whose fields they are.
        names: fields whose options are called like them.
        paths: option → field, ``key`` or ``section.key``; ``settings`` then is nested.
    """
    paths = {**dict(zip(names, names, strict=True)), **paths}

    def nest(options: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in options.items():
            section, _, key = paths[name].rpartition(".")
            if value is not None:
                (values.setdefault(section, {}) if section else values)[key] = value
        return values

    return _with_options(record, dict.fromkeys(paths), nest, paths)


def _with_options(
    record: type[BaseModel],
    defaults: dict[str, Any],
    settings_from: Callable[[dict[str, Any]], Any],
    paths: Mapping[str, str] | None = None,
) -> Callable[[Command], Command]:
    path_of = paths or {name: name for name in defaults}

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_settings(**values: Any) -> None:
            options = {name: values.pop(name) for name in defaults}
            command(**values, settings=settings_from(options))

        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command, eval_str=True).parameters.values():
            if parameter.name == "settings":
                parameters += [
                    _parameter(record, name, path_of[name], default) for name, default in defaults.items()
                ]
            else:
                parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        with_settings.__dict__["__signature__"] = inspect.Signature(parameters)
        with_settings.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return with_settings

    return decorate


def _parameter(record: type[BaseModel], name: str, path: str, default: Any) -> inspect.Parameter:
    value: Any = field_of(record, path).annotation
    if any(get_origin(part) in (dict, tuple) for part in (value, *get_args(value))):
        value = str  # which the settings know how to read
    value = value if default is not None else value | None
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[value, field_option(record, path)],
    )


CorpusOption = Annotated[Path | None, field_option(VerifierSettings, "corpus")]
DeviceOption = Annotated[str, field_option(VerifierSettings, "device")]
PrecisionOption = Annotated[str, field_option(VerifierSettings, "precision")]


def aliases(pairs: Sequence[str] | None) -> dict[str, str]:
    """``THEIRS=OURS`` pairs as a mapping."""
    spelled = {}
    for pair in pairs or ():
        theirs, equals, ours = pair.partition("=")
        if not (equals and theirs.strip() and ours.strip()):
            raise ConfigError(f"--label {pair!r}: expected THEIRS=OURS, such as SUPPORTED=SUPPORTS.")
        spelled[theirs.strip()] = FEVER_LABELS.parse(ours) if FEVER_LABELS.knows(ours) else ours.strip()
    return spelled
