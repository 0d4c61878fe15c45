"""How one judge does on many data sets: figures per set, and their mean.

Sets differ in how often each label occurs, so the headline is balanced accuracy, the mean recall over the labels that
a set has. Telling SUPPORTS from REFUTES is looked at by itself: a judge that is silent too often and one that turns
verdicts round fail differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from adjudge.errors import ScoringError
from adjudge.evaluation.calibration import expected_calibration_error
from adjudge.types import NOT_SUPPORTED, Label, LabelSet, Verdict

SUPPORTS, REFUTES = Label.SUPPORTS.value, Label.REFUTES.value


class Answer(NamedTuple):
    """A verdict beside the gold label of its claim."""

    gold: str
    verdict: Verdict


@dataclass(frozen=True)
class SetFigures:
    """What one data set says about a judge; None where the set cannot say it.

    Attributes:
        name: the data set.
        group: the folder it comes from; means are taken per group and over all.
        claims: how many claims were judged.
        balanced_accuracy: mean recall over the labels that occur.
        recall: recall by gold label.
        opposites_accuracy: share of SUPPORTS and REFUTES claims whose gold label is the likelier of the two.
        contradiction_rate: share of those claims that got the opposite verdict.
        ece: expected calibration error, 15 bins.
        claims_per_second: from examples to verdicts, wall time.
    """

    name: str
    group: str
    claims: int
    balanced_accuracy: float
    recall: Mapping[str, float]
    opposites_accuracy: float | None
    contradiction_rate: float | None
    ece: float | None
    claims_per_second: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def measure(
    name: str, group: str, answers: Iterable[Answer], labels: LabelSet, seconds: float | None = None
) -> SetFigures:
    """The figures of one data set.

    Args:
        name: the data set.
        group: the folder it comes from.
        answers: gold labels with verdicts.
        labels: the judge's labels, in the order of its probabilities.
        seconds: how long the judge took, if the rate is to be reported.
    """
    judged = [_map_gold(answer, labels) for answer in answers]
    if not judged:
        raise ScoringError(f"{name}: no labelled claims to judge.")
    gold_labels = sorted({answer.gold for answer in judged})
    recall = {label: _recall(judged, label) for label in gold_labels}
    opposed = [answer for answer in judged if answer.gold in (SUPPORTS, REFUTES)]
    told_apart = [answer for answer in opposed if _knows_both(answer.verdict)]
    return SetFigures(
        name,
        group,
        len(judged),
        sum(recall.values()) / len(recall),
        recall,
        _share(told_apart, _prefers_gold),
        _share(opposed, lambda a: a.verdict.label in (SUPPORTS, REFUTES) and a.verdict.label != a.gold),
        _calibration_error(judged, labels),
        len(judged) / seconds if seconds else None,
    )


def means(sets: Sequence[SetFigures]) -> dict[str, dict[str, float]]:
    """Each figure's mean over the sets of a group and, as ``all``, over all sets; every set counts the same."""
    groups: dict[str, list[SetFigures]] = {}
    for figures in sets:
        groups.setdefault(figures.group, []).append(figures)
    if len(groups) > 1:
        groups["all"] = list(sets)
    else:
        groups = {"all": list(sets)}
    return {group: _mean_figures(members) for group, members in groups.items()}


def _mean_figures(sets: Sequence[SetFigures]) -> dict[str, float]:
    averages: dict[str, float] = {}
    for name in ("balanced_accuracy", "opposites_accuracy", "contradiction_rate", "ece", "claims_per_second"):
        values = [value for value in (getattr(figures, name) for figures in sets) if value is not None]
        if values:
            averages[name] = sum(values) / len(values)
    return averages


def _map_gold(answer: Answer, labels: LabelSet) -> Answer:
    """The answer with gold in the judge's labels, where it has only two."""
    coarse = NOT_SUPPORTED in labels.names and answer.gold not in labels.names
    return answer._replace(gold=NOT_SUPPORTED) if coarse else answer


def _recall(answers: Sequence[Answer], label: str) -> float:
    of_label = [answer for answer in answers if answer.gold == label]
    return sum(answer.verdict.label == label for answer in of_label) / len(of_label)


def _share(answers: Sequence[Answer], holds: Callable[[Answer], bool]) -> float | None:
    return sum(map(holds, answers)) / len(answers) if answers else None


def _knows_both(verdict: Verdict) -> bool:
    return SUPPORTS in verdict.probabilities and REFUTES in verdict.probabilities


def _prefers_gold(answer: Answer) -> bool:
    opposite = REFUTES if answer.gold == SUPPORTS else SUPPORTS
    return answer.verdict.probabilities[answer.gold] > answer.verdict.probabilities[opposite]


def _calibration_error(answers: Sequence[Answer], labels: LabelSet) -> float | None:
    """Over the claims whose gold label the judge knows; None where there are none."""
    known = [a for a in answers if a.gold in labels.names and a.verdict.probabilities]
    if not known:
        return None
    probabilities = np.array([[a.verdict.probabilities[label] for label in labels] for a in known])
    probabilities /= probabilities.sum(axis=1, keepdims=True)  # verdicts read from a file are rounded
    return expected_calibration_error(probabilities, [labels.names.index(a.gold) for a in known])
