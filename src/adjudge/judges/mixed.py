"""A judge whose probabilities are mixed with what exact comparison of facts says; and one of facts alone.

The two are mixed. Where a number, a date or a name differs, the rules alone decide for judges of which held-out pairs
say that this is better (``Mix.overrides``; docs/check.md has the figures).

Both are multinomial logistic models, p(label) = softmax(b + W · features). The rules' features are the outcomes of
:mod:`adjudge.facts`; the mix's features are the log-probabilities of the judge and of the rules. ``mix.json`` has the
weights, with what they were fitted on (``reproductions/fit_mix.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from typing import Any, ClassVar, cast

import msgspec

from adjudge.facts.compare import compare, contradictions_with, overlap_of
from adjudge.facts.records import Comparison, Kind, Outcome
from adjudge.facts.relations import RULES as RULES_OF_WORDS
from adjudge.io.chunks import chunks
from adjudge.judges.protocol import Judge
from adjudge.judges.registry import RULES
from adjudge.types import FEVER_LABELS, Evidence, Example, Explanation, Label, LabelSet, ProofStep, Verdict

WEIGHTS = "mix.json"
DEFAULT = "default"
RULE_FEATURES = (
    "value different",
    "value open",
    "value absent",
    "value equal",
    "name different",
    "name absent",
    "name equal",
    "overlap",
    "all words",
    *RULES_OF_WORDS,
)
MIX_FEATURES = tuple(f"log p {label.lower()}, {who}" for who in ("judge", "rules") for label in FEVER_LABELS)
REFUTES = FEVER_LABELS.index(Label.REFUTES.value)
_VALUE_DIFFERENT, _NAME_DIFFERENT = map(RULE_FEATURES.index, ("value different", "name different"))
_WINDOW = 256
_SMALLEST = 1e-4


@dataclass(frozen=True)
class Mix:
    """The weights of a mix, one row for each label in FEVER's order; ``features`` names the columns.

    ``overrides`` says that rules alone decide where a value or a name differs.
    """

    name: str
    features: tuple[str, ...]
    bias: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...]
    weights: str = ""
    fitted_on: str = ""
    overrides: bool = False

    def probabilities(self, values: Sequence[float]) -> list[float]:
        """Give softmax(b + W · values)."""
        logits = [
            bias + math.fsum(weight * value for weight, value in zip(row, values, strict=True))
            for bias, row in zip(self.bias, self.matrix, strict=True)
        ]
        top = max(logits)
        shares = [math.exp(logit - top) for logit in logits]
        return [share / math.fsum(shares) for share in shares]


@dataclass(frozen=True)
class MixedJudge:
    """A judge that also compares facts; its verdicts carry the comparisons as their proof.

    ``inner`` is the judge that reads; None where facts alone decide.
    """

    inner: Judge | None
    mix: Mix
    labels: ClassVar[LabelSet] = FEVER_LABELS

    @property
    def max_evidence(self) -> int | None:
        """As many as the judge reads; all where there is none."""
        return None if self.inner is None else self.inner.max_evidence

    @property
    def identity(self) -> Mapping[str, Any]:
        """The judge's, and the weights of the mix."""
        judge = {} if self.inner is None else dict(self.inner.identity)
        return {"kind": "mixed", "judge": judge, "mix": msgspec.to_builtins(self.mix)}

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        """A verdict for each example, in order."""
        for window in chunks(examples, _WINDOW):
            verdicts = map(_silent, window) if self.inner is None else self.inner.judge(window)
            for verdict in verdicts:
                yield self._mixed(verdict, compare(verdict.claim, verdict.evidence))

    def _mixed(self, verdict: Verdict, comparisons: tuple[Comparison, ...]) -> Verdict:
        rules = rule_features(verdict.claim, verdict.evidence, comparisons)
        shares = load_mixes()[RULES].probabilities(rules)
        wrong = self.mix.overrides and (rules[_VALUE_DIFFERENT] or rules[_NAME_DIFFERENT])
        if self.inner is not None and not (wrong and shares[REFUTES] == max(shares)):
            judged = [verdict.probabilities.get(label, 0.0) for label in FEVER_LABELS]
            shares = self.mix.probabilities(bounded_logs([*judged, *shares]))
        probabilities = dict(zip(FEVER_LABELS, shares, strict=True))
        label = max(probabilities, key=lambda name: probabilities[name])
        explanation = replace(verdict.explanation or Explanation(), proof=proof_of(comparisons))
        return replace(verdict, label=label, probabilities=probabilities, explanation=explanation)


def with_facts(judge: Judge | None) -> MixedJudge:
    """A judge with facts compared, in the mix that was fitted for its weights, or for judges in general."""
    mixes = load_mixes()
    if judge is None:
        return MixedJudge(None, mixes[RULES])
    weights = judge.identity.get("weights", "")
    own = (mix for mix in mixes.values() if weights and mix.weights == weights)
    return MixedJudge(judge, next(own, mixes[DEFAULT]))


def compares_facts(judge: Judge | None) -> bool:
    """Whether a judge, or a judge within it, compares facts already."""
    inner = getattr(judge, "inner", None)
    return isinstance(judge, MixedJudge) or (inner is not None and compares_facts(inner))


def reading_judge(judge: Judge | None) -> Judge | None:
    """The judge within others that reads the evidence; None where rules alone decide."""
    while judge is not None and hasattr(judge, "inner"):
        judge = judge.inner
    return judge


def replace_reader(judge: Judge, reader: Judge) -> Judge:
    """The judge with another one in the place of that which reads the evidence; as it is where rules alone decide."""
    if not hasattr(judge, "inner"):
        return reader
    if judge.inner is None:
        return judge
    changed: Judge = replace(cast(Any, judge), inner=replace_reader(judge.inner, reader))
    return changed


def takes_facts(labels: LabelSet) -> bool:
    """Whether the verdicts of a judge can be mixed: its labels are FEVER's."""
    return tuple(labels) == tuple(FEVER_LABELS)


@lru_cache(maxsize=1)
def load_mixes() -> dict[str, Mix]:
    """The mixes that come with the package, by name."""
    content = (resources.files("adjudge") / "judges" / WEIGHTS).read_bytes()
    return {mix.name: mix for mix in msgspec.json.decode(content, type=list[Mix])}


def bounded_logs(shares: Sequence[float]) -> list[float]:
    """Logarithms of probabilities, those of very small ones bounded."""
    return [math.log(max(share, _SMALLEST)) for share in shares]


def rule_features(claim: str, evidence: Sequence[Evidence], comparisons: Sequence[Comparison]) -> list[float]:
    """What the rules say of a claim, in the order of ``RULE_FEATURES``."""
    values = [c.outcome for c in comparisons if c.fact.kind not in (Kind.NAME, Kind.QUOTE)]
    names = [c.outcome for c in comparisons if c.fact.kind in (Kind.NAME, Kind.QUOTE)]
    overlap = max((overlap_of(claim, sentence) for sentence in evidence), default=0.0)
    rules = {contradiction.rule for _, contradiction in contradictions_with(claim, evidence)}
    return [
        float(Outcome.DIFFERENT in values),
        float(Outcome.OPEN in values),
        float(Outcome.ABSENT in values),
        float(bool(values) and set(values) == {Outcome.EQUAL}),
        float(Outcome.DIFFERENT in names or "swapped" in rules),  # a name in another's place, either way
        float(Outcome.ABSENT in names),
        float(bool(names) and set(names) == {Outcome.EQUAL}),
        overlap,
        float(overlap >= 0.999),
        *(float(rule in rules) for rule in RULES_OF_WORDS),
    ]


def proof_of(comparisons: Sequence[Comparison]) -> tuple[ProofStep, ...]:
    """The comparisons as steps of a verdict's explanation."""
    return tuple(
        ProofStep(c.fact.span, str(c.outcome), None if c.other is None else c.other.span, c.sentence)
        for c in comparisons
    )


def _silent(example: Example) -> Verdict:
    """What there is before facts are compared where no judge has spoken: evidence weighed by shared words."""
    overlaps = [overlap_of(example.claim, sentence) for sentence in example.evidence]
    total = math.fsum(overlaps) or 1.0
    evidence = tuple(
        replace(sentence, weight=overlap / total)
        for sentence, overlap in zip(example.evidence, overlaps, strict=True)
    )
    return Verdict(example.id, example.claim, None, {}, evidence, gold_injected=example.gold_injected)
