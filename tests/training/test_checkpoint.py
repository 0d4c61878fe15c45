from __future__ import annotations

import json
import socket
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from adjudge.config import ModelSettings
from adjudge.errors import ConfigError, TrainingError
from adjudge.models.loading import load_encoder, tiny_encoder
from adjudge.training.checkpoint import Progress, build, load_model, load_progress, save_model, save_progress
from adjudge.training.dataset import tokenize
from adjudge.training.predict import log_probabilities, predict
from adjudge.types import FEVER_LABELS, Evidence, Example, LabelSet


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a test opened a network connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def nudged(model: Any) -> Any:
    """Away from the initial weights, as training would."""
    torch.manual_seed(11)
    with torch.no_grad():
        for parameter in model.module.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"kind": "concat"},
        {"kind": "mixture", "pooling": "mean"},
        {"released": True},
        {"titles": False, "max_length": 20},
    ],
)
def test_a_loaded_model_gives_what_the_saved_one_gave(
    settings: dict[str, Any],
    tiny: ModuleType,
    tmp_path: Path,
    no_network: None,
    monkeypatch: pytest.MonkeyPatch,
):
    saved = nudged(tiny.make_model(**settings))
    saved.module.eval()
    save_model(saved, tmp_path / "checkpoint")
    # The original backbone is out of reach: loading must not ask for it.
    monkeypatch.setattr("adjudge.training.checkpoint.load_encoder", None)
    for folder in (tmp_path, tmp_path / "checkpoint"):
        loaded = load_model(folder)
        assert not loaded.module.training
        assert loaded.labels == saved.labels and loaded.settings == saved.settings
        assert loaded.writer.layout == saved.writer.layout
        data, _ = tiny.data_for(saved)
        assert tiny.data_for(loaded)[0].fingerprint() == data.fingerprint()
        assert torch.equal(log_probabilities(loaded, data), log_probabilities(saved, data))


def test_loading_changes_every_parameter_of_a_fresh_model(tiny: ModuleType, tmp_path: Path):
    fresh = tiny.make_model()
    save_model(nudged(tiny.make_model()), tmp_path)
    loaded = dict(load_model(tmp_path).module.named_parameters())
    assert loaded.keys() == dict(fresh.module.named_parameters()).keys()
    for name, parameter in fresh.module.named_parameters():
        assert not torch.equal(parameter, loaded[name]), name


def test_labels_of_any_set_are_kept(tmp_path: Path):
    labels = LabelSet(("YES", "NO"))
    save_model(build(ModelSettings(backbone="tiny"), labels), tmp_path)
    assert load_model(tmp_path).labels == labels


def test_saving_again_replaces_all_that_an_earlier_model_left(tiny: ModuleType, tmp_path: Path):
    save_model(tiny.make_model(), tmp_path)
    other = build(ModelSettings(backbone="tiny", max_length=24, titles=False), LabelSet(("YES", "NO", "HM")))
    save_model(other, tmp_path)
    loaded = load_model(tmp_path)
    assert loaded.labels == other.labels and loaded.settings == other.settings


def test_a_half_written_checkpoint_is_completed(tiny: ModuleType, tmp_path: Path):
    """A run killed between two files, then resumed."""
    model = tiny.make_model()
    model.module.backbone.encoder.config.save_pretrained(tmp_path)
    save_model(model, tmp_path)
    load_model(tmp_path)


def test_half_precision_backbones_are_loaded_in_single_precision(tiny: ModuleType, tmp_path: Path):
    save_model(tiny.make_model(), tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "dtype": "float16"}))
    assert {p.dtype for p in load_model(tmp_path).module.parameters()} == {torch.float32}


@pytest.mark.parametrize("wrong", ["missing", "empty folder", "file", "other json", "not json", "new format"])
def test_a_folder_that_is_no_checkpoint_is_named(wrong: str, tmp_path: Path):
    folder = tmp_path / "run"
    if wrong == "file":
        folder.write_text("no folder")
    elif wrong != "missing":
        folder.mkdir()
    texts = {"other json": "[1]", "not json": "{", "new format": '{"format": 99}'}
    if wrong in texts:
        (folder / "adjudge.json").write_text(texts[wrong])
    with pytest.raises(ConfigError, match="run"):
        load_model(folder)


@pytest.mark.parametrize("damage", ["model.safetensors", "config.json", "tokenizer.json"])
@pytest.mark.parametrize("how", ["gone", "cut"])
def test_a_damaged_checkpoint_is_named(
    damage: str, how: str, tiny: ModuleType, tmp_path: Path, no_network: None
):
    save_model(tiny.make_model(), tmp_path / "checkpoint")
    path = tmp_path / "checkpoint" / damage
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ConfigError, match="checkpoint"):
        load_model(tmp_path)


def test_an_unknown_model_setting_is_refused(tiny: ModuleType, tmp_path: Path):
    save_model(tiny.make_model(), tmp_path)
    about = json.loads((tmp_path / "adjudge.json").read_text())
    about["model"]["colour"] = "red"
    (tmp_path / "adjudge.json").write_text(json.dumps(about))
    with pytest.raises(ConfigError, match="colour"):
        load_model(tmp_path)


def test_rows_longer_than_the_backbone_reads_are_refused(tmp_path: Path):
    encoder, tokenizer = load_encoder("tiny")
    small = type(encoder)(type(encoder.config)(**{**encoder.config.to_dict(), "max_position_embeddings": 64}))
    small.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ConfigError, match=r"model.max_length is 65; .* reads 64 tokens"):
        build(ModelSettings(backbone=str(tmp_path), max_length=65), FEVER_LABELS)
    model = build(ModelSettings(backbone=str(tmp_path), max_length=64), FEVER_LABELS)
    list(predict(model, [Example(1, "a " * 100, (Evidence("b " * 100),))]))


CHANGED: dict[str, Any] = {
    "kind": "concat",
    "backbone": "other",
    "max_length": 16,
    "pooling": "mean",
    "dropout": 0.5,
    "backbone_dropout": 0.5,
    "titles": False,
    "released": True,
}


@pytest.mark.parametrize("key", [key for key in ModelSettings.model_fields if key != "init"])  # see run.py
def test_every_model_setting_changes_the_verdict(key: str, tmp_path: Path):
    if key == "backbone":
        encoder, tokenizer = tiny_encoder(seed=1)
        encoder.save_pretrained(tmp_path)
        tokenizer.save_pretrained(tmp_path)
    evidence = (
        Evidence("a sentence of more than sixteen tokens", page="Title"),
        Evidence("short", page="Title"),
    )

    def verdict(**settings: Any) -> torch.Tensor:
        torch.manual_seed(0)
        model = build(ModelSettings(**{"backbone": "tiny", "max_length": 40, **settings}), FEVER_LABELS)
        model.module.train("dropout" in key)
        data = tokenize([Example(1, "some claim", evidence)], model.writer, FEVER_LABELS)
        torch.manual_seed(0)
        return log_probabilities(model, data)

    changed = {key: str(tmp_path) if key == "backbone" else CHANGED[key]}
    assert torch.equal(verdict(), verdict())
    assert not torch.allclose(verdict(), verdict(**changed), atol=1e-6)


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
    progress = Progress(step=7, best_step=3, best_accuracy=0.1 + 0.2)
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
    save_progress(tmp_path / "resume.safetensors", Progress(), "abc", model.module, optimizer, [])
    with pytest.raises(TrainingError, match="written under other settings"):
        load_progress(tmp_path / "resume.safetensors", "abd", model.module, optimizer)


@pytest.mark.parametrize("damage", ["empty", "cut", "text", "other tensors", "no settings", "not json"])
def test_a_damaged_progress_file_is_named(damage: str, tiny: ModuleType, tmp_path: Path):
    model, optimizer = trained_state(tiny)
    path = tmp_path / "resume.safetensors"
    save_progress(path, Progress(), "abc", model.module, optimizer, [])
    if damage in ("empty", "cut"):
        path.write_bytes(path.read_bytes()[: 0 if damage == "empty" else 1000])
    elif damage == "text":
        path.write_text("these are not tensors, whatever the name says")
    else:
        metadata = {"no settings": {"progress": "{}"}, "not json": {"progress": "{"}}.get(damage)
        save_file(load_file(path), path, metadata)
    with pytest.raises(TrainingError, match="resume.safetensors: not a state to resume from"):
        load_progress(path, "abc", model.module, optimizer)
