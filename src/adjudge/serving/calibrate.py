"""Fitting a judge to a user's labelled claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adjudge.data.formats import read_claims, read_examples
from adjudge.errors import ConfigError
from adjudge.judges.calibrated import Calibration
from adjudge.judges.mixed import compares_facts, takes_facts, with_facts
from adjudge.judges.protocol import Judge
from adjudge.judges.registry import PACKAGE_MODELS, RULES
from adjudge.retrieval.pipeline import EvidencePipeline
from adjudge.types import Example

if TYPE_CHECKING:
    from adjudge.evaluation.own_calibration import CalibrationReport
    from adjudge.serving.verifier import Verifier

_SMALLEST = 1e-9


def read_labelled(path: Path, verifier: Verifier, aliases: Mapping[str, str] | None = None) -> list[Example]:
    """Labelled claims with evidence: what the file has, or what the verifier's corpus gives.

    A claim for which nothing is found has no verdict to fit; it is left out.
    """
    if verifier.settings.corpus is None:
        return list(read_examples(path, labels=verifier.judge.labels, require_labels=True, aliases=aliases))
    settings = verifier.settings
    pipeline = EvidencePipeline(
        verifier.retriever(), verifier.loaded_selector(), settings.candidates, settings.k
    )
    examples = pipeline.examples(
        list(read_claims(path, labels=verifier.judge.labels, require_labels=True, aliases=aliases))
    )
    return [example for example in examples if example.evidence and example.label is not None]


def fit_judge(judge: Judge, name: str, examples: Sequence[Example], max_risk: float = 0.2) -> Calibration:
    """The calibration of a judge, with facts compared where that gives better probabilities.

    Args:
        judge: whose probabilities are fitted.
        name: how the judge is loaded; a folder is kept by its full path.
        examples: labelled claims with evidence.
        max_risk: see :func:`adjudge.evaluation.own_calibration.fit_own`.
    """
    from adjudge.evaluation.own_calibration import check_examples

    labels = judge.labels
    gold = [labels.index(str(example.label)) for example in examples]
    check_examples(gold, tuple(labels))
    plain = _report(judge, examples, gold, max_risk)
    best, facts = plain, False
    if takes_facts(labels) and not compares_facts(judge):
        mixed = _report(with_facts(judge), examples, gold, max_risk)
        if mixed.after.log_loss < plain.after.log_loss:
            best, facts = mixed, True
    figures = {
        "before": asdict(plain.before),
        "after": asdict(best.after),
        "answered": best.answered,
        "risk": best.risk,
    }
    return Calibration(
        model=_lasting_name(name),
        facts=facts,
        labels=tuple(labels),
        temperature=best.calibration.temperature,
        biases=best.calibration.biases,
        min_confidence=best.calibration.min_confidence,
        claims=len(examples),
        figures=figures,
    )


def _lasting_name(name: str) -> str:
    """The name of a model as it holds wherever a command is given; a folder does not hide a model of the package."""
    folder = Path(name).expanduser()
    return str(folder.resolve()) if name not in (*PACKAGE_MODELS, RULES) and folder.exists() else name


def _report(
    judge: Judge, examples: Sequence[Example], gold: Sequence[int], max_risk: float
) -> CalibrationReport:
    from adjudge.evaluation.own_calibration import fit_own

    verdicts = list(judge.judge(examples))
    if any(not verdict.probabilities for verdict in verdicts):
        raise ConfigError("The judge gives no probabilities, so there is nothing to calibrate.")
    log_probs = np.log([[max(v.probabilities[label], _SMALLEST) for label in judge.labels] for v in verdicts])
    return fit_own(log_probs, gold, tuple(judge.labels), max_risk)
