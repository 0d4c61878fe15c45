"""The tiny encoder as Hugging Face's own classes run it: an independent forward pass and tokenizer."""

from __future__ import annotations

import tempfile
from typing import Any

from adjudge.encoders.loading import tiny_encoder


def load_tiny(seed: int = 0) -> tuple[Any, Any]:
    """(encoder, tokenizer) of transformers, with the weights and pieces of ``tiny_encoder``."""
    from transformers import BertModel, PreTrainedTokenizerFast

    encoder, tokenizer = tiny_encoder(seed)
    with tempfile.TemporaryDirectory() as folder:
        encoder.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return BertModel.from_pretrained(folder).eval(), PreTrainedTokenizerFast.from_pretrained(folder)
