"""The runtime without torch against Hugging Face's models and against ours on torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaModel,
)

from adjudge.encoders import native
from adjudge.encoders.dataset import Dataset
from adjudge.encoders.light import LightEncoder, gelu, read_light_encoder, relative_buckets
from adjudge.encoders.whole_numbers import has_whole_numbers, whole_weights

SMALL = {
    "vocab_size": 200,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "hidden_size": 20,  # neither a whole number of vectors nor of panels
    "intermediate_size": 44,
    "max_position_embeddings": 180,
}
FAMILIES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "bert": (BertModel, BertConfig, {}),
    "bert of tanh": (BertModel, BertConfig, {"hidden_act": "gelu_new", "layer_norm_eps": 1e-5}),
    "bert of relu": (BertModel, BertConfig, {"hidden_act": "relu"}),
    "roberta": (RobertaModel, RobertaConfig, {"type_vocab_size": 1, "pad_token_id": 1}),
    "mpnet": (MPNetModel, MPNetConfig, {"pad_token_id": 1}),
}
LENGTHS = (5, 9, 9, 17, 33, 40, 150, 3)
SEGMENTS = (3, 9, 4, 5, 10, 39, 70, 1)
PRECISIONS = [
    "fp32",
    pytest.param("int16", marks=pytest.mark.skipif(not has_whole_numbers(), reason=native.native().status)),
]


def theirs(family: str) -> Any:
    model, config, own = FAMILIES[family]
    torch.manual_seed(0)
    encoder = model(config(**SMALL, **own)).eval()
    for (
        name,
        parameter,
    ) in encoder.named_parameters():  # biases and normalisation weights that are not zero and one
        torch.nn.init.normal_(parameter, mean=float("LayerNorm.weight" in name), std=0.2)
    return encoder


def rows() -> Dataset:
    """Three claims of 3, 4 and 1 rows."""
    rng = np.random.default_rng(0)
    return Dataset(
        ids=(0, 1, 2),
        labels=np.full(3, -1),
        claim_start=np.array([0, 3, 7, 8]),
        row_start=np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64),
        segment=np.array(SEGMENTS),
        has_text=np.ones(len(LENGTHS), bool),
        tokens=rng.integers(5, 200, sum(LENGTHS)).astype(np.int32),
        pad=0,
    )


def expected(encoder: Any, data: Dataset, pooling: str) -> torch.Tensor:
    """Hugging Face's forward pass, row by row."""
    results = []
    for row, (length, segment) in enumerate(zip(LENGTHS, SEGMENTS, strict=True)):
        start = data.row_start[row]
        inputs = {"input_ids": torch.from_numpy(data.tokens[start : start + length].astype(np.int64))[None]}
        if encoder.config.model_type == "bert":
            inputs["token_type_ids"] = (torch.arange(length) >= segment).long()[None]
        with torch.inference_mode():
            output = encoder(**inputs)
        results.append(output.last_hidden_state[0].mean(0) if pooling == "mean" else output.pooler_output[0])
    return torch.stack(results)


@pytest.mark.parametrize("pooling", ["mean", "pooler"])
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_it_computes_what_hugging_face_does(family: str, precision: str, pooling: str, tmp_path: Path):
    encoder, data = theirs(family), rows()
    encoder.save_pretrained(tmp_path)
    light = read_light_encoder(tmp_path, precision, f"{family} of a test")
    assert light is not None and light.precision == precision
    pooled, counts = light.pooled(data, [0, 1, 2], pooling)
    assert counts.tolist() == [3, 4, 1]
    difference = np.abs(pooled - expected(encoder, data, pooling).numpy()).max()
    assert difference < (2e-6 if precision == "fp32" else 2e-2)
    again = read_light_encoder(tmp_path, precision, f"{family} of a test")  # from the cache
    assert again is not None and np.array_equal(again.pooled(data, [0, 1, 2], pooling)[0], pooled)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_claims_come_in_any_order_and_share_a_batch_without_a_trace(precision: str, tmp_path: Path):
    theirs("bert").save_pretrained(tmp_path)
    light, data = read_light_encoder(tmp_path, precision, "order"), rows()
    assert light is not None
    together, _ = light.pooled(data, [2, 0])
    alone = np.concatenate([light.pooled(data, [2])[0], light.pooled(data, [0])[0]])
    if precision == "int16":
        assert np.array_equal(together, alone)
    np.testing.assert_allclose(together, alone, atol=1e-6)


@pytest.mark.skipif(not has_whole_numbers(), reason="no int16 here")
def test_whole_numbers_do_not_depend_on_threads(tmp_path: Path):
    theirs("mpnet").save_pretrained(tmp_path)
    light = read_light_encoder(tmp_path, "int16", "threads")
    assert light is not None and light._layers is not None
    rng = np.random.default_rng(0)
    lengths = rng.integers(3, 120, 60)
    states = rng.standard_normal((lengths.sum(), 20)).astype(np.float32)
    bias = light._position_bias(int(lengths.max()))
    one, several = (light._layers(states.copy(), lengths, bias, threads=n) for n in (1, 4))
    assert np.array_equal(one, several) and not np.array_equal(one, states)


def test_what_it_does_not_know_is_left_to_others(tmp_path: Path):
    theirs("bert").save_pretrained(tmp_path)
    values = json.loads((tmp_path / "config.json").read_text())
    for change in ({"model_type": "deberta-v2"}, {"hidden_act": "silu"}, {"is_decoder": True}):
        (tmp_path / "config.json").write_text(json.dumps({**values, **change}))
        assert read_light_encoder(tmp_path, "fp32", "x") is None
    (tmp_path / "config.json").write_text(json.dumps(values))
    assert isinstance(read_light_encoder(tmp_path, "fp32", "x"), LightEncoder)
    (tmp_path / "model.safetensors").write_bytes(b"\x10" * 4)
    assert read_light_encoder(tmp_path, "fp32", "x") is None


@pytest.mark.parametrize("kind", ["gelu", "gelu_new", "relu"])
def test_activations_are_pytorchs(kind: str):
    x = torch.linspace(-12, 12, 4001)
    functional = torch.nn.functional
    value = {
        "gelu": functional.gelu(x),
        "gelu_new": functional.gelu(x, approximate="tanh"),
        "relu": functional.relu(x),
    }[kind]
    np.testing.assert_allclose(gelu(x.numpy(), kind), value.numpy(), atol=1e-6)


def test_buckets_of_relative_positions_are_those_of_the_torch_encoder():
    from adjudge.encoders import families

    distances = torch.arange(-300, 301)
    expected = families.relative_buckets(distances, 32).numpy()
    assert np.array_equal(relative_buckets(distances.numpy(), 32), expected)


def test_weights_are_rounded_as_the_torch_layers_round_them():
    from adjudge.encoders.quantised import Int16Linear

    torch.manual_seed(0)
    linear = torch.nn.Linear(33, 40)
    layer = Int16Linear(linear)
    panels, scale = whole_weights(linear.weight.detach().numpy())
    assert np.array_equal(panels, layer.panels.numpy()) and np.array_equal(scale, layer.scale.numpy())


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    ("family", "change"),
    [
        ("bert", {"hidden_size": 40}),
        ("bert", {"intermediate_size": 4400}),
        ("bert", {"num_attention_heads": 0}),
        ("bert", {"num_attention_heads": 3}),
        ("bert", {"num_hidden_layers": -1}),
        ("bert", {"hidden_size": "20"}),
        ("mpnet", {"num_attention_heads": 4}),
    ],
    ids=str,
)
def test_weights_of_other_sizes_than_the_configuration_says_are_not_run(
    family: str, change: dict[str, Any], precision: str, tmp_path: Path
):
    """The native library cannot tell how long its arrays are, and a model's folder is not to be trusted."""
    theirs(family).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert read_light_encoder(tmp_path, precision, family) is not None
    (tmp_path / "config.json").write_text(json.dumps(config | change))
    if precision == "int16" or "intermediate_size" not in change:  # NumPy goes by the arrays themselves
        assert read_light_encoder(tmp_path, precision, family) is None
