from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from adjudge.encoders.mapped import Weights, map_tensors
from adjudge.encoders.tensors import pack_differences, unpack_differences


def test_tensors_are_those_that_safetensors_wrote(tmp_path: Path):
    tensors = {
        "a": torch.arange(6.0).reshape(2, 3),
        "b": torch.tensor([1, -2], dtype=torch.int8),
        "c": torch.ones(3, dtype=torch.float16),
        "d": torch.empty(0),
    }
    save_file(tensors, tmp_path / "x.safetensors", {"format": "pt"})
    mapped = map_tensors(tmp_path / "x.safetensors")
    assert {name: value.tolist() for name, value in mapped.items()} == {
        name: value.tolist() for name, value in tensors.items()
    }
    assert not mapped["a"].flags.owndata


def test_damaged_files_and_numbers_without_a_type_are_refused(tmp_path: Path):
    path = tmp_path / "x.safetensors"
    save_file({"a": torch.ones(4, dtype=torch.bfloat16)}, path)
    with pytest.raises(ValueError, match="BF16"):
        map_tensors(path)
    save_file({"a": torch.ones(4)}, path)
    whole = path.read_bytes()
    for damage in (whole[:4], whole[:20], whole[:-3]):
        path.write_bytes(damage)
        with pytest.raises(ValueError):
            map_tensors(path)


@pytest.mark.parametrize(
    "header",
    [
        b"[" * 100_000,
        b"[]",
        b'{"a": 1}',
        b'{"a": {}}',
        b'{"a": {"dtype": "F32", "data_offsets": 1, "shape": [1]}}',
    ],
    ids=lambda header: header[:20].decode(),
)
def test_a_header_of_another_shape_is_refused(tmp_path: Path, header: bytes):
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(64))
    with pytest.raises(ValueError, match=r"x\.safetensors"):
        map_tensors(path)


def test_differences_give_what_the_torch_reader_gives():
    torch.manual_seed(0)
    public = {"w": torch.randn(70, 80), "same": torch.randn(70, 80), "b": torch.randn(80)}
    trained = {"w": public["w"] + 0.1 * torch.randn(70, 80), "same": public["same"], "b": torch.randn(80)}
    packed = pack_differences(trained | {"head": torch.randn(90, 90)}, public)
    expected = unpack_differences(packed, public)
    weights = Weights(
        {name: value.numpy() for name, value in packed.items()},
        {name: value.numpy() for name, value in public.items()},
    )
    assert sorted(weights) == sorted(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(weights[name], value.numpy())


def test_adapters_are_merged():
    from adjudge.encoders.adapters import AdaptedLinear

    torch.manual_seed(0)
    layer = AdaptedLinear(torch.nn.Linear(5, 4), rank=2)
    torch.nn.init.normal_(layer.up)
    stored = {f"x.{name}": value.detach().numpy() for name, value in layer.state_dict().items()}
    weights = Weights(stored)
    assert sorted(weights) == ["x.bias", "x.weight"]
    np.testing.assert_allclose(weights["x.weight"], layer.merge().weight.detach().numpy(), atol=1e-6)
    assert sorted(weights.below("x.")) == ["bias", "weight"]
