"""Sequence-to-sequence models of the hub (T5, BART), by id or folder: text in; text or scores of texts out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from adjudge.errors import ConfigError

LONGEST = 1024
"""Tokens read of a text, unless the model reads fewer."""

Allowed = Callable[[int, list[int]], list[int]]
"""(which text, tokens written so far without the first) → the tokens that may follow."""


class Seq2Seq:
    """An encoder–decoder in eval mode.

    Args:
        source: a hub id or a local folder.
        device: where it computes.
    """

    def __init__(self, source: str, device: Any = "cpu") -> None:
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        self.source = source
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
            self.model = AutoModelForSeq2SeqLM.from_pretrained(source, trust_remote_code=False)
        except Exception as error:  # hub, files, configuration: transformers raises anything
            raise ConfigError(
                f"{source!r} cannot be loaded as a sequence-to-sequence model ({type(error).__name__}: "
                f"{str(error).splitlines()[0] if str(error) else 'no reason given'}). Expected a hub id or a folder of "
                "one such as T5 or BART; the hub must be reachable, or the model in its cache."
            ) from None
        self.model.eval().to(device)
        self.device = device
        self.end = int(self._special("eos", "sep"))
        self.pad = int(self._special("pad", "eos", "sep"))
        self.start = int(
            next(t for t in (self.model.config.decoder_start_token_id, self.pad) if t is not None)
        )

    def _special(self, *names: str) -> int:
        for name in names:
            token = getattr(self.tokenizer, f"{name}_token_id", None)
            if token is not None:
                return int(token)
        raise ConfigError(f"{self.source}: its tokenizer has no {' or '.join(names)} token.")

    @property
    def _longest(self) -> int:
        return min(getattr(self.model.config, "max_position_embeddings", None) or LONGEST, LONGEST)

    @property
    def identity(self) -> dict[str, Any]:
        """Which model."""
        return {"source": self.source, "revision": getattr(self.model.config, "_commit_hash", None)}

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, no special ones."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return ids

    def reads_all(self, text: str) -> bool:
        """Whether a text is read to its end."""
        return len(self.tokenizer(text, verbose=False)["input_ids"]) <= self._longest

    def generate(
        self, texts: Sequence[str], allowed: Allowed, most: int, beams: int = 1
    ) -> list[tuple[list[int], float]]:
        """For each text the tokens written under a constraint, and their mean log-probability."""
        results = []
        for number, text in enumerate(texts):
            inputs = self._inputs([text])
            with torch.inference_mode():
                output = self.model.generate(
                    **inputs,
                    max_new_tokens=most,
                    num_beams=beams,
                    do_sample=False,
                    eos_token_id=self.end,
                    pad_token_id=self.pad,
                    decoder_start_token_id=self.start,
                    prefix_allowed_tokens_fn=lambda _, ids, n=number: allowed(n, ids.tolist()[1:]),
                )
            written = output[0].tolist()[1:]
            if self.end in written:
                written = written[: written.index(self.end)]
            [score] = self.score([text], [[written]])
            results.append((written, score[0] / max(len(written), 1)))
        return results

    def score(self, texts: Sequence[str], targets: Sequence[Sequence[Sequence[int]]]) -> list[list[float]]:
        """Log P(target, then the end | text) for each target of each text."""
        scores = []
        for text, options in zip(texts, targets, strict=True):
            inputs = self._inputs([text] * len(options))
            longest = max(len(ids) for ids in options) + 1
            labels = torch.full((len(options), longest), -100, device=self.device)
            for row, ids in enumerate(options):
                labels[row, : len(ids) + 1] = torch.tensor([*ids, self.end])
            decoder = labels.masked_fill(labels == -100, self.pad).roll(1, dims=1)
            decoder[:, 0] = self.start
            with torch.inference_mode():
                logits = self.model(**inputs, decoder_input_ids=decoder).logits.float()
            log_probs = logits.log_softmax(dim=-1).gather(2, labels.clamp(min=0)[..., None]).squeeze(-1)
            scores.append(log_probs.masked_fill(labels == -100, 0.0).sum(dim=1).tolist())
        return scores

    def _inputs(self, texts: Sequence[str]) -> dict[str, Any]:
        encoded = self.tokenizer(
            list(texts),
            return_tensors="pt",
            padding=True,
            truncation=True,
            max_length=self._longest,
        )
        return {name: encoded[name].to(self.device) for name in ("input_ids", "attention_mask")}
