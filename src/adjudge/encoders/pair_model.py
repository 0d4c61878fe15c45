"""Any Hugging Face classifier of text pairs, from the hub or a folder; no code of a model's own is run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from adjudge.encoders.backbone import longest_row
from adjudge.encoders.loading import from_hub, refuse_code
from adjudge.encoders.rows import WHOLE, Cut, share_budget
from adjudge.errors import ConfigError
from adjudge.io.chunks import chunks

BATCH_PAIRS = 32
MAX_TOKENS = 512
MARGIN = 8
"""Special tokens, and marks that tokenizers put before a text."""


class PairModel:
    """Pairs of texts → logits.

    Args:
        source: a Hugging Face id or a local folder.
        device: where it computes, in fp32.
    """

    def __init__(self, source: str, device: Any = "cpu") -> None:
        from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

        folder = Path(source).expanduser()
        location = str(folder) if folder.is_dir() else source
        refuse_code(folder)
        config = from_hub(source, lambda: AutoConfig.from_pretrained(location, trust_remote_code=False))
        _check_is_classifier(source, config)
        tokenizer = from_hub(source, lambda: AutoTokenizer.from_pretrained(location, trust_remote_code=False))
        if len(tokenizer) < config.vocab_size // 2:  # transformers makes up an empty one where there is none
            raise ConfigError(
                f"hf:{source}: comes without its tokenizer ({len(tokenizer)} entries for a vocabulary of "
                f"{config.vocab_size:,}). Put the tokenizer's files beside the model's."
            )
        self.source = source
        self.revision: str | None = getattr(config, "_commit_hash", None)
        self.class_names: list[str] = [config.id2label[index] for index in sorted(config.id2label)]
        self._tokenizer = tokenizer
        self._model = from_hub(
            source,
            lambda: AutoModelForSequenceClassification.from_pretrained(
                location, trust_remote_code=False, dtype=torch.float32
            ),
        )
        self._model.eval().to(device)
        positions = longest_row(self._model.base_model) or MAX_TOKENS  # few tokenizers say how many there are
        self._max_tokens = min(MAX_TOKENS, tokenizer.model_max_length, positions)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> Tensor:
        """(P, K) one row per pair, in order; pairs of similar length are computed together."""
        order = sorted(range(len(pairs)), key=lambda pair: sum(map(len, pairs[pair])))
        rows = torch.empty(len(pairs), len(self.class_names))
        for batch in chunks(order, BATCH_PAIRS):
            encoded = self._tokenizer(
                [pairs[pair][0] for pair in batch],
                [pairs[pair][1] for pair in batch],
                truncation="longest_first",
                max_length=self._max_tokens,
                padding=True,
                return_tensors="pt",
            )
            with torch.inference_mode():
                rows[batch] = self._model(**encoded.to(self._model.device)).logits.float().cpu()
        return rows

    def cut(self, sentences: Sequence[str], claim: str) -> Cut:
        """What is not read whole of a pair of sentences joined by spaces, and a claim."""
        texts = [" ".join(sentences), claim]
        if sum(len(text.encode("utf-8", "replace")) for text in texts) + MARGIN <= self._max_tokens:
            return WHOLE  # a token is a byte at least
        budget = self._max_tokens - self._tokenizer.num_special_tokens_to_add(pair=True)
        premise, hypothesis = self._lengths(texts)
        premise_left, claim_left = share_budget(premise, hypothesis, budget)
        if premise_left == premise:
            return Cut(claim_left < hypothesis)
        ends = self._lengths([" ".join(sentences[: n + 1]) for n in range(len(sentences))])
        missing = frozenset(position for position, end in enumerate(ends) if end > premise_left)
        return Cut(claim_left < hypothesis, missing)

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        encoded = self._tokenizer(list(texts), add_special_tokens=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]


def _check_is_classifier(source: str, config: Any) -> None:
    architectures = config.architectures or []
    if not any(name.endswith("ForSequenceClassification") for name in architectures):
        raise ConfigError(
            f"hf:{source}: is not a sequence classifier (its configuration names "
            f"{', '.join(architectures) or 'none'}). Expected one for natural language inference, such as "
            "cross-encoder/nli-deberta-v3-small, or for ranking, such as cross-encoder/ms-marco-MiniLM-L6-v2."
        )
