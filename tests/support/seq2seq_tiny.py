"""Sequence-to-sequence models with random weights, written to a folder."""

from __future__ import annotations

from pathlib import Path

import torch

from hf_tiny import load_tiny


def write_seq2seq(folder: Path, family: str = "t5", seed: int = 0) -> Path:
    """A T5 or BART of two tiny layers with the pieces of the tiny tokenizer."""
    import transformers

    _, tokenizer = load_tiny()
    special = {
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "decoder_start_token_id": tokenizer.pad_token_id,
        "vocab_size": len(tokenizer),
    }
    if family == "t5":
        config = transformers.T5Config(d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, **special)
        kind = transformers.T5ForConditionalGeneration
    else:
        config = transformers.BartConfig(
            d_model=16,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=32,
            decoder_ffn_dim=32,
            max_position_embeddings=512,
            bos_token_id=tokenizer.cls_token_id,
            forced_eos_token_id=None,
            **special,
        )
        kind = transformers.BartForConditionalGeneration
    torch.manual_seed(seed)
    kind(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
