"""Our own modules against Hugging Face's, with weights that Hugging Face wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaModel,
)

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.families import Encoder, build_encoder, read_encoder, relative_buckets
from adjudge.encoders.loading import tiny_encoder
from batches import LENGTHS, batch_of

SMALL = {
    "vocab_size": 200,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "hidden_size": 16,
    "intermediate_size": 32,
    "max_position_embeddings": 80,
}
FAMILIES = {
    "bert": (BertModel, BertConfig, {}),
    "bert of tanh": (BertModel, BertConfig, {"hidden_act": "gelu_new", "layer_norm_eps": 1e-5}),
    "roberta": (RobertaModel, RobertaConfig, {"type_vocab_size": 1, "pad_token_id": 1}),
    "mpnet": (MPNetModel, MPNetConfig, {"pad_token_id": 1}),
}


def theirs(family: str) -> Any:
    model, config, own = FAMILIES[family]
    torch.manual_seed(0)
    encoder = model(config(**SMALL, **own)).eval()
    for parameter in encoder.parameters():  # biases and normalisation weights that are not zero and one
        torch.nn.init.normal_(parameter, std=0.3)
    return encoder


@pytest.mark.parametrize("family", FAMILIES)
def test_what_hugging_face_wrote_computes_the_same(family: str, tmp_path: Path):
    encoder = theirs(family)
    encoder.save_pretrained(tmp_path)
    ours = read_encoder(tmp_path)
    assert isinstance(ours, Encoder) and not ours.training
    batch = batch_of(LENGTHS, pad=encoder.config.pad_token_id)
    expected, computed = Backbone(encoder).eval()(batch), Backbone(ours).eval()(batch)
    torch.testing.assert_close(computed.states, expected.states, atol=1e-6, rtol=0)
    torch.testing.assert_close(computed.pooled, expected.pooled, atol=1e-6, rtol=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_we_write_hugging_face_reads(family: str, tmp_path: Path):
    theirs(family).save_pretrained(tmp_path / "theirs")
    ours = read_encoder(tmp_path / "theirs")
    assert ours is not None
    ours.save_pretrained(tmp_path)
    again = FAMILIES[family][0].from_pretrained(tmp_path)
    for name, value in ours.state_dict().items():
        assert torch.equal(again.state_dict()[name], value), name


def test_weights_below_the_familys_name_and_old_names_are_read(tmp_path: Path):
    encoder = theirs("bert")
    whole = BertForMaskedLM(encoder.config)
    whole.bert.load_state_dict(encoder.state_dict(), strict=False)
    whole.save_pretrained(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    old = {name.replace("LayerNorm.weight", "LayerNorm.gamma"): value for name, value in stored.items()}
    assert set(old) != set(stored)
    save_file(old, tmp_path / "model.safetensors", {"format": "pt"})
    ours = read_encoder(tmp_path)
    assert ours is not None
    for name, value in ours.state_dict().items():
        if not name.startswith("pooler."):  # which a language model does not have
            assert torch.equal(value, encoder.state_dict()[name]), name
    assert all(bool(p.isfinite().all()) for p in ours.pooler.parameters())


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "electra"},
        {"hidden_act": "silu"},
        {"position_embedding_type": "relative_key"},
        {"is_decoder": True},
    ],
)
def test_what_we_do_not_know_is_left_to_transformers(change: dict[str, Any], tmp_path: Path):
    theirs("bert").save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, **change}))
    assert read_encoder(tmp_path) is None


def test_weights_that_do_not_fit_are_left_to_transformers(tmp_path: Path):
    theirs("bert").save_pretrained(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    del stored["encoder.layer.1.output.dense.weight"]
    save_file(stored, tmp_path / "model.safetensors", {"format": "pt"})
    assert read_encoder(tmp_path) is None


def test_distances_fall_into_the_buckets_of_mpnet():
    distances = torch.arange(-300, 301)
    expected = MPNetModel(MPNetConfig(**SMALL)).encoder.relative_position_bucket(distances)
    assert torch.equal(relative_buckets(distances, 32), expected)


def test_a_new_encoder_is_random_and_its_padding_is_zero():
    encoder = build_encoder(tiny_encoder()[0].config.values)
    weight = encoder.encoder.layer[1].output.dense.weight
    assert 0.015 < float(weight.detach().std()) < 0.025
    assert not encoder.embeddings.word_embeddings.weight[0].any()


def test_a_known_encoder_needs_no_transformers():
    """In a fresh process: what loads MiniLM's kin and computes imports neither transformers nor dynamo."""
    code = (
        "import sys; from adjudge.encoders.embedder import Embedder; Embedder.load('tiny')(['a text']);"
        "print([name for name in ('transformers', 'torch._dynamo', 'sympy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
