"""The layers of an encoder in whole numbers, as the native library's ``adjudge_encode`` takes them; without torch."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudge.encoders.known import EncoderConfig
from adjudge.encoders.mapped import Array, Weights, map_tensors
from adjudge.encoders.native import native
from adjudge.errors import AdjudgeError
from adjudge.io.cache import foreign, user_cache
from adjudge.io.cores import available_threads
from adjudge.io.digests import digest_of
from adjudge.io.files import sha256
from adjudge.io.temporary import sweep, temporary_file

PANEL = 16
"""Outputs that native.cpp computes together."""
INPUT_MAX = 2047
"""What native.cpp rounds the largest input of a row to."""
FORMAT = 1
CACHE = "whole-numbers"
KEPT = 8
"""Prepared files kept in the user's cache: the last ones written."""
ACTIVATIONS = {"gelu": 0, "gelu_new": 1, "gelu_pytorch_tanh": 1, "relu": 2}
MAPS = ("read", "write", "widen", "narrow")
"""Query, key and value in one; what was read; the two dense maps."""
NORMS = ("first", "second")

Floats = npt.NDArray[np.float32]


def whole_weights(weight: Floats) -> tuple[npt.NDArray[np.int16], Floats]:
    """(outputs, depth) → panels (⌈outputs / 16⌉, ⌈depth / 2⌉, 16, 2) of whole numbers, and a scale for each output."""
    outputs, depth = weight.shape
    largest = min((2**31 - 1) // (depth * INPUT_MAX), 2**15 - 1)
    scale = np.maximum(np.abs(weight).max(axis=1), np.float32(1e-30)) / np.float32(largest)
    whole = np.rint(weight / scale[:, None]).astype(np.int16)
    whole = np.pad(whole, ((0, -outputs % PANEL), (0, -depth % 2)))
    panels = whole.reshape(-1, PANEL, whole.shape[1] // 2, 2).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(panels), scale


def layer_names(family: str, layer: int) -> dict[str, tuple[str, ...]]:
    """What the parts of a layer are called in an encoder's weights."""
    prefix = f"encoder.layer.{layer}."
    if family == "mpnet":
        attention = ("attn.q", "attn.k", "attn.v"), "attn.o", "LayerNorm"
    else:
        attention = ("self.query", "self.key", "self.value"), "output.dense", "output.LayerNorm"
    read, write, norm = attention
    return {
        "read": tuple(f"{prefix}attention.{name}" for name in read),
        "write": (f"{prefix}attention.{write}",),
        "widen": (f"{prefix}intermediate.dense",),
        "narrow": (f"{prefix}output.dense",),
        "first": (f"{prefix}attention.{norm}",),
        "second": (f"{prefix}output.LayerNorm",),
    }


def prepare(config: EncoderConfig, weights: Mapping[str, Array]) -> dict[str, Array]:
    """The layers as arrays by name: ``LAYER.MAP.panels``, ``.scale``, ``.bias``; ``LAYER.NORM.weight``, ``.bias``."""
    prepared: dict[str, Array] = {}
    for layer in range(config.num_hidden_layers):
        names = layer_names(config.model_type, layer)
        for part in MAPS:
            weight, bias = (
                np.concatenate([weights[f"{name}.{kind}"] for name in names[part]])
                for kind in ("weight", "bias")
            )
            panels, scale = whole_weights(np.asarray(weight, np.float32))
            prepared |= {
                f"{layer}.{part}.panels": panels,
                f"{layer}.{part}.scale": scale,
                f"{layer}.{part}.bias": bias,
            }
        for part in NORMS:
            for kind in ("weight", "bias"):
                prepared[f"{layer}.{part}.{kind}"] = np.array(weights[f"{names[part][0]}.{kind}"], np.float32)
    return prepared


def check_sizes(config: EncoderConfig) -> None:
    """Raise ``ValueError`` where an encoder's sizes are none: they may come from a file of unknown origin."""
    for name in ("hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers"):
        size = getattr(config, name)
        if type(size) is not int or size < 1:
            raise ValueError(f"{name} is {size!r}")
    if config.hidden_size % config.num_attention_heads:
        raise ValueError(f"{config.num_attention_heads} heads do not share {config.hidden_size} numbers")


def _expected_arrays(config: EncoderConfig) -> dict[str, tuple[tuple[int, ...], type[np.generic]]]:
    """Shape and type of every array that the native library reads, which cannot tell how long they are."""
    size, wide = config.hidden_size, config.intermediate_size
    maps = {"read": (3 * size, size), "write": (size, size), "widen": (wide, size), "narrow": (size, wide)}
    layer: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {}
    for part in MAPS:
        outputs, depth = maps[part]
        layer[f"{part}.panels"] = (-(-outputs // PANEL), -(-depth // 2), PANEL, 2), np.int16
        layer[f"{part}.scale"] = layer[f"{part}.bias"] = (outputs,), np.float32
    for part in NORMS:
        layer[f"{part}.weight"] = layer[f"{part}.bias"] = (size,), np.float32
    return {
        f"{number}.{name}": expected
        for number in range(config.num_hidden_layers)
        for name, expected in layer.items()
    }


class WholeLayers:
    """The layers of an encoder, run by the native library.

    Raises:
        ValueError: the arrays are not those of such an encoder.
    """

    def __init__(self, config: EncoderConfig, prepared: Mapping[str, Array]) -> None:
        check_sizes(config)
        for name, (shape, dtype) in _expected_arrays(config).items():
            array = prepared[name]
            if array.shape != shape or array.dtype != np.dtype(dtype) or not array.flags.c_contiguous:
                raise ValueError(f"{name} has the shape {array.shape}, expected {shape}")
        self._config = config
        self._arrays = [prepared[name] for name in _order(config)]  # their memory must outlive the addresses
        self._addresses = (ctypes.c_void_p * len(self._arrays))(*(a.ctypes.data for a in self._arrays))

    def __call__(
        self, states: Floats, lengths: npt.NDArray[np.int64], bias: Floats | None = None, threads: int = 0
    ) -> Floats:
        """Embedded tokens (T, d) of rows of these lengths, end to end → their states after all layers, in place."""
        config = self._config
        if states.shape != (lengths.sum(), config.hidden_size) or states.dtype != np.float32:
            raise ValueError(
                f"states of the shape {states.shape}, expected {config.hidden_size} for each token"
            )
        if bias is not None and (len(bias) != config.num_attention_heads or bias.shape[-1] < lengths.max()):
            raise ValueError(f"a bias of the shape {bias.shape}, expected {config.num_attention_heads} heads")
        native().library.adjudge_encode(
            *(states.ctypes.data, lengths.ctypes.data, len(lengths)),
            *(self._addresses, config.num_hidden_layers),
            *(config.hidden_size, config.intermediate_size, config.num_attention_heads),
            *(ACTIVATIONS[config.hidden_act], config.layer_norm_eps),
            *((None, 0) if bias is None else (bias.ctypes.data, bias.shape[-1])),
            threads or available_threads(),
        )
        return states


def _order(config: EncoderConfig) -> list[str]:
    names = []
    for layer in range(config.num_hidden_layers):
        names += [f"{layer}.{part}.{kind}" for part in MAPS for kind in ("panels", "scale", "bias")]
        names += [f"{layer}.{part}.{kind}" for part in NORMS for kind in ("weight", "bias")]
    return names


def has_whole_numbers() -> bool:
    """Whether the native library is there and this processor multiplies whole numbers in vectors."""
    library = native().library
    return library is not None and bool(library.adjudge_has_int16())


def load_layers(config: EncoderConfig, weights: Weights, source: str) -> WholeLayers:
    """The layers of an encoder, from the user's cache where they were prepared before.

    Args:
        config: the encoder's.
        weights: its weights, read only where nothing is prepared.
        source: says what the weights are: equal sources must mean equal weights.
    """
    key = hashlib.sha256(f"{FORMAT} {PANEL} {INPUT_MAX} {source}".encode()).hexdigest()[:32]
    try:
        folder = user_cache(CACHE)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not foreign(folder.resolve()) and (path := _prepared_file(folder, key)) is not None:
            return WholeLayers(config, map_tensors(path))
    except (OSError, ValueError, KeyError, AdjudgeError):
        folder = None
    prepared = prepare(config, weights)
    if folder is not None:
        _keep(prepared, folder, key)
    return WholeLayers(config, prepared)


def _prepared_file(folder: Path, key: str) -> Path | None:
    """The file of a key that can be trusted; one whose content has changed is removed."""
    for path in sorted(folder.glob(f"{key}-*.safetensors")):
        if foreign(path):
            continue
        if path.stem == f"{key}-{digest_of(path)[:32]}":
            return path
        path.unlink(missing_ok=True)
    return None


def _keep(prepared: dict[str, Any], folder: Path, key: str) -> None:
    """Write prepared layers for the next process, and remove the oldest of many; a full disk is no reason to fail."""
    from safetensors.numpy import save_file

    try:
        sweep(folder)
        draft = folder / f"{key}.safetensors"
        with temporary_file(draft) as temporary:
            save_file(prepared, temporary)
            os.chmod(temporary, 0o600)
        os.replace(draft, folder / f"{key}-{sha256(draft)[:32]}.safetensors")
        files = sorted(folder.glob("*-*.safetensors"), key=lambda path: path.stat().st_mtime_ns)
        for path in files[:-KEPT]:
            path.unlink(missing_ok=True)
    except (OSError, AdjudgeError):
        return
