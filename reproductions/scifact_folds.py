"""SciFact's claims cross-validated: folds that share no abstract, what is shown of a claim, the figures."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from adjudge.config import DEFAULT_EVIDENCE
from adjudge.data import scifact
from adjudge.errors import ConfigError
from adjudge.evaluation.calibration import expected_calibration_error
from adjudge.evaluation.scoring import outcomes, scores_from_outcomes
from adjudge.evaluation.statistics import bootstrap, mcnemar, paired_bootstrap
from adjudge.retrieval.pipeline import LookUp, WithinPages, gold_sentences
from adjudge.types import FEVER_LABELS, Claim, Example, Label, Verdict

Cited = Mapping[str, tuple[str, ...]]
"""A claim's id, as text → the abstracts it cites."""


def cited_abstracts(path: Path) -> dict[str, tuple[str, ...]]:
    """The abstracts that every claim of a file cites, with evidence in them or not."""
    cited: dict[str, tuple[str, ...]] = {}
    for claim in scifact.read_claims_by_document(path):
        identity, _, document = str(claim.id).rpartition(":")
        cited[identity] = (*cited.get(identity, ()), document)
    return cited


def folds(claims: Sequence[Claim], cited: Cited, count: int, seed: int = 0) -> list[list[int]]:
    """Indices of the claims in ``count`` folds, each claim in one.

    Claims that cite one abstract, or say the same, lie in one fold. Groups of such claims are dealt out, the
    largest first, each to the fold that so far has fewest claims of its labels.
    """
    if not 2 <= count <= len(claims):
        raise ConfigError(f"{count} folds of {len(claims)} claims: expected 2 or more, of as many or more.")
    groups = _group_linked([{("text", c.text), *(("page", p) for p in _pages(c, cited))} for c in claims])
    random.Random(seed).shuffle(groups)
    groups.sort(key=len, reverse=True)
    total = Counter(claim.label for claim in claims)
    assigned: list[list[int]] = [[] for _ in range(count)]
    have = [Counter[str | None]() for _ in range(count)]
    for group in groups:
        labels = Counter(claims[index].label for index in group)

        def crowded(fold: int, labels: Counter[str | None] = labels) -> tuple[float, int]:
            shares = (have[fold][label] * n / total[label] for label, n in labels.items())
            return sum(shares), len(assigned[fold])

        fold = min(range(count), key=crowded)
        assigned[fold] += group
        have[fold].update(labels)
    return [sorted(fold) for fold in assigned]


def given_examples(
    claims: Sequence[Claim], cited: Cited, look_up: LookUp, within: WithinPages, seed: int = 0
) -> Iterator[Example]:
    """The claims with the sentences that annotators looked at, five at most.

    A claim with evidence shows its gold sentences. A claim without shows the best sentences of the abstracts it
    cites, as many as some claim with evidence has, drawn at random: their number says nothing about the label.
    """
    gold = {claim.id: gold_sentences(claim, look_up)[:DEFAULT_EVIDENCE] for claim in claims}
    numbers = [len(sentences) for sentences in gold.values() if sentences] or [1]
    draw = random.Random(seed)
    for claim in claims:
        evidence = gold[claim.id]
        if not claim.gold:
            evidence = list(within(claim.text, cited.get(str(claim.id), ()), draw.choice(numbers)))
        yield Example(claim.id, claim.text, tuple(evidence), claim.label, gold_injected=True)


def training_examples(given: Sequence[Example], retrieved: Sequence[Example], most: int) -> Iterator[Example]:
    """Every claim twice: with the sentences given, and with these and what else was retrieved, ``most`` in all."""
    for one, other in zip(given, retrieved, strict=True):
        yield Example(f"{one.id}:given", one.claim, one.evidence, one.label, True)
        refs = {sentence.ref for sentence in one.evidence}
        added = [sentence for sentence in other.evidence if sentence.ref not in refs]
        mixed = tuple([*one.evidence, *added][:most])
        yield Example(f"{one.id}:mixed", one.claim, mixed, one.label, True)


def sentence_f1(gold: Sequence[Set[object]], kept: Sequence[Set[object]]) -> float:
    """Micro F1: of all sentences kept and all gold sentences, over the claims together."""
    right = sum(len(one & other) for one, other in zip(gold, kept, strict=True))
    total = sum(map(len, gold)) + sum(map(len, kept))
    return 2 * right / total if total else 0.0


def figures(claims: Sequence[Claim], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """All that is said of a system's verdicts, given in the claims' order, ready for JSON.

    ``sentence_f1`` is of the sentences shown, over the claims that have evidence; for ``sentence_label_f1``, over
    all claims, a NOT ENOUGH INFO verdict names no sentence, and a sentence named counts as right only where the
    label is.
    """
    judged = outcomes(verdicts, claims)
    scores = scores_from_outcomes(judged)
    labels = FEVER_LABELS.names
    probabilities = [[verdict.probabilities[label] for label in labels] for verdict in verdicts]
    return {
        "claims": scores.n,
        "label_accuracy": scores.label_accuracy,
        "interval": bootstrap([outcome.correct for outcome in judged])[:2],
        "macro_f1": sum(per.f1 for per in scores.per_class.values()) / len(labels),
        "recall": {label: per.recall for label, per in scores.per_class.items()},
        "contradiction_rate": scores.contradiction_rate,
        "ece": expected_calibration_error(probabilities, [FEVER_LABELS.index(o.gold) for o in judged]),
        "confusion": [list(row) for row in scores.confusion],
        "gold_injected": scores.gold_injected,
        **({} if scores.gold_injected else _evidence_figures(claims, verdicts)),
    }


def majority(claims: Sequence[Claim]) -> dict[str, Any]:
    """The figures of always answering the commonest label."""
    label = Counter(claim.label or "" for claim in claims).most_common(1)[0][0]
    certain = {name: float(name == label) for name in FEVER_LABELS}
    values = figures(claims, [Verdict(claim.id, claim.text, label, certain) for claim in claims])
    kept = ("claims", "label_accuracy", "interval", "macro_f1", "recall", "contradiction_rate", "confusion")
    return {"label": label, **{name: values[name] for name in kept}}


def compare_systems(
    claims: Sequence[Claim], one: Sequence[Verdict], other: Sequence[Verdict]
) -> dict[str, Any]:
    """McNemar's test and the difference in label accuracy of two systems on the same claims."""
    a, b = ([outcome.correct for outcome in outcomes(verdicts, claims)] for verdicts in (one, other))
    gain = paired_bootstrap(a, b)
    return {"difference": gain.estimate, "interval": gain[:2], "mcnemar": mcnemar(a, b)._asdict()}


def _evidence_figures(claims: Sequence[Claim], verdicts: Sequence[Verdict]) -> dict[str, float]:
    gold = [{ref for group in claim.gold for ref in group} for claim in claims]
    shown = [{sentence.ref for sentence in verdict.evidence} for verdict in verdicts]
    judged = [(refs, seen) for refs, seen in zip(gold, shown, strict=True) if refs]
    # With the label beside it, a sentence under a wrong label equals no gold sentence.
    decided = [{(claim.label, ref) for ref in refs} for claim, refs in zip(claims, gold, strict=True)]
    named = [
        {(verdict.label, ref) for ref in refs if verdict.label != Label.NOT_ENOUGH_INFO.value}
        for verdict, refs in zip(verdicts, shown, strict=True)
    ]
    return {
        "sentence_f1": sentence_f1([refs for refs, _ in judged], [seen for _, seen in judged]),
        "sentence_label_f1": sentence_f1(decided, named),
    }


def _pages(claim: Claim, cited: Cited) -> set[str]:
    return {ref.page for group in claim.gold for ref in group}.union(cited.get(str(claim.id), ()))


def _group_linked(marks: Sequence[set[tuple[str, str]]]) -> list[list[int]]:
    """Indices in groups: two that share a mark, directly or by way of others, are in one."""
    groups: list[tuple[list[int], set[tuple[str, str]]]] = []
    for index, own in enumerate(marks):
        indices, joined, apart = [index], set(own), []
        for group in groups:
            if group[1] & own:
                indices += group[0]
                joined |= group[1]
            else:
                apart.append(group)
        groups = [*apart, (indices, joined)]
    return [sorted(indices) for indices, _ in groups]
