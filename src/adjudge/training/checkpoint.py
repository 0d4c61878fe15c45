"""What a run leaves on disk: a model to load again, and a state to resume from. Tensors only, no pickles."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from adjudge.config import ModelSettings
from adjudge.data.files import write_json
from adjudge.errors import ConfigError, TrainingError
from adjudge.models import VERDICT_MODELS, Backbone
from adjudge.models.loading import load_encoder
from adjudge.training.rows import Layout, RowWriter
from adjudge.types import LabelSet

FORMAT = 1


@dataclass(frozen=True)
class VerdictModel:
    """A verdict model with what it takes to feed it: how to write rows, and what its classes mean."""

    module: Any
    writer: RowWriter
    labels: LabelSet
    settings: ModelSettings


def build(
    settings: ModelSettings, labels: LabelSet, freeze_layers: int = 0, freeze_embeddings: bool = False
) -> VerdictModel:
    """A new verdict model on a pre-trained backbone; the head's weights come from torch's random state."""
    encoder, tokenizer = load_encoder(settings.backbone)
    model = assemble(settings, labels, encoder, tokenizer, freeze_layers)
    if freeze_embeddings:
        model.module.backbone.freeze_embeddings()
    return model


def assemble(
    settings: ModelSettings, labels: LabelSet, encoder: Any, tokenizer: Any, freeze_layers: int = 0
) -> VerdictModel:
    """A verdict model on a given encoder."""
    backbone = Backbone(encoder, freeze_layers, settings.pooling)
    if settings.backbone_dropout is not None:
        backbone.set_dropout(settings.backbone_dropout)
    longest = backbone.max_length
    if longest is not None and settings.max_length > longest:
        raise ConfigError(
            f"model.max_length is {settings.max_length}; {settings.backbone} reads {longest} tokens."
        )
    layout = Layout(
        max_length=settings.max_length,
        one_row=settings.kind == "concat",
        titles=settings.titles,
        empty_rows=settings.empty_rows,
    )
    module = VERDICT_MODELS[settings.kind](backbone, classes=len(labels), dropout=settings.dropout)
    return VerdictModel(module, RowWriter(tokenizer, layout), labels, settings)


def save_model(model: VerdictModel, folder: Path) -> None:
    """Write a model with all that :func:`load_model` needs to read it without a hub."""
    folder.mkdir(parents=True, exist_ok=True)
    # All of it, every time: what an earlier or interrupted run left here must not stay beside new weights.
    model.module.backbone.encoder.config.save_pretrained(folder)
    model.writer.tokenizer.save_pretrained(folder)
    save_tensors(folder / "model.safetensors", dict(model.module.state_dict()))
    about = {
        "format": FORMAT,
        "labels": list(model.labels),
        "model": model.settings.model_dump(mode="json"),
    }
    write_json(folder / "adjudge.json", about)


def load_model(folder: Path, freeze_layers: int = 0) -> VerdictModel:
    """The model that :func:`save_model` wrote, in eval mode. ``folder`` is a run or its checkpoint."""
    if (folder / "checkpoint").is_dir():
        folder = folder / "checkpoint"
    settings, labels = _about(folder)
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    try:
        encoder = AutoModel.from_config(AutoConfig.from_pretrained(folder), dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folder}: damaged checkpoint ({error}).") from None
    model = assemble(settings, labels, encoder, tokenizer, freeze_layers)
    try:
        model.module.load_state_dict(load_file(folder / "model.safetensors"))
    except (SafetensorError, RuntimeError, OSError) as error:
        raise ConfigError(f"{folder / 'model.safetensors'}: cannot be loaded ({error}).") from None
    model.module.eval()
    return model


def _about(folder: Path) -> tuple[ModelSettings, LabelSet]:
    try:
        about = json.loads((folder / "adjudge.json").read_text(encoding="utf-8"))
        if about["format"] != FORMAT:
            raise ConfigError(f"{folder}: checkpoint format {about['format']}, this version reads {FORMAT}.")
        return ModelSettings.model_validate(about["model"]), LabelSet(tuple(about["labels"]))
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigError(
            f"{folder}: not a run folder or checkpoint (no adjudge.json). Train one: adjudge train --help."
        ) from None
    except (json.JSONDecodeError, KeyError, TypeError, ValidationError) as error:
        raise ConfigError(f"{folder / 'adjudge.json'}: damaged ({error}).") from None


@dataclass(frozen=True)
class Progress:
    """How far a training is: optimizer steps done and the best dev result so far."""

    step: int = 0
    best_step: int = 0
    best_accuracy: float = -1.0


def save_progress(
    path: Path,
    progress: Progress,
    settings_hash: str,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    random_states: list[Tensor],
) -> None:
    """Everything that decides the next step, in one file that is replaced whole."""
    tensors = {f"model.{name}": p.detach() for name, p in model.named_parameters() if p.requires_grad}
    for name, state in _optimizer_states(model, optimizer).items():
        tensors |= {f"optimizer.{key}.{name}": torch.as_tensor(value) for key, value in state.items()}
    tensors |= {f"random.{rank}": state for rank, state in enumerate(random_states)}
    save_tensors(path, tensors, {"progress": json.dumps({**vars(progress), "settings": settings_hash})})


def load_progress(
    path: Path, settings_hash: str, model: nn.Module, optimizer: torch.optim.Optimizer
) -> tuple[Progress, list[Tensor]]:
    """Bring model and optimizer to a saved state; returns the progress and each worker's random state."""
    try:
        with safe_open(path, framework="pt") as stream:
            about = json.loads(stream.metadata()["progress"])
        found = about.pop("settings")
        progress, tensors = Progress(**about), load_file(path)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise TrainingError(
            f"{path}: not a state to resume from ({error}). Start again without --resume."
        ) from None
    if found != settings_hash:
        raise TrainingError(
            f"{path}: was written under other settings, data or number of workers; "
            "resume with the same ones, or start a new run folder."
        )
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, value in _under("model.", tensors).items():
            parameters[name].copy_(value)
    for key in ("step", "exp_avg", "exp_avg_sq"):
        for name, value in _under(f"optimizer.{key}.", tensors).items():
            optimizer.state[parameters[name]][key] = value.to(parameters[name].device)
    random_states = _under("random.", tensors)
    return progress, [random_states[str(rank)] for rank in range(len(random_states))]


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """A safetensors file that appears whole or not at all."""
    on_host = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        save_file(on_host, temporary, metadata)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _optimizer_states(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, dict[str, Any]]:
    return {name: optimizer.state[p] for name, p in model.named_parameters() if p in optimizer.state}


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
