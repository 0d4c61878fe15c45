from __future__ import annotations

import json
import random
import socket
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from adjudge.config import ModelSettings
from adjudge.encoders import loading, tensors
from adjudge.encoders.dataset import tokenize
from adjudge.encoders.families import build_encoder
from adjudge.encoders.loading import load_encoder, tiny_encoder
from adjudge.errors import ConfigError, MissingExtra
from adjudge.judges.folder import (
    METADATA,
    TENSORS,
    initialise_from,
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


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a test opened a network connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def leave_out_hashes(folder: Path) -> None:
    metadata = json.loads((folder / METADATA).read_text())
    del metadata["files"], metadata["checksum"]
    (folder / METADATA).write_text(json.dumps(metadata))


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


# As what differs from a public backbone.


@pytest.fixture
def backbone(tmp_path: Path) -> Path:
    return save_backbone(tmp_path / "backbone", seed=0)


def save_backbone(folder: Path, seed: int) -> Path:
    encoder, tokenizer = tiny_encoder(seed)
    encoder.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def trained(backbone: Path) -> RowJudge:
    """A model whose second layer moved a little, as training moves it."""
    torch.manual_seed(1)
    model = build(ModelSettings(kind="mixture", backbone=str(backbone), max_length=48), FEVER_LABELS)
    with torch.no_grad():
        for parameter in model.module.backbone.encoder.encoder.layer[1].parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    model.module.eval()
    return model


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


def test_a_model_of_the_same_kind_with_other_options_takes_the_backbone_only(tmp_path: Path) -> None:
    labels, settings = FEVER_LABELS, ModelSettings(backbone="tiny", max_length=48)
    save_model(nudged(build(settings, labels)), tmp_path)
    model = build(settings.model_copy(update={"options": {"attention_size": 5}}), labels)
    initialise_from(model, str(tmp_path))
    expected = load_model(tmp_path).module.backbone.state_dict()
    assert all(torch.equal(v, expected[name]) for name, v in model.module.backbone.state_dict().items())


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


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_a_folder_that_asks_for_code_is_refused_by_name(trained: RowJudge, tmp_path: Path, file: str):
    save_model(trained, tmp_path)
    settings = json.loads((tmp_path / file).read_text())
    (tmp_path / file).write_text(json.dumps({**settings, "auto_map": {"AutoModel": "own.Model"}}))
    (tmp_path / "own.py").write_text(f"from pathlib import Path; Path({str(tmp_path / 'ran')!r}).touch()")
    leave_out_hashes(tmp_path)  # as whoever wrote the folder could have
    for load in (load_model, lambda folder: load_encoder(str(folder))):
        with pytest.raises(ConfigError, match=f"{tmp_path}: asks for code of its own"):
            load(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_no_bit_of_a_folder_changes_unnoticed(trained: RowJudge, tmp_path: Path):
    """Another answer, or an error that is not ours, would be the damage of a disk or of a copy."""
    save_model(trained, tmp_path)
    load_model(tmp_path)
    rng = random.Random(4)
    files = sorted(path for path in tmp_path.iterdir() if path.is_file())
    for trial in range(60):
        path = files[trial % len(files)]
        whole = path.read_bytes()
        position = rng.randrange(len(whole))
        damaged = bytes([whole[position] ^ (1 << rng.randrange(8))])
        path.write_bytes(whole[:position] + damaged + whole[position + 1 :])
        with pytest.raises(ConfigError):
            load_model(tmp_path)
        path.write_bytes(whole)


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("content", ["{}", "[]", "[" * 100_000, "null", '{"model": {"vocab": 1}}', "\xff"])
def test_a_folder_without_hashes_is_refused_in_words(
    trained: RowJudge, tmp_path: Path, file: str, content: str
):
    save_model(trained, tmp_path)
    leave_out_hashes(tmp_path)
    (tmp_path / file).write_bytes(content.encode("latin-1"))
    try:
        load_model(tmp_path)
    except ConfigError as error:
        assert str(tmp_path) in str(error)


def test_another_runs_weights_are_refused(trained: RowJudge, tmp_path: Path):
    save_model(trained, tmp_path / "checkpoint")
    (tmp_path / "manifest.json").write_text(json.dumps({"weights": weights_sha256(str(tmp_path))}))
    load_model(tmp_path)
    save_model(nudged(trained), tmp_path / "checkpoint")
    with pytest.raises(ConfigError, match="They are another run's"):
        load_model(tmp_path)
