"""The state of an unfinished training, in one file to resume from. Tensors only, no pickles."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from adjudge.encoders.tensors import checksum, save_tensors
from adjudge.errors import TrainingError

STATE = "resume.safetensors"
"""The file, in the folder of what is trained."""


@dataclass(frozen=True)
class TrainingProgress:
    """How far a training is: optimizer steps done and the best dev result so far."""

    step: int = 0
    best_step: int = 0
    best_accuracy: float = -1.0


def save_progress(
    path: Path,
    progress: TrainingProgress,
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
    record = {**vars(progress), "settings": settings_hash, "checksum": checksum(tensors)}
    save_tensors(path, tensors, {"progress": json.dumps(record)})


def load_progress(
    path: Path, settings_hash: str, model: nn.Module, optimizer: torch.optim.Optimizer
) -> tuple[TrainingProgress, list[Tensor]]:
    """Bring model and optimizer to a saved state; returns the progress and each worker's random state."""
    try:
        with safe_open(path, framework="pt") as stream:
            values = json.loads(stream.metadata()["progress"])
        saved_hash, saved_sum = values.pop("settings"), values.pop("checksum")
        progress, tensors = TrainingProgress(**values), load_file(path)
        if checksum(tensors) != saved_sum:
            raise ValueError("its numbers are not those that were written")
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise TrainingError(
            f"{path}: not a state to resume from ({error}). Start again without --resume."
        ) from None
    if saved_hash != settings_hash:
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


def _optimizer_states(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, dict[str, Any]]:
    return {name: optimizer.state[p] for name, p in model.named_parameters() if p in optimizer.state}


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
