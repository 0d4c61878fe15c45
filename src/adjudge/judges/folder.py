"""Models on disk: one format for what training writes, for exports, and for the models of the package.

adjudge.json       what the model is: type, settings, labels, temperature, the SHA-256 of its tensors
model.safetensors  its weights
config.json, …     of encoder and tokenizer, unless adjudge.json names a ``base``

With a ``base`` the tensors are what differs from a public backbone (see ``encoders.tensors``), which is then needed
to load the model. Tensors only, no pickles.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError

from adjudge.config import ModelSettings, problems_in
from adjudge.encoders.loading import (
    backbone_sha256,
    has_embedded_minilm,
    load_encoder,
    locate,
    refuse_code,
)
from adjudge.encoders.loading import read_folder as read_encoder_folder
from adjudge.encoders.runtime import light_precision, runs_light
from adjudge.errors import ConfigError, MissingExtra
from adjudge.io.digests import digest_of
from adjudge.io.files import sha256, write_json
from adjudge.io.jsonl import decode_object
from adjudge.io.system import name_file, unusable
from adjudge.judges.calibrated import CALIBRATION, load_calibrated
from adjudge.judges.protocol import Judge
from adjudge.judges.registry import LOADERS, PACKAGE_MODELS, RULES, import_object
from adjudge.types import LabelSet

if TYPE_CHECKING:
    from torch import Tensor, nn

    from adjudge.judges.row_model import RowJudge

FORMAT = 2
METADATA = "adjudge.json"
TENSORS = "model.safetensors"
Settings = TypeVar("Settings", bound=BaseModel)
ModelType = Literal["judge", "ranker"]
_ENCODER = "backbone.encoder."
_EXPECTED = {
    "judge": f"{', '.join(PACKAGE_MODELS)}, {RULES}, hf:ID or a model's folder. Train one: adjudge train --help.",
    "ranker": "lexical, fusion, hf:ID or a ranker's folder. Train one: adjudge train-ranker --help.",
}
"""What may stand where a folder of a type is named that holds no such model."""


class Base(BaseModel):
    """The public backbone that a folder holds the differences to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    backbone: str
    sha256: str


class Metadata(BaseModel):
    """What ``adjudge.json`` says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    type: ModelType
    settings: dict[str, Any]
    labels: tuple[str, ...] = ()
    neutral: str | None = None
    temperature: float = Field(1.0, gt=0, lt=1e6)
    weight: float | None = None
    base: Base | None = None
    sha256: str = ""
    files: dict[str, str] = {}
    """SHA-256 of the files of encoder and tokenizer."""
    checksum: str | None = None
    """SHA-256 of all of the above."""


@dataclass(frozen=True)
class StoredModel:
    """A folder that was read: metadata, an encoder with its tokenizer, and the weights of the whole model."""

    folder: Path
    metadata: Metadata
    encoder: Any
    tokenizer: Any
    tensors: dict[str, Tensor]

    def settings(self, kind: type[Settings]) -> Settings:
        """What the model was built with."""
        return _validate(self.folder, kind, self.metadata.settings)

    def load_into(self, module: nn.Module) -> None:
        """Give a module built on the encoder its weights, and eval mode."""
        try:
            module.load_state_dict(self.tensors, assign=True)
        except RuntimeError as error:
            raise ConfigError(f"{self.folder / TENSORS}: cannot be loaded ({error}).") from None
        module.eval()


def write_folder(
    folder: Path, module: Any, tokenizer: Any, metadata: Metadata, base: str | None = None
) -> None:
    """Write a model; with the name of its public backbone as ``base``, only what differs from that.

    All files are written every time: what an earlier or interrupted run left must not stay beside new weights.
    """
    from adjudge.encoders.tensors import pack_differences, save_tensors

    folder.mkdir(parents=True, exist_ok=True)
    tensors = module.state_dict()
    written: list[Path] = []
    if base is None:
        module.backbone.encoder.config.save_pretrained(folder)
        written = [folder / "config.json", *map(Path, tokenizer.save_pretrained(folder))]
    else:
        tensors = pack_differences(tensors, _public_tensors(load_encoder(base)[0]))
        metadata = metadata.model_copy(update={"base": Base(backbone=base, sha256=backbone_sha256(base))})
    save_tensors(folder / TENSORS, tensors)
    hashes = {path.name: sha256(path) for path in written if path.is_file()}
    metadata = metadata.model_copy(update={"sha256": sha256(folder / TENSORS), "files": hashes})
    metadata = metadata.model_copy(update={"checksum": _checksum(metadata)})
    write_json(folder / METADATA, metadata.model_dump(mode="json", exclude_none=True))


def _checksum(metadata: Metadata) -> str:
    values = metadata.model_dump(mode="json", exclude_none=True, exclude={"checksum"})
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def read_folder(folder: Path, expected: ModelType = "judge") -> StoredModel:
    """What :func:`write_folder` wrote.

    Refuses tensors that are not those it was written with, and a backbone that is not the one it differs from.
    """
    from safetensors.torch import load_file

    from adjudge.encoders.tensors import unpack_differences

    metadata = read_metadata(folder, expected)
    path = folder / TENSORS
    try:
        _check_files(folder, metadata)
        encoder, tokenizer = _read_encoder(folder, metadata)
        tensors = load_file(path)
        if metadata.base is not None:
            tensors = unpack_differences(tensors, _public_tensors(encoder))
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{folder}: {unusable('model', error)}.") from None
    return StoredModel(folder, metadata, encoder, tokenizer, tensors)


def _check_files(folder: Path, metadata: Metadata) -> None:
    """Refuse files that are not those the model was written with."""
    for name, expected in {TENSORS: metadata.sha256, **metadata.files}.items():
        if name != os.path.basename(name):
            raise ConfigError(f"{folder / METADATA}: damaged ({name!r} is no file of this folder).")
        if (digest := digest_of(folder / name)) != expected:
            raise ConfigError(
                f"{folder / name}: SHA-256 is {digest}, expected {expected}. "
                "The file was damaged or replaced: copy, export or install the model again."
            )
    _check_run(folder, metadata)


def read_metadata(folder: Path, expected: ModelType = "judge") -> Metadata:
    """What a folder says of the model it holds, which must be of a type."""
    path = folder / METADATA
    try:
        with name_file(path):
            values = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigError(
            f"{folder}: no trained {expected} here (no {METADATA}). Expected {_EXPECTED[expected]}"
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: damaged ({error}).") from None
    version = values.get("format", FORMAT) if isinstance(values, dict) else FORMAT
    if version != FORMAT:
        raise ConfigError(
            f"{path}: model format {version}, this version reads {FORMAT}. Train or export again."
        )
    metadata = _validate(folder, Metadata, values)
    if metadata.checksum is not None and metadata.checksum != _checksum(metadata):
        raise ConfigError(f"{path}: damaged or changed (its checksum is another). Train or export again.")
    if metadata.type != expected:
        raise ConfigError(f"{folder}: holds a {metadata.type}, expected a {expected}.")
    return metadata


def _check_run(folder: Path, metadata: Metadata) -> None:
    """Refuse weights in a run's folder that are not those the run ended with."""
    manifest = folder.parent / "manifest.json"
    if folder.name != "checkpoint" or not manifest.is_file():
        return
    weights = decode_object(manifest.read_bytes(), str(manifest)).get("weights")
    if weights not in (None, metadata.sha256):
        raise ConfigError(
            f"{folder}: holds the weights {metadata.sha256}, but the run ended with {weights}. They are another run's."
        )


def locate_model(name: str | Path | None) -> Path:
    """The folder of a model: None or a name of the package's models, a run, its checkpoint, an exported folder."""
    name = next(iter(PACKAGE_MODELS)) if name is None else name
    if str(name) in PACKAGE_MODELS:
        return Path(str(resources.files("adjudge") / PACKAGE_MODELS[str(name)]))
    folder = Path(name).expanduser()
    return folder / "checkpoint" if (folder / "checkpoint").is_dir() else folder


def weights_sha256(name: str) -> str:
    """What names the weights of a model."""
    return read_metadata(locate_model(name)).sha256


def load_judge(
    name: str | Path | None = None,
    device: Any = "cpu",
    precision: str = "auto",
    class_names: Mapping[str, str] | None = None,
    runtime: str = "auto",
) -> Judge:
    """A judge, ready to answer.

    Args:
        name: None or ``small`` for the package's own; ``rules`` for facts compared without a model; the folder of a
            run, a checkpoint, an export or a calibration; or ``hf:`` with the id or folder of a Hugging Face
            classifier (``hf-joined:`` joins the sentences).
        device: where it computes.
        precision: what a row model's encoder computes in: see :func:`set_precision`; classifiers compute in fp32.
        class_names: the labels of a classifier's classes whose names say nothing.
        runtime: what runs a row model: see :mod:`adjudge.encoders.runtime`.
    """
    if str(name) == RULES:
        from adjudge.judges.mixed import with_facts

        return with_facts(None)
    prefix, colon, source = str(name).partition(":")
    if colon and prefix in LOADERS:
        judge: Judge = import_object(LOADERS[prefix])(source, device=device, class_names=class_names)
        return judge
    folder = locate_model(name)
    if (folder / CALIBRATION).is_file():
        return load_calibrated(
            folder, lambda inner: load_judge(inner, device, precision, class_names, runtime)
        )
    if runs_light(device, precision, runtime) and (light := load_light_model(folder, precision)) is not None:
        return light
    if runtime == "light":
        raise ConfigError(
            f"{name}: cannot run without torch here (its encoder, head, device or precision); use --runtime auto."
        )
    return load_model(name).on(device, precision)


def load_light_model(folder: Path, precision: str) -> Judge | None:
    """The row model of a folder without torch; None where it takes torch to run it."""
    from adjudge.judges.light import Source, load_light

    metadata = read_metadata(folder)
    try:
        _check_files(folder, metadata)
    except OSError as error:
        raise ConfigError(f"{folder}: {unusable('model', error)}.") from None
    base = metadata.base
    if base is not None:
        _check_base(folder, base)
    home = folder if base is None else Path(locate(base.backbone))
    refuse_code(home)
    hashes = (metadata.sha256, "" if base is None else base.sha256)
    source = Source(home, folder / TENSORS, base is not None, hashes)
    settings = _validate(folder, ModelSettings, metadata.settings)
    labels = LabelSet(metadata.labels, neutral=metadata.neutral)
    return load_light(source, settings, labels, metadata.temperature, light_precision(precision))


def save_model(judge: RowJudge, folder: Path, as_difference: bool = False) -> None:
    """Write a row model: whole, so that it loads without a hub, or as what differs from its public backbone."""
    metadata = Metadata(
        type="judge",
        settings=judge.settings.model_dump(mode="json", exclude={"init"}, exclude_none=True),
        labels=tuple(judge.labels),
        neutral=judge.labels.neutral,
        temperature=judge.temperature,
    )
    base = judge.settings.backbone if as_difference else None
    write_folder(folder, judge.module, judge.writer.tokenizer, metadata, base)


def load_model(name: str | Path | None, freeze_layers: int = 0) -> RowJudge:
    """The row model of a name, in eval mode: to answer, to measure, or to train further."""
    from adjudge.judges.row_model import assemble

    stored = read_folder(locate_model(name))
    metadata = stored.metadata
    settings = stored.settings(ModelSettings)
    labels = LabelSet(metadata.labels, neutral=metadata.neutral)
    judge = assemble(settings, labels, stored.encoder, stored.tokenizer, freeze_layers)
    stored.load_into(judge.module)
    return replace(judge, temperature=metadata.temperature, weights=metadata.sha256)


def initialise_from(judge: RowJudge, name: str) -> None:
    """Give a new model the weights of a trained one: its backbone's, and its head's where they are of one kind."""
    trained = load_model(name)
    if trained.settings.backbone != judge.settings.backbone:
        raise ConfigError(
            f"model.init: {name} stands on {trained.settings.backbone!r}, this model on {judge.settings.backbone!r}."
        )
    same_head = trained.labels == judge.labels and all(
        getattr(trained.settings, name) == getattr(judge.settings, name) for name in ("kind", "options")
    )
    part = "" if same_head else "backbone."
    weights = {key: value for key, value in trained.module.state_dict().items() if key.startswith(part)}
    judge.module.load_state_dict(weights, strict=same_head)


def _validate(folder: Path, kind: type[Settings], values: Any) -> Settings:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{folder / METADATA}: damaged ({'; '.join(problems_in(error))}).") from None


def _read_encoder(folder: Path, metadata: Metadata) -> tuple[Any, Any]:
    if metadata.base is not None:
        _check_base(folder, metadata.base)
        return load_encoder(metadata.base.backbone)
    if (known := read_encoder_folder(folder, weights=False)) is not None:
        return known
    import torch
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        encoder = AutoModel.from_config(config, trust_remote_code=False, dtype=torch.float32)
        return encoder, AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except Exception as error:  # damaged files make transformers and tokenizers raise anything
        raise ConfigError(f"{folder}: damaged model ({type(error).__name__}: {error}).") from None


def _check_base(folder: Path, base: Base) -> None:
    try:
        digest = backbone_sha256(base.backbone)
    except ConfigError:
        if base.backbone == "minilm" and not has_embedded_minilm():
            raise MissingExtra("The model that comes with adjudge stands on MiniLM", "offline") from None
        raise
    if digest != base.sha256:
        raise ConfigError(
            f"{folder}: was trained from a backbone with SHA-256 {base.sha256}; "
            f"{base.backbone!r} is here {digest}. Install the very backbone it needs."
        )


def _public_tensors(encoder: nn.Module) -> dict[str, Tensor]:
    """An encoder's weights, called as in the whole model."""
    return {f"{_ENCODER}{name}": value.float() for name, value in encoder.state_dict().items()}
