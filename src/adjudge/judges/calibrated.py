"""A judge fitted to a user's own claims: another judge's probabilities with a temperature, biases and abstention."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from adjudge.config import problems_in
from adjudge.errors import ConfigError
from adjudge.io.files import write_json
from adjudge.judges.protocol import Judge
from adjudge.types import Example, LabelSet, Verdict

CALIBRATION = "calibration.json"
_SMALLEST = 1e-9


class Calibration(BaseModel):
    """What ``calibration.json`` says: the judge it was fitted for, and what was fitted."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    model: str
    facts: bool = Field(False, description="whether facts are compared too")
    labels: tuple[str, ...]
    temperature: float = Field(gt=0)
    biases: tuple[float, ...]
    min_confidence: float = Field(0.0, ge=0, le=1)
    claims: int = Field(0, ge=0, description="how many it was fitted on")
    figures: dict[str, Any] = Field(default_factory=dict, description="cross-validated")
    checksum: str | None = Field(None, description="SHA-256 of all of the above")

    @model_validator(mode="after")
    def _has_a_bias_for_each_label(self) -> Self:
        if len(self.biases) != len(self.labels):
            raise ValueError(f"{len(self.biases)} biases for {len(self.labels)} labels")
        return self

    def digest(self) -> str:
        """The checksum of what the others say."""
        values = self.model_dump(mode="json", exclude={"checksum"})
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


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
        fitted = self.calibration.model_dump(mode="json", exclude={"figures", "claims", "checksum"})
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


def refuse_model_folder(folder: Path, model: str) -> None:
    """Raise where a calibration would stand in the folder of a model, or in that of the judge it is fitted for."""
    from adjudge.judges.folder import METADATA

    holds_model = (folder / "checkpoint").is_dir() or (folder / METADATA).is_file()
    if holds_model or os.path.realpath(folder) == os.path.realpath(Path(model).expanduser()):
        raise ConfigError(
            f"{folder}: holds a model, expected a folder for the calibration alone. Choose another --out."
        )


def write_calibration(folder: Path, calibration: Calibration) -> None:
    """Write what was fitted; ``--model FOLDER`` then uses it."""
    refuse_model_folder(folder, calibration.model)
    calibration = calibration.model_copy(update={"checksum": calibration.digest()})
    write_json(folder / CALIBRATION, calibration.model_dump(mode="json"))


def read_calibration(path: Path) -> Calibration:
    """What :func:`write_calibration` wrote, refused where it is not that."""
    try:
        calibration = Calibration.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ConfigError(f"{path}: damaged ({'; '.join(problems_in(error))}).") from None
    if calibration.checksum is not None and calibration.checksum != calibration.digest():
        raise ConfigError(f"{path}: damaged or changed (its checksum is another). Calibrate again.")
    return calibration.model_copy(update={"checksum": None})


def _refuse_circle(folder: Path) -> None:
    """Raise where a calibration is of a judge that is a calibration, and so on to the first again."""
    seen = set()
    while (folder / CALIBRATION).is_file():
        if (real_path := os.path.realpath(folder)) in seen:
            raise ConfigError(f"{folder / CALIBRATION}: is fitted for itself. Calibrate again.")
        seen.add(real_path)
        folder = Path(read_calibration(folder / CALIBRATION).model).expanduser()


def load_calibrated(folder: Path, load: Callable[[str], Judge]) -> CalibratedJudge:
    """The calibrated judge of a folder; ``load`` loads the judge that it was fitted for."""
    _refuse_circle(folder)
    path = folder / CALIBRATION
    calibration = read_calibration(path)
    inner = load(calibration.model)
    if tuple(inner.labels) != calibration.labels:
        raise ConfigError(
            f"{path}: was fitted for the labels {', '.join(calibration.labels)}; {calibration.model} answers "
            f"{', '.join(inner.labels)}. Calibrate again."
        )
    from adjudge.judges.mixed import with_facts

    return CalibratedJudge(with_facts(inner) if calibration.facts else inner, calibration)
