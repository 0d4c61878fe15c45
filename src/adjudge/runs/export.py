"""From a run folder to a model to hand out: packed, calibrated, measured, and described in a card."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adjudge.config import RunSettings
from adjudge.data.formats import read_examples
from adjudge.errors import ConfigError
from adjudge.evaluation.calibration import (
    expected_calibration_error,
    fit_temperature,
    risk_coverage,
    temper,
)
from adjudge.io.files import sha256, write_json, write_text
from adjudge.runs.claims import claims_of
from adjudge.runs.folder import FILES, RunFolder, data_files
from adjudge.runs.model_card import model_card, without_folders
from adjudge.training.mix.settings import find_mix
from adjudge.types import Example

if TYPE_CHECKING:
    from adjudge.judges.row_model import RowJudge

FIGURES = "figures.json"
CARD = "MODEL_CARD.md"
VIEWS = ("gold", "retrieved")
COVERAGES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)


@dataclass(frozen=True)
class Figures:
    """How a model does on some claims, its probabilities tempered.

    Attributes:
        name: the file, or the part of the training file that was held out.
        recall: by label.
        ece_untempered: before the temperature.
        risk: (coverage, smallest confidence answered, share of wrong answers), surest claims first.
    """

    name: str
    claims: int
    label_accuracy: float
    recall: dict[str, float]
    ece: float
    ece_untempered: float
    risk: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class ExportReport:
    """What an export made: size in bytes, labels that rounding changed, temperature (and as fitted), figures."""

    folder: Path
    size: int
    changed: float
    temperature: float
    fitted: float
    tuning: tuple[Figures, ...]
    test: tuple[Figures, ...]


def export(
    run: Path, out: Path, tests: Sequence[Path] = (), *, soften: float = 1.0, precision: str = "fp32"
) -> ExportReport:
    """Write the model of a finished run to ``out`` with its temperature, figures and card.

    Args:
        run: its folder.
        out: the folder to write.
        tests: files that decide nothing and are only reported.
        soften: what the temperature is multiplied by. It is fitted on the claims that chose the run's checkpoint
            (those held out of the training file, in both views, or its dev file), which are of the sources that the
            run learned from; on others a model is surer of itself than it may be.
        precision: what the figures are computed in.
    """
    from adjudge.judges.folder import TENSORS, load_model, save_model

    settings = RunFolder(run).settings()
    tuning = _tuning_claims(settings)
    log_probs, gold = _predict(load_model(run).on("cpu", precision), tuning)
    fitted = fit_temperature(log_probs, gold)
    temperature = fitted * soften
    save_model(replace(load_model(run), temperature=temperature), out, as_difference=True)
    packed = load_model(out).on("cpu", precision)
    after, _ = _predict(packed, tuning)
    changed = float((after.argmax(axis=1) != log_probs.argmax(axis=1)).mean())
    report = ExportReport(
        out,
        (out / TENSORS).stat().st_size,
        changed,
        temperature,
        fitted,
        tuple(_figures_by_part(tuning, after, gold, temperature, list(packed.labels))),
        tuple(_test(packed, path, settings, temperature) for path in tests),
    )
    write_json(out / FIGURES, _record(report, settings, tests))
    write_text(out / CARD, model_card(settings, report, find_mix(settings.data.train)))
    return report


def _tuning_claims(settings: RunSettings) -> list[Example]:
    whole = settings.model_copy(update={"data": settings.data.model_copy(update={"dev_limit": None})})
    _, dev = claims_of(whole)
    if dev is None:
        raise ConfigError("The run kept no claims aside (data.dev or data.holdout) to fit a temperature on.")
    return list(dev)


def _predict(model: RowJudge, examples: Iterable[Example]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Log-probabilities (N, classes) and gold classes (N,)."""
    from adjudge.encoders.dataset import tokenize
    from adjudge.judges.predict import log_probabilities

    data = tokenize(examples, model.writer, model.labels)
    return log_probabilities(model, data).numpy(), data.labels


def _figures_by_part(
    examples: Sequence[Example],
    log_probs: NDArray[Any],
    gold: NDArray[np.int64],
    temperature: float,
    labels: list[str],
) -> Iterable[Figures]:
    """Figures of all tuning claims, and of each of their parts: views of FEVER's claims, or sources of a mix."""
    names = np.array([_part_name(str(example.id)) for example in examples])
    parts = {"held out": np.ones(len(examples), dtype=bool)}
    if len(known := sorted(set(names))) > 1 and "" not in known:
        parts |= {f"held out, {name}": names == name for name in known}
    for name, members in parts.items():
        yield compute_figures(name, log_probs[members], gold[members], temperature, labels)


def _part_name(identity: str) -> str:
    """``vitaminc`` of ``vitaminc:17#3``, ``gold`` of ``17/gold``; else nothing."""
    source, colon, rest = identity.partition(":")
    if colon and rest:
        return source
    view = identity.rpartition("/")[2]
    return view if view in VIEWS else ""


def _test(model: RowJudge, path: Path, settings: RunSettings, temperature: float) -> Figures:
    examples = read_examples(path, labels=settings.data.label_set, require_labels=True)
    log_probs, gold = _predict(model, examples)
    return compute_figures(path.name, log_probs, gold, temperature, list(model.labels))


def compute_figures(
    name: str, log_probs: NDArray[Any], gold: NDArray[np.int64], temperature: float, labels: list[str]
) -> Figures:
    """Accuracy, calibration and risk against coverage of log-probabilities (N, classes)."""
    tempered = np.exp(temper(log_probs, temperature))
    guessed = tempered.argmax(axis=1)
    curve = risk_coverage(tempered.max(axis=1), guessed == gold)
    positions = [int(np.searchsorted(curve.coverage, share - 1e-9)) for share in COVERAGES]
    return Figures(
        name,
        len(gold),
        float((guessed == gold).mean()),
        {
            label: float((guessed[gold == k] == k).mean())
            for k, label in enumerate(labels)
            if (gold == k).any()
        },
        expected_calibration_error(tempered, gold),
        expected_calibration_error(np.exp(temper(log_probs, 1.0)), gold),
        tuple((curve.coverage[i], curve.thresholds[i], curve.risk[i]) for i in positions),
    )


def _record(report: ExportReport, settings: RunSettings, tests: Sequence[Path]) -> dict[str, Any]:
    return {
        "temperature": report.temperature,
        "temperature_fitted": report.fitted,
        "labels_changed_by_rounding": report.changed,
        "tuning": [asdict(part) for part in report.tuning],
        "test": [asdict(part) for part in report.test],
        "settings": without_folders(settings).model_dump(mode="json", exclude={"data": set(FILES)}),
        "data": {name: file["sha256"] for name, file in data_files(settings.data).items()},
        "test_data": {path.name: sha256(path) for path in tests},
    }
