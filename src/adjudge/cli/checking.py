"""The commands that check whole texts, and fit a judge to a user's own claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import NO_CORPUS, JsonOption, takes
from adjudge.cli.output import progress_console, refuse_overwrite, show
from adjudge.serving.settings import VerifierSettings

if TYPE_CHECKING:
    from adjudge.serving.check.check import CheckOptions
    from adjudge.serving.check.records import Check

FORMATS = ("terminal", "json", "jsonl", "md", "html", "sarif", "github")
FAILED = 1
"""The exit code of ``--fail-on``; bad input exits with 2."""


@takes(VerifierSettings)
def check(
    file: Annotated[
        Path, typer.Argument(help="The text: Markdown, plain text, or any document; - reads standard input.")
    ],
    *,
    settings: VerifierSettings,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DOC",
            help="Instead of --corpus: a document or folder to check against; repeat for several.",
        ),
    ] = None,
    rules_only: Annotated[
        bool,
        typer.Option("--rules-only", help="Compare numbers, dates, names and words by rules; load no model."),
    ] = False,
    split: Annotated[
        bool,
        typer.Option("--split/--no-split", help="Judge the parts of a sentence that joins several facts."),
    ] = True,
    splitter_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Let a language model split sentences: an OpenAI-compatible address, …/v1."
        ),
    ] = None,
    splitter_model: Annotated[
        str, typer.Option(help="With --splitter-url: the model's name there.")
    ] = "default",
    marks: Annotated[
        bool, typer.Option("--marks/--no-marks", help="Mark the words that the evidence does not back.")
    ] = True,
    max_sentences: Annotated[int, typer.Option(min=1, help="Check at most so many sentences.")] = 1000,
    format: Annotated[
        str, typer.Option(metavar="|".join(FORMATS), help="What to print or to write to --out.")
    ] = "terminal",
    out: Annotated[
        Path | None, typer.Option(help="Write there; the ending says the format (.html, .sarif, …).")
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(metavar="refuted|unsupported", help="Exit with 1 if there is such a sentence."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check a whole text against documents, sentence by sentence, and mark the words that are wrong.

    Each sentence is SUPPORTS, REFUTES, NOT ENOUGH INFO, NO EVIDENCE FOUND, NOT CHECKED (a question, an opinion, a
    heading, …) or ERROR. A sentence that joins several facts is refuted if one of its parts is, and supported if all
    are. Numbers, dates and names are also compared exactly, whatever the model thinks.

    **Examples**

    `adjudge check article.md --corpus documents/`

    `adjudge check answer.md --against source.pdf --against notes.txt --model broad`

    `adjudge check article.md --corpus documents/ --out article.html`

    `adjudge check README.md --against specification.md --rules-only --format github --fail-on refuted`
    """
    from adjudge.errors import ConfigError
    from adjudge.serving.check.records import FAIL_ON

    name = _format_name(format, out, json)
    if fail_on is not None and fail_on not in FAIL_ON:
        raise ConfigError(f"--fail-on {fail_on!r}: expected one of {', '.join(FAIL_ON)}.")
    if bool(against) == (settings.corpus is not None):
        raise ConfigError(f"{NO_CORPUS[:-1]}; or --against DOC (one of the two).")
    if out is not None:
        refuse_overwrite(out, force)
    text, markdown = _read(file)
    if splitter_url and not split:
        raise ConfigError("--splitter-url splits sentences, --no-split does not: leave out one of the two.")
    options = _options(markdown, split, splitter_url, splitter_model, marks, max_sentences)
    if rules_only:
        settings = settings.with_(model="rules", selector="lexical")
    result = _check(text, file, settings, against, options)
    _deliver(result, name, out)
    if fail_on is not None and (failures := result.failures(fail_on)):
        sentences = "1 sentence" if len(failures) == 1 else f"{len(failures)} sentences"
        progress_console().print(f"--fail-on {fail_on}: {sentences}.", highlight=False, markup=False)
        raise typer.Exit(FAILED)


def _format_name(format: str, out: Path | None, json: bool) -> str:
    from adjudge.errors import ConfigError

    if json:
        format = "json"
    endings = {"htm": "html", "markdown": "md", "ndjson": "jsonl", "txt": "terminal"}
    if out is not None and format == "terminal":
        ending = out.suffix.lower().lstrip(".")
        format = endings.get(ending, ending)
    if format not in FORMATS:
        raise ConfigError(f"Format {format!r} is not one of {', '.join(FORMATS)}: pass --format.")
    return format


def _options(
    markdown: bool, split: bool, url: str | None, model: str, marks: bool, max_sentences: int
) -> CheckOptions:
    from adjudge.data.clauses import split_by_rules
    from adjudge.serving.check.check import CheckOptions

    splitter = split_by_rules if split else None
    if url is not None:
        from adjudge.serving.check.splitter import ModelSplitter

        return CheckOptions(markdown, ModelSplitter(url, model), marks, max_sentences)
    return CheckOptions(markdown, splitter, marks, max_sentences)


def _read(file: Path) -> tuple[str, bool]:
    """The text to check, and whether it is Markdown."""
    import sys

    from adjudge.data.documents import SUFFIXES, source_text
    from adjudge.data.documents.kinds import suffix_of
    from adjudge.data.documents.text import decode
    from adjudge.io.files import open_bytes

    if str(file) == "-":
        return decode(sys.stdin.buffer.read()), True
    suffix = suffix_of(file.name)
    if suffix in ("", ".txt", ".md", ".markdown"):
        with open_bytes(file) as stream:
            return decode(stream.read()), suffix != ".txt"
    kind = SUFFIXES[suffix].name
    return source_text(file), kind == "Markdown"


def _check(
    text: str, file: Path, settings: VerifierSettings, against: list[Path] | None, options: CheckOptions
) -> Check:
    from adjudge.cli.evidence import open_with_progress
    from adjudge.serving.verifier import Verifier

    name = "standard input" if str(file) == "-" else str(file)
    verifier = Verifier(settings)
    if against:
        return verifier.check(text, against=against, options=options, name=name)
    index = open_with_progress(settings.corpus, settings.selector)
    return verifier.check(text, verifier.search(index), options=options, name=name)


def _deliver(result: Check, format: str, out: Path | None) -> None:
    from adjudge.io.files import write_text
    from adjudge.serving.check.export import EXPORTS

    if format == "terminal" and out is None:
        from adjudge.cli.views.check import check_view

        show(check_view(result))
        return
    content = _terminal_text(result) if format == "terminal" else ""
    if format == "html":
        from adjudge.serving.check.html import to_html

        content = to_html(result)
    elif format in EXPORTS:
        content = EXPORTS[format](result)
    if out is None:
        typer.echo(content, nl=False)
        return
    write_text(out, content)
    progress_console().print(f"{out}: {result.summary}.", highlight=False, markup=False)


def _terminal_text(result: Check) -> str:
    from io import StringIO

    from rich.console import Console

    from adjudge.cli.views.check import check_view

    stream = StringIO()
    Console(file=stream, width=120).print(check_view(result))
    return stream.getvalue()
