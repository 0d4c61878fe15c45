"""A stand-in for the embedder: unit vectors that are made up, so that millions of sentences need no hours.

Each is the vector of one of 512 texts, really embedded, moved by noise: neighbours lie about as they do among
sentences, but which sentence has which vector says nothing. Everything else of an index with vectors is as always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from adjudge.encoders.embedder import Embedder, load_embedder
from adjudge.retrieval.embedding import VectorSettings
from adjudge.retrieval.vectors import Floats

CENTRES = 512
NOISE = 0.8
STEPS = 50_000
"""Different movements."""


def unit(rows: Floats) -> Floats:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class StandIn:
    """What ``Embedder`` is to an index that is built; ``texts`` are really embedded."""

    def __init__(self, embedder: Embedder, texts: Sequence[str]) -> None:
        self.backbone, self.identity = embedder.backbone, embedder.identity
        self._centres = embedder.embed(texts)
        self._random = np.random.default_rng(0)
        self._steps = NOISE * unit(self._random.standard_normal((STEPS, self._centres.shape[1]), np.float32))

    def embed(self, texts: Sequence[str]) -> Floats:
        centres = self._random.integers(len(self._centres), size=len(texts))
        steps = self._random.integers(STEPS, size=len(texts))
        return unit(self._centres[centres] + self._steps[steps])


@dataclass(frozen=True)
class MadeUpVectors(VectorSettings):
    """Settings of an index whose vectors are made up around those of some texts."""

    texts: tuple[str, ...] = ()

    def load(self) -> Any:
        return StandIn(cast(Embedder, load_embedder(self.embedder)), self.texts)
