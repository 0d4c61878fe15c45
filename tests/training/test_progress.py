from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from adjudge.errors import TrainingError
from adjudge.training.progress import TrainingProgress, load_progress, save_progress


def trained_state(tiny: ModuleType) -> tuple[Any, torch.optim.Optimizer]:
    model = tiny.make_model(freeze_layers=1)
    optimizer = torch.optim.AdamW([p for p in model.module.parameters() if p.requires_grad], fused=True)
    data, _ = tiny.data_for(model)
    model.module(data.batch([0, 1, 2])).log_probs.sum().backward()
    optimizer.step()
    return model, optimizer


def test_progress_brings_back_weights_optimizer_and_random_states(tiny: ModuleType, tmp_path: Path):
    model, optimizer = trained_state(tiny)
    states = [torch.arange(5, dtype=torch.uint8), torch.get_rng_state()]
    progress = TrainingProgress(step=7, best_step=3, best_accuracy=0.1 + 0.2)
    save_progress(tmp_path / "resume.safetensors", progress, "abc", model.module, optimizer, states)

    other = tiny.make_model(freeze_layers=1)
    fresh = torch.optim.AdamW([p for p in other.module.parameters() if p.requires_grad], fused=True)
    found, found_states = load_progress(tmp_path / "resume.safetensors", "abc", other.module, fresh)
    assert found == progress
    assert all(torch.equal(a, b) for a, b in zip(found_states, states, strict=True))
    theirs = dict(other.module.named_parameters())
    for name, parameter in model.module.named_parameters():
        assert torch.equal(parameter, theirs[name]), name
        assert optimizer.state[parameter].keys() == fresh.state[theirs[name]].keys()
        for key, value in optimizer.state[parameter].items():
            assert torch.equal(value, fresh.state[theirs[name]][key]), (name, key)


def test_progress_of_other_settings_is_refused(tiny: ModuleType, tmp_path: Path):
    model, optimizer = trained_state(tiny)
    save_progress(tmp_path / "resume.safetensors", TrainingProgress(), "abc", model.module, optimizer, [])
    with pytest.raises(TrainingError, match="written under other settings"):
        load_progress(tmp_path / "resume.safetensors", "abd", model.module, optimizer)


@pytest.mark.parametrize("damage", ["empty", "cut", "text", "other tensors", "no settings", "not json"])
def test_a_damaged_progress_file_is_named(damage: str, tiny: ModuleType, tmp_path: Path):
    model, optimizer = trained_state(tiny)
    path = tmp_path / "resume.safetensors"
    save_progress(path, TrainingProgress(), "abc", model.module, optimizer, [])
    if damage in ("empty", "cut"):
        path.write_bytes(path.read_bytes()[: 0 if damage == "empty" else 1000])
    elif damage == "text":
        path.write_text("these are not tensors, whatever the name says")
    else:
        metadata = {"no settings": {"progress": "{}"}, "not json": {"progress": "{"}}.get(damage)
        save_file(load_file(path), path, metadata)
    with pytest.raises(TrainingError, match="resume.safetensors: not a state to resume from"):
        load_progress(path, "abc", model.module, optimizer)
