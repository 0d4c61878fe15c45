"""What a model costs to use."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable
from typing import Any

from adjudge.judges.row_model import RowJudge
from adjudge.types import Example

SAMPLE = 64
"""Claims judged to see how fast a model is."""


def model_cost(model: RowJudge, examples: Iterable[Example]) -> dict[str, Any]:
    """Parameters, and claims judged a second: of the first few, nothing taken from a cache."""
    from adjudge.judges.predict import predict

    sample = list(itertools.islice(examples, SAMPLE))
    started = time.perf_counter()
    count = sum(1 for _ in predict(model, sample))
    seconds = time.perf_counter() - started
    return {
        "parameters": sum(parameter.numel() for parameter in model.module.parameters()),
        "claims_per_second": round(count / seconds, 2) if count else None,
    }
