"""A trained model as what differs from its public backbone: small enough to travel inside the package.

A shipped folder is ``shipped.json`` (labels, settings, temperature, hashes), ``model.safetensors`` and whatever
else its maker adds, such as a model card. Of the tensors, those equal to the backbone's are left out, large
matrices are kept as the difference to the backbone's in 8 bits with one scale a row,

    W = W₀ + scale · delta,   delta ∈ {−127, …, 127},   scale = max |W − W₀| / 127 over the row,

and everything else in full.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from adjudge.config import ModelSettings
from adjudge.data.files import sha256, write_json
from adjudge.errors import ConfigError, MissingExtra
from adjudge.models.loading import backbone_sha256, has_embedded_minilm, load_encoder
from adjudge.training.checkpoint import VerdictModel, assemble, build, load_model, save_tensors
from adjudge.types import LabelSet

FORMAT = 1
SHIPPED = "shipped"
ABOUT = "shipped.json"
TENSORS = "model.safetensors"
LARGE = 4096
"""Matrices of more numbers than this are kept in 8 bits."""
DELTA, SCALE = "@delta", "@scale"


@dataclass(frozen=True)
class Shipped:
    """A model that came in a shipped folder, and the temperature that calibrates it."""

    model: VerdictModel
    temperature: float


def default_folder() -> Path:
    """The folder of the model that comes with the package."""
    return Path(str(resources.files("adjudge") / "shipped"))


def is_shipped(folder: Path) -> bool:
    """Whether a folder holds a shipped model rather than a run."""
    return (folder / ABOUT).is_file()


def save_shipped(model: VerdictModel, folder: Path, temperature: float = 1.0) -> None:
    """Write a model as its difference to the backbone it was trained from, which is loaded for that."""
    folder.mkdir(parents=True, exist_ok=True)
    public = build(model.settings, model.labels).module.state_dict()
    tensors: dict[str, Tensor] = {}
    for name, value in model.module.state_dict().items():
        tensors |= _packed(name, value.detach().cpu().float(), public[name].float())
    save_tensors(folder / TENSORS, tensors)
    about = {
        "format": FORMAT,
        "labels": list(model.labels),
        "model": model.settings.model_dump(mode="json"),
        "temperature": temperature,
        "backbone_sha256": backbone_sha256(model.settings.backbone),
        "sha256": sha256(folder / TENSORS),
    }
    write_json(folder / ABOUT, about)


def load_shipped(folder: Path | None = None) -> Shipped:
    """The model of a shipped folder, by default the package's own, in eval mode.

    Refuses tensors that are not those it was written with, and a backbone that is not the one it was
    trained from.
    """
    folder = folder or default_folder()
    about = _about(folder)
    if (found := sha256(folder / TENSORS)) != about.sha256:
        raise ConfigError(
            f"{folder / TENSORS}: SHA-256 is {found}, expected {about.sha256}. Install adjudge again."
        )
    _check_backbone(folder, about)
    encoder, tokenizer = load_encoder(about.settings.backbone)
    model = assemble(about.settings, about.labels, encoder, tokenizer)
    state = dict(model.module.state_dict())
    try:
        model.module.load_state_dict(state | _unpacked(load_file(folder / TENSORS), state))
    except (SafetensorError, RuntimeError, KeyError) as error:
        raise ConfigError(f"{folder / TENSORS}: cannot be loaded ({error}).") from None
    model.module.eval()
    return Shipped(model, about.temperature)


def load_any(source: str | Path | None = None) -> Shipped:
    """A trained model, whatever form it has: None or ``shipped`` for the package's own, a shipped folder, a run."""
    if source is None or source == SHIPPED:
        return load_shipped()
    folder = Path(source)
    return load_shipped(folder) if is_shipped(folder) else Shipped(load_model(folder), 1.0)


def weights_sha256(source: str) -> str:
    """What names the weights that :func:`load_any` would load."""
    folder = default_folder() if source == SHIPPED else Path(source)
    places = [folder / TENSORS, folder / "checkpoint" / TENSORS]
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        raise ConfigError(f"{source}: no trained model here (no {TENSORS}).")
    return sha256(found)


def begin_from(model: VerdictModel, source: str) -> None:
    """Give a new model the weights of a trained one: its backbone's, and its head's where they are of one kind."""
    trained = load_any(source).model
    if trained.settings.backbone != model.settings.backbone:
        raise ConfigError(
            f"model.init: {source} stands on {trained.settings.backbone!r}, this model on {model.settings.backbone!r}."
        )
    part = (
        "" if trained.settings.kind == model.settings.kind and trained.labels == model.labels else "backbone."
    )
    weights = {name: value for name, value in trained.module.state_dict().items() if name.startswith(part)}
    model.module.load_state_dict(weights, strict=not part)


@dataclass(frozen=True)
class _About:
    labels: LabelSet
    settings: ModelSettings
    temperature: float
    backbone_sha256: str
    sha256: str


def _about(folder: Path) -> _About:
    path = folder / ABOUT
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise ConfigError(f"{path}: format {found['format']}, this version reads {FORMAT}.")
        return _About(
            LabelSet(tuple(found["labels"])),
            ModelSettings.model_validate(found["model"]),
            float(found["temperature"]),
            str(found["backbone_sha256"]),
            str(found["sha256"]),
        )
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigError(f"{folder}: no shipped model here (no {ABOUT}).") from None
    except (json.JSONDecodeError, KeyError, TypeError, ValidationError) as error:
        raise ConfigError(f"{path}: damaged ({error}).") from None


def _check_backbone(folder: Path, about: _About) -> None:
    name = about.settings.backbone
    try:
        found = backbone_sha256(name)
    except ConfigError:
        if name == "minilm" and not has_embedded_minilm():
            raise MissingExtra("The model that comes with adjudge stands on MiniLM", "offline") from None
        raise
    if found != about.backbone_sha256:
        raise ConfigError(
            f"{folder}: was trained from a backbone with SHA-256 {about.backbone_sha256}; "
            f"{name!r} is here {found}. Install the very backbone it needs."
        )


def _packed(name: str, value: Tensor, public: Tensor) -> dict[str, Tensor]:
    if name.startswith("backbone."):
        if torch.equal(value, public):
            return {}
        if value.ndim == 2 and value.numel() > LARGE:
            difference = value - public
            scale = difference.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / 127
            return {f"{name}{DELTA}": (difference / scale).round().to(torch.int8), f"{name}{SCALE}": scale}
    return {name: value}


def _unpacked(tensors: dict[str, Tensor], public: dict[str, Tensor]) -> dict[str, Tensor]:
    weights = {}
    for name, value in tensors.items():
        if name.endswith(DELTA):
            plain = name.removesuffix(DELTA)
            weights[plain] = public[plain] + tensors[f"{plain}{SCALE}"] * value.float()
        elif not name.endswith(SCALE):
            weights[name] = value
    return weights
