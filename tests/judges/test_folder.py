from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from adjudge.config import ModelSettings
from adjudge.encoders.dataset import tokenize
from adjudge.encoders.families import build_encoder
from adjudge.encoders.loading import load_encoder, tiny_encoder
from adjudge.errors import ConfigError
from adjudge.judges.folder import (
    load_judge,
    load_model,
    read_folder,
    save_model,
    weights_sha256,
)
from adjudge.judges.predict import log_probabilities, predict
from adjudge.judges.registry import LOADERS
from adjudge.judges.row_model import RowJudge, build
from adjudge.retrieval.ranker import RankerSettings, build_ranker, save_ranker
from adjudge.types import FEVER_LABELS, Evidence, Example, LabelSet, Verdict
from trained_model import leave_out_hashes, nudged


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a test opened a network connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"kind": "concat"},
        {"kind": "mixture", "pooling": "mean"},
        {"options": {"released": True}},
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
    monkeypatch.setattr("adjudge.judges.folder.load_encoder", None)
    for folder in (tmp_path, tmp_path / "checkpoint"):
        loaded = load_model(folder)
        assert not loaded.module.training
        assert loaded.labels == saved.labels and loaded.settings == saved.settings
        assert loaded.writer.layout == saved.writer.layout
        data, _ = tiny.data_for(saved)
        assert tiny.data_for(loaded)[0].fingerprint() == data.fingerprint()
        ours, theirs = loaded.module.state_dict(), saved.module.state_dict()
        assert ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)
        # Some processors add in another order where a tensor lies elsewhere in memory.
        torch.testing.assert_close(
            log_probabilities(loaded, data), log_probabilities(saved, data), atol=2e-6, rtol=0
        )


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
    leave_out_hashes(tmp_path)
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
    leave_out_hashes(tmp_path)
    metadata = json.loads((tmp_path / "adjudge.json").read_text())
    metadata["settings"]["colour"] = "red"
    (tmp_path / "adjudge.json").write_text(json.dumps(metadata))
    with pytest.raises(ConfigError, match="colour"):
        load_model(tmp_path)


def test_rows_longer_than_the_backbone_reads_are_refused(tmp_path: Path):
    encoder, tokenizer = load_encoder("tiny")
    build_encoder({**encoder.config.values, "max_position_embeddings": 64}).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ConfigError, match=r"model.max_length is 65; .* reads 64 tokens"):
        build(ModelSettings(backbone=str(tmp_path), max_length=65), FEVER_LABELS)
    model = build(ModelSettings(backbone=str(tmp_path), max_length=64), FEVER_LABELS)
    list(predict(model, [Example(1, "a " * 100, (Evidence("b " * 100),))]))


CHANGED: dict[str, Any] = {
    "kind": "concat",
    "backbone": "other",
    "max_length": 16,
    "max_evidence": 1,
    "pooling": "mean",
    "dropout": 0.5,
    "backbone_dropout": 0.5,
    "titles": False,
    "context": True,
    "options": {"attention_size": 7},
    "adapters": 2,  # of which the random start moves the head's
}


@pytest.mark.parametrize("key", [key for key in ModelSettings.model_fields if key != "init"])  # see run.py
def test_every_model_setting_changes_the_verdict(key: str, tmp_path: Path):
    if key == "backbone":
        encoder, tokenizer = tiny_encoder(seed=1)
        encoder.save_pretrained(tmp_path)
        tokenizer.save_pretrained(tmp_path)
    evidence = (
        Evidence("a sentence of more than sixteen tokens", page="Title"),
        Evidence("short", page="Title", context="a sentence before"),
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


def test_weights_are_named_by_their_content(trained: RowJudge, tmp_path: Path) -> None:
    save_model(trained, tmp_path / "one", as_difference=True)
    save_model(trained, tmp_path / "two", as_difference=True)
    assert weights_sha256(str(tmp_path / "one")) == weights_sha256(str(tmp_path / "two"))
    with torch.no_grad():
        next(trained.module.backbone.parameters()).add_(0.5)
    save_model(trained, tmp_path / "two", as_difference=True)
    assert weights_sha256(str(tmp_path / "one")) != weights_sha256(str(tmp_path / "two"))
    with pytest.raises(ConfigError, match="no trained judge here"):
        weights_sha256(str(tmp_path))


def test_a_ranker_is_not_taken_for_a_judge(tmp_path: Path) -> None:
    save_ranker(build_ranker(RankerSettings(backbone="tiny")), tmp_path)
    with pytest.raises(ConfigError, match="holds a ranker, expected a judge"):
        load_judge(tmp_path)
    assert read_folder(tmp_path, "ranker").metadata.weight == 1.0


def test_a_prefix_names_what_loads_a_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    class Oracle:
        """A judge that is not a row model, and no model at all."""

        labels, max_evidence, identity = FEVER_LABELS, None, {"kind": "oracle"}

        def judge(self, examples: Any) -> Any:
            return (Verdict(e.id, e.claim, "REFUTES", {"REFUTES": 1.0}, e.evidence) for e in examples)

    monkeypatch.setitem(LOADERS, "oracle", "somewhere:load")
    module = SimpleNamespace(load=lambda source, device, class_names: {"delphi": Oracle()}[source])
    monkeypatch.setitem(sys.modules, "somewhere", module)
    [verdict] = load_judge("oracle:delphi").judge([Example(1, "A claim.", (Evidence("A sentence."),) * 9)])
    assert verdict.label == "REFUTES" and len(verdict.evidence) == 9
