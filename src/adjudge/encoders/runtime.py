"""What runs a trained model: torch, or NumPy and the native library alone (``light``).

=========  ==========================================================================================
``light``  for encoders and heads that it knows, on a CPU; starts in a fraction of the time of torch
``torch``  any model, any device; training is always torch's
``auto``   light where it computes in whole numbers, which is where it is also as fast, and where torch
           is not installed; else torch
=========  ==========================================================================================
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from adjudge.config import Precision, Runtime
from adjudge.encoders.device import has_torch
from adjudge.encoders.light import LightEncoder, read_light_encoder
from adjudge.encoders.loading import backbone_sha256, locate, refuse_code
from adjudge.encoders.native import native
from adjudge.encoders.tokenizing import FastTokenizer, read_tokenizer
from adjudge.encoders.whole_numbers import has_whole_numbers
from adjudge.errors import ConfigError


def runs_light(device: Any, precision: str, runtime: str) -> bool:
    """Whether a model that the light runtime knows is to be run by it."""
    if runtime not in get_args(Runtime):
        raise ConfigError(f"runtime {runtime!r} is not one of {', '.join(get_args(Runtime))}.")
    if precision not in get_args(Precision):
        raise ConfigError(f"precision {precision!r} is not one of {', '.join(get_args(Precision))}.")
    if runtime == "torch" or str(device) != "cpu" or (precision == "int16" and not has_whole_numbers()):
        return False
    return runtime == "light" or light_precision(precision) == "int16" or not has_torch()


def light_precision(precision: str) -> str:
    """What the light runtime computes in: for ``auto`` whole numbers where this processor gains by them."""
    if precision != "auto":
        return precision
    library = native().library
    return "int16" if library is not None and library.adjudge_prefers_int16() else "fp32"


def read_light(name: str, precision: str) -> tuple[LightEncoder, FastTokenizer] | None:
    """Encoder and tokenizer of a backbone by name, or None where it takes torch or transformers to run it."""
    folder = Path(locate(name)) if name != "tiny" else None
    if folder is None or not folder.is_dir():
        return None
    refuse_code(folder)
    tokenizer = read_tokenizer(folder)
    encoder = None if tokenizer is None else read_light_encoder(folder, precision, backbone_sha256(name))
    return None if encoder is None or tokenizer is None else (encoder, tokenizer)
