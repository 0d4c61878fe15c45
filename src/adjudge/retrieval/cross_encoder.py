"""Any Hugging Face cross-encoder as a scorer of sentences: claim and sentence in one row, one number out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adjudge.data.text import clean_text
from adjudge.encoders.pair_model import PairModel
from adjudge.errors import ConfigError
from adjudge.retrieval.vectors import embedded_text
from adjudge.types import Evidence


class CrossEncoderScorer:
    """Scores sentences by σ(logit) of a cross-encoder with one output.

    Args:
        source: a Hugging Face id or a local folder.
        device: where it computes.
    """

    def __init__(self, source: str, device: Any = "cpu") -> None:
        self._model = PairModel(source, device)
        if len(self._model.class_names) != 1:
            raise ConfigError(
                f"Selector hf:{source}: its classes are {', '.join(self._model.class_names)}, expected a single "
                "score, as cross-encoders for ranking have. A classifier goes to --model instead."
            )

    @property
    def identity(self) -> Mapping[str, Any]:
        """Which model scores."""
        return {"kind": "cross-encoder", "source": self._model.source, "revision": self._model.revision}

    def score_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]]
    ) -> list[list[float]]:
        """One score per sentence, between 0 and 1."""
        pairs = [
            (clean_text(claim), embedded_text(sentence))
            for claim, sentences in zip(claims, candidates, strict=True)
            for sentence in sentences
        ]
        scores = iter(self._model.logits(pairs).squeeze(-1).sigmoid().tolist())
        return [[next(scores) for _ in sentences] for sentences in candidates]
