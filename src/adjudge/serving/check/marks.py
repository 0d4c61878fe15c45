"""Which words of a statement the evidence does not back.

Every content word, and every number, date or name as a whole, is left out in turn and the rest judged again: where the
statement gets more likely without a word, the word was wrong. That is joined with what comparing facts says, by a
logistic model whose weights are in ``marks.json`` (``reproductions/fit_marks.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources

import msgspec

from adjudge.data.text import evidence_title
from adjudge.facts.compare import contradictions_with
from adjudge.facts.records import Comparison, Kind, Outcome
from adjudge.facts.words import NEGATIONS, is_content, words_of
from adjudge.judges.protocol import Judge
from adjudge.types import Evidence, Example, Label, Span, Verdict

WEIGHTS = "marks.json"
FEATURES = (
    "absent",
    "fact different",
    "fact open",
    "fact absent",
    "fact equal",
    "contradicted",
    "negation",
    "gains support",
    "loses refutation",
    "largest change",
    "only absent",
)
READ = 1
"""Evidence sentences that the statements with a word left out are judged by: the weightiest one."""
MAX_WORDS = 24
"""Words left out in turn; of a longer statement the first ones."""


@dataclass(frozen=True)
class MarkWeights:
    """The weights of the features, and the score from which on a word is marked."""

    features: tuple[str, ...]
    bias: float
    weights: tuple[float, ...]
    threshold: float
    fitted_on: str = ""

    def score(self, values: Sequence[float]) -> float:
        """The probability that a word is wrong."""
        total = self.bias + math.fsum(w * v for w, v in zip(self.weights, values, strict=True))
        return 1.0 / (1.0 + math.exp(-total))


@dataclass(frozen=True)
class Marking:
    """A statement whose words are to be marked: the verdict on it, and its facts compared."""

    verdict: Verdict
    comparisons: tuple[Comparison, ...]


@lru_cache(maxsize=1)
def load_weights() -> MarkWeights:
    """The weights that come with the package."""
    content = (resources.files("adjudge") / "serving" / "check" / WEIGHTS).read_bytes()
    return msgspec.json.decode(content, type=MarkWeights)


def mark_words(
    markings: Sequence[Marking], judge: Judge | None, weights: MarkWeights | None = None
) -> list[list[Span]]:
    """The spans of each statement that its evidence does not back; all are judged in one pass."""
    weights = weights or load_weights()
    marks = []
    for units, table in zip(map(units_of, markings), feature_tables(markings, judge), strict=True):
        scores = [weights.score(values) for values in table]
        spans = [unit for unit, score in zip(units, scores, strict=True) if score >= weights.threshold]
        marks.append(spans or [units[max(range(len(units)), key=scores.__getitem__)]] if units else [])
    return marks


def evidence_marks(marking: Marking) -> list[tuple[int, Span]]:
    """(sentence, span) of the evidence words that speak against a statement: other values and names, opposites, "
    "negations.
    """
    spans = [
        (c.sentence, c.other.span)
        for c in marking.comparisons
        if c.outcome is Outcome.DIFFERENT and c.other is not None and c.sentence is not None
    ]
    for sentence, contradiction in contradictions_with(marking.verdict.claim, marking.verdict.evidence):
        spans += [(sentence, Span(word.start, word.end)) for word in contradiction.evidence]
    return list(dict.fromkeys(spans))


def units_of(marking: Marking) -> list[Span]:
    """What is left out in turn: facts as a whole, and the content words between them."""
    facts = [c.fact.span for c in marking.comparisons]
    words = [
        Span(word.start, word.end)
        for word in words_of(marking.verdict.claim)
        if (is_content(word) or word.text.casefold() in NEGATIONS)
        and not any(start < word.end and word.start < end for start, end in facts)
    ]
    return sorted([*facts, *words])[:MAX_WORDS]


def feature_tables(markings: Sequence[Marking], judge: Judge | None) -> list[list[list[float]]]:
    """For each statement the features of each of its units, in the order of ``FEATURES``."""
    changes = _left_out(markings, judge)
    return [_features(marking, list(next(changes))) for marking in markings]


def _left_out(markings: Sequence[Marking], judge: Judge | None) -> Iterator[list[tuple[float, float]]]:
    """For each statement and unit: how much support is gained and refutation lost without the unit."""
    if judge is None:
        yield from ([(0.0, 0.0)] * len(units_of(marking)) for marking in markings)
        return
    examples: list[Example] = []
    for marking in markings:
        claim = marking.verdict.claim
        evidence = tuple(marking.verdict.evidence[i] for i in _weightiest(marking.verdict.evidence)[:READ])
        examples.append(Example(0, claim, evidence))
        examples += [Example(0, _without(claim, unit), evidence) for unit in units_of(marking)]
    shares = (
        (v.probabilities.get(Label.SUPPORTS, 0.0), v.probabilities.get(Label.REFUTES, 0.0))
        for v in _judged(judge, examples)
    )
    for marking in markings:
        support, refutation = next(shares)
        yield [(s - support, refutation - r) for s, r in (next(shares) for _ in units_of(marking))]


def _judged(judge: Judge, examples: Iterable[Example]) -> Iterator[Verdict]:
    return judge.judge([replace(example, evidence=example.evidence) for example in examples])


def _without(claim: str, unit: Span) -> str:
    return " ".join(f"{claim[: unit.start]} {claim[unit.end :]}".split())


def _weightiest(evidence: Sequence[Evidence]) -> list[int]:
    return sorted(range(len(evidence)), key=lambda i: -(evidence[i].weight or 0.0))


def _features(marking: Marking, changes: list[tuple[float, float]]) -> list[list[float]]:
    units = units_of(marking)
    claim_words = words_of(marking.verdict.claim)
    words_in = [[w for w in claim_words if w.start < unit.end and unit.start < w.end] for unit in units]
    known = _evidence_stems(marking.verdict.evidence)
    absent = [not all(w.stem in known for w in words if is_content(w)) for words in words_in]
    contradicted = _contradicted(marking)
    negations = [any(w.text.casefold() in NEGATIONS for w in words) for words in words_in]
    outcomes = {(c.fact.start, c.fact.end): c for c in marking.comparisons}
    largest = max((gain for gain, _ in changes), default=0.0)
    table = []
    for number, unit in enumerate(units):
        comparison = outcomes.get((unit.start, unit.end))
        outcome = comparison.outcome if comparison else None
        is_value = comparison is not None and comparison.fact.kind not in (Kind.NAME, Kind.QUOTE)
        gain, loss = changes[number]
        table.append(
            [
                float(absent[number] and not is_value),
                float(outcome is Outcome.DIFFERENT),
                float(outcome is Outcome.OPEN),
                float(outcome is Outcome.ABSENT),
                float(outcome is Outcome.EQUAL),
                float(any(Span(w.start, w.end) in contradicted for w in words_in[number])),
                float(negations[number]),
                gain,
                loss,
                float(gain == largest > 0.0),
                float(absent[number] and sum(absent) == 1),
            ]
        )
    return table


def _evidence_stems(evidence: Sequence[Evidence]) -> frozenset[str]:
    return frozenset(
        word.stem
        for sentence in evidence
        for text in (sentence.text, sentence.context, evidence_title(sentence))
        for word in words_of(text)
    )


def _contradicted(marking: Marking) -> set[Span]:
    contradictions = contradictions_with(marking.verdict.claim, marking.verdict.evidence)
    return {Span(word.start, word.end) for _, one in contradictions for word in one.claim}
