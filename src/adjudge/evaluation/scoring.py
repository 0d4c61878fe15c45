"""Label accuracy, FEVER score, evidence precision and recall, the confusion matrix and what follows from it.

Definitions follow the official FEVER scorer; predictions join gold by id, never by position.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.data.formats import Truth
from adjudge.data.records import NOWHERE, Groups
from adjudge.data.submissions import Prediction
from adjudge.errors import ConfigError, ScoringError
from adjudge.evaluation.records import (
    Records,
    describe_mismatches,
    list_ids,
    read_gold,
    read_predictions,
    scoring_labels,
)
from adjudge.types import FEVER_LABELS, ClaimId, Label, LabelSet, SentenceRef

FEVER_EVIDENCE = 5
"""FEVER's scorer counts the first five predicted sentences."""

Matrix = tuple[tuple[int, ...], ...]
Pairs = Sequence[tuple[str, str]]

CONTRADICTORY: Pairs = ((Label.SUPPORTS.value, Label.REFUTES.value),)


class ClassScores(NamedTuple):
    """Figures of one label; 0 where nothing was predicted (precision) or nothing is gold (recall)."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class Scores:
    """Everything said about one set of predictions. Rows of ``confusion`` are gold, columns predicted.

    ``fever_score`` and the evidence figures are None when predictions or gold carry no evidence;
    ``contradiction_rate`` is None when no gold claim has a label that another contradicts;
    ``gold_injected`` when gold helped to find the evidence of any prediction. ``unanswered`` counts by gold label
    the claims that got no label at all, in a set without a neutral one: they are wrong, and in no column.
    """

    label_accuracy: float
    fever_score: float | None
    evidence_precision: float | None
    evidence_recall: float | None
    evidence_f1: float | None
    confusion: Matrix
    labels: tuple[str, ...]
    n: int
    per_class: Mapping[str, ClassScores]
    contradiction_rate: float | None
    gold_injected: bool = False
    unanswered: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts and numbers, ready for JSON."""
        return {
            **asdict(self),
            "confusion": [list(row) for row in self.confusion],
            "labels": list(self.labels),
            "unanswered": list(self.unanswered),
            "per_class": {label: figures._asdict() for label, figures in self.per_class.items()},
        }


class Outcome(NamedTuple):
    """How one claim fared; what paired tests compare.

    ``strict``: the label is right and, where it needs evidence, a whole gold group was found.
    ``precision`` and ``recall`` are None for a claim whose gold label needs no evidence; all three are
    None when evidence is not scored. ``predicted`` is None for an empty answer in a set without a neutral label.
    """

    id: ClaimId
    gold: str
    predicted: str | None
    strict: bool | None = None
    precision: float | None = None
    recall: float | None = None
    gold_injected: bool = False

    @property
    def correct(self) -> bool:
        """Whether the label is right."""
        return self.gold == self.predicted


def score(
    predictions: Records,
    gold: Records,
    labels: LabelSet | None = None,
    k: int | None = FEVER_EVIDENCE,
    *,
    contradictory: Pairs | None = None,
    unverifiable: str | None = None,
) -> Scores:
    """Score predictions against gold, joined by id.

    Args:
        predictions: a file, or records (see ``records``); FEVER's submission format is the usual one.
        gold: a file, or records; FEVER's claims format is the usual one.
        labels: the label set; order of the matrix. Case does not matter. By default that of the gold file's format,
            or of the model that gave the verdicts if it knows other labels.
        k: how many of the first predicted sentences count; None counts all.
        contradictory: pairs of labels that contradict each other; SUPPORTS and REFUTES by default.
        unverifiable: the label that needs no evidence; the set's neutral label by default.

    Raises:
        ScoringError: an id is missing, extra or given twice, or there is nothing to score.
        DataError: a record is not in a documented format.
    """
    predictions, gold = _as_reusable(predictions), _as_reusable(gold)
    labels = labels or scoring_labels(predictions, gold)
    results = outcomes(predictions, gold, labels, k, unverifiable=unverifiable)
    return scores_from_outcomes(results, labels, contradictory=contradictory)


def outcomes(
    predictions: Records,
    gold: Records,
    labels: LabelSet | None = None,
    k: int | None = FEVER_EVIDENCE,
    *,
    unverifiable: str | None = None,
) -> list[Outcome]:
    """Judge each claim by itself, in gold's order; arguments as for ``score``."""
    if k is not None and k < 1:
        raise ScoringError(f"k = {k}: at least one predicted sentence must count.")
    predictions, gold = _as_reusable(predictions), _as_reusable(gold)
    labels = labels or scoring_labels(predictions, gold)
    neutral = labels.neutral if unverifiable is None else labels.parse(unverifiable)
    answers, truths = list(read_predictions(predictions, labels)), list(read_gold(gold, labels))
    _check_ids(answers, truths)
    by_id = {answer.id: answer for answer in answers}
    with_evidence = _evidence_is_scored(answers, truths, neutral)
    results = []
    for truth in truths:
        answer = by_id[truth.id]
        outcome = Outcome(truth.id, truth.label, answer.label, gold_injected=answer.gold_injected)
        if with_evidence:
            sentences = (answer.evidence or ())[:k]
            outcome = _with_evidence(outcome, sentences, truth.groups or (), truth.label != neutral)
        results.append(outcome)
    return results


def scores_from_outcomes(
    results: Sequence[Outcome], labels: LabelSet = FEVER_LABELS, *, contradictory: Pairs | None = None
) -> Scores:
    """Sum up the outcomes of a set of claims."""
    class_of = {label: index for index, label in enumerate(labels)}
    counts = [[0] * len(labels) for _ in labels]
    unanswered = [0] * len(labels)
    for outcome in results:
        if outcome.predicted is None:
            unanswered[class_of[outcome.gold]] += 1
        else:
            counts[class_of[outcome.gold]][class_of[outcome.predicted]] += 1
    scores = scores_from_matrix(counts, labels, contradictory=contradictory, unanswered=unanswered)
    scores = replace(scores, gold_injected=any(outcome.gold_injected for outcome in results))
    strict = [outcome.strict for outcome in results if outcome.strict is not None]
    if not strict:
        return scores
    # The official scorer's answers for a set without verifiable claims: precision 1, recall 0.
    precision = _mean([o.precision for o in results if o.precision is not None], otherwise=1.0)
    recall = _mean([o.recall for o in results if o.recall is not None], otherwise=0.0)
    return replace(
        scores,
        fever_score=sum(strict) / len(strict),
        evidence_precision=precision,
        evidence_recall=recall,
        evidence_f1=_f1(precision, recall),
    )


def scores_from_matrix(
    matrix: Sequence[Sequence[int]],
    labels: LabelSet = FEVER_LABELS,
    *,
    contradictory: Pairs | None = None,
    unanswered: Sequence[int] = (),
) -> Scores:
    """What a confusion matrix (rows gold, columns predicted) says by itself; evidence figures are None.

    ``unanswered`` counts the claims of each gold label that stand in no column.
    """
    size = len(labels)
    if len(matrix) != size or any(len(row) != size for row in matrix):
        raise ScoringError(f"The matrix must be {size} × {size}, for {', '.join(labels)}; found {matrix}.")
    if any(count < 0 or count % 1 != 0 for row in matrix for count in row):
        raise ScoringError(f"A confusion matrix holds counts; found {matrix}.")
    confusion = tuple(tuple(int(count) for count in row) for row in matrix)
    missed = tuple(unanswered) or (0,) * size
    n = sum(map(sum, confusion)) + sum(missed)
    if n == 0:
        raise ScoringError("There are no claims to score.")
    return Scores(
        label_accuracy=sum(confusion[i][i] for i in range(size)) / n,
        fever_score=None,
        evidence_precision=None,
        evidence_recall=None,
        evidence_f1=None,
        confusion=confusion,
        labels=labels.names,
        n=n,
        per_class={label: _class_scores(confusion, i, missed[i]) for i, label in enumerate(labels)},
        contradiction_rate=_contradiction_rate(confusion, missed, labels, contradictory),
        unanswered=missed,
    )


def contradiction_rows(
    results: Iterable[Outcome], labels: LabelSet = FEVER_LABELS, *, contradictory: Pairs | None = None
) -> list[tuple[int, int]]:
    """Per claim (got the contrary label, has a contrary label): to bootstrap the rate as a ``ratio``."""
    pairs = _known_pairs(labels, contradictory)
    contrary = {(a, b) for pair in pairs for a, b in (pair, pair[::-1])}
    eligible = {label for pair in pairs for label in pair}
    return [(int((o.gold, o.predicted) in contrary), int(o.gold in eligible)) for o in results]


def _with_evidence(
    outcome: Outcome, sentences: tuple[SentenceRef, ...], groups: Groups, verifiable: bool
) -> Outcome:
    """Add the official scorer's per-claim figures.

    Predicting nothing is precise (1). A verifiable claim without any gold group counts as recalled but
    can never be strictly right. A sentence predicted twice counts twice against precision.
    """
    if not verifiable:
        return outcome._replace(strict=outcome.correct)
    gold = {ref for group in groups for ref in group} - {NOWHERE}
    complete = any(NOWHERE not in group and set(sentences).issuperset(group) for group in groups)
    return outcome._replace(
        strict=outcome.correct and complete,
        precision=sum(ref in gold for ref in sentences) / len(sentences) if sentences else 1.0,
        recall=1.0 if complete or not groups else 0.0,
    )


def _evidence_is_scored(
    answers: Sequence[Prediction], truths: Sequence[Truth], unverifiable: str | None
) -> bool:
    """Whether both sides carry evidence; refuses a side that carries it for some claims only."""
    bare = [answer.id for answer in answers if answer.evidence is None]
    if bare and len(bare) < len(answers):
        raise ScoringError(
            f"{len(bare)} of {len(answers)} predictions have no evidence field: {list_ids(bare)}.\n"
            "Give every prediction one (it may be an empty list), or none at all to score labels alone."
        )
    verifiable = [truth for truth in truths if truth.label != unverifiable]
    unknown = [truth.id for truth in verifiable if truth.groups is None]
    known = any(truth.groups for truth in verifiable)
    if unknown and known:
        raise ScoringError(
            f"{len(unknown)} of {len(verifiable)} verifiable gold claims have no evidence groups: "
            f"{list_ids(unknown)}.\nGive all of them FEVER's evidence groups, or none to score labels alone."
        )
    if bare or not known and (verifiable or any(truth.groups is None for truth in truths)):
        return False
    refs = [ref for answer in answers for ref in answer.evidence or ()]
    return not refs or any(ref != NOWHERE for ref in refs)


def _check_ids(answers: Sequence[Prediction], truths: Sequence[Truth]) -> None:
    lines = describe_mismatches([answer.id for answer in answers], [truth.id for truth in truths])
    if lines:
        heading = f"{len(answers)} predictions do not match {len(truths)} gold claims one to one."
        raise ScoringError("\n".join([heading, *lines]))


def _class_scores(confusion: Matrix, i: int, unanswered: int) -> ClassScores:
    hits, support = confusion[i][i], sum(confusion[i]) + unanswered
    predicted = sum(row[i] for row in confusion)
    precision, recall = hits / predicted if predicted else 0.0, hits / support if support else 0.0
    return ClassScores(precision, recall, _f1(precision, recall), support)


def _contradiction_rate(
    confusion: Matrix, unanswered: Sequence[int], labels: LabelSet, contradictory: Pairs | None
) -> float | None:
    pairs = [(labels.index(a), labels.index(b)) for a, b in _known_pairs(labels, contradictory)]
    claims = sum(sum(confusion[i]) + unanswered[i] for i in {i for pair in pairs for i in pair})
    contradicted = sum(confusion[a][b] + confusion[b][a] for a, b in pairs)
    return contradicted / claims if claims else None


def _known_pairs(labels: LabelSet, contradictory: Pairs | None) -> list[tuple[str, str]]:
    """Pairs in the set's own spelling, each once; the default pair only where the set has both labels."""
    if contradictory is None:
        return [
            (labels.parse(a), labels.parse(b))
            for a, b in CONTRADICTORY
            if labels.knows(a) and labels.knows(b)
        ]
    parsed = [(labels.parse(a), labels.parse(b)) for a, b in contradictory]
    for a, b in parsed:
        if a == b:
            raise ConfigError(f"contradictory: {a!r} cannot contradict itself.")
    return list({frozenset(pair): pair for pair in parsed}.values())


def _as_reusable(records: Records) -> Records:
    """Records that can be read twice."""
    if isinstance(records, (str, Path)):
        return records
    if not isinstance(records, Iterable):
        raise ScoringError(f"expected a file or a list of records, found {type(records).__name__}.")
    return list(records)


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
