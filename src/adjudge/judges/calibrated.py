"""A judge fitted to a user's own claims: another judge's probabilities with a temperature, biases and abstention."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adjudge.config import problems_in
from adjudge.errors import ConfigError
from adjudge.io.files import write_json
from adjudge.judges.protocol import Judge
from adjudge.types import Example, LabelSet, Verdict

CALIBRATION = "calibration.json"
_SMALLEST = 1e-9


class Calibration(BaseModel):
    """What ``calibration.json`` says: the judge it was fitted for, and what was fitted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    facts: bool = Field(False, description="whether facts are compared too")
    labels: tuple[str, ...]
    temperature: float = Field(gt=0)
    biases: tuple[float, ...]
    min_confidence: float = Field(0.0, ge=0, le=1)
    claims: int = Field(0, ge=0, description="how many it was fitted on")
    figures: dict[str, Any] = Field(default_factory=dict, description="cross-validated")


@dataclass(frozen=True)
class CalibratedJudge:
    """A judge whose answers are calibrated: p' ∝ exp(log p / T + b), weak ones abstained from."""

    inner: Judge
    calibration: Calibration

    @property
    def labels(self) -> LabelSet:
        """The judge's."""
        return self.inner.labels

    @property
    def max_evidence(self) -> int | None:
        """The judge's."""
        return self.inner.max_evidence

    @property
    def identity(self) -> Mapping[str, Any]:
        """The judge's, and what was fitted."""
        fitted = self.calibration.model_dump(mode="json", exclude={"figures", "claims"})
        return {"kind": "calibrated", "judge": dict(self.inner.identity), "calibration": fitted}

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        """A verdict for each example, in order."""
        return map(self._calibrated, self.inner.judge(examples))

    def _calibrated(self, verdict: Verdict) -> Verdict:
        if verdict.label is None:
            return verdict
        logits = {
            label: math.log(max(verdict.probabilities[label], _SMALLEST)) / self.calibration.temperature
            + bias
            for label, bias in zip(self.calibration.labels, self.calibration.biases, strict=True)
        }
        top = max(logits.values())
        total = math.fsum(math.exp(logit - top) for logit in logits.values())
        probabilities = {label: math.exp(logit - top) / total for label, logit in logits.items()}
        label = max(probabilities, key=lambda name: probabilities[name])
        weak = probabilities[label] < self.calibration.min_confidence
        return replace(verdict, label=label, probabilities=probabilities, abstained=verdict.abstained or weak)


def write_calibration(folder: Path, calibration: Calibration) -> None:
    """Write what was fitted; ``--model FOLDER`` then uses it."""
    write_json(folder / CALIBRATION, calibration.model_dump(mode="json"))


def load_calibrated(folder: Path, load: Callable[[str], Judge]) -> CalibratedJudge:
    """The calibrated judge of a folder; ``load`` loads the judge that it was fitted for."""
    path = folder / CALIBRATION
    try:
        calibration = Calibration.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ConfigError(f"{path}: damaged ({'; '.join(problems_in(error))}).") from None
    inner = load(calibration.model)
    if tuple(inner.labels) != calibration.labels:
        raise ConfigError(
            f"{path}: was fitted for the labels {', '.join(calibration.labels)}; {calibration.model} answers "
            f"{', '.join(inner.labels)}. Calibrate again."
        )
    from adjudge.judges.mixed import with_facts

    return CalibratedJudge(with_facts(inner) if calibration.facts else inner, calibration)
