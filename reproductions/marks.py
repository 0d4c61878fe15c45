"""Which words are wrong? Token F1 of the marks on contrast pairs: python reproductions/marks.py --data DATA [--fit].

A pair is a claim that a sentence refutes, beside the most similar claim that the same sentence supports (VitaminC), or
a caption with one word replaced (Breaking NLI, which `small` was trained on): the words that differ are to be marked.
The baseline marks all content words that are absent from the evidence. `--fit` fits the weights on VitaminC's training
pairs and writes src/adjudge/serving/check/marks.json; figures are on its dev pairs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from adjudge.data.text import clean_text
from adjudge.facts.compare import compare
from adjudge.facts.words import content_stems, is_content, words_of
from adjudge.judges.folder import load_judge
from adjudge.judges.mixed import with_facts
from adjudge.serving.check.marks import (
    FEATURES,
    WEIGHTS,
    Marking,
    MarkWeights,
    feature_tables,
    mark_words,
    units_of,
)
from adjudge.types import Evidence, Example, Span

HOME = Path(__file__).parents[1] / "src" / "adjudge" / "serving" / "check" / WEIGHTS
SIMILAR = 0.5
RIDGE = 1e-3


@dataclass(frozen=True)
class Contrast:
    claim: str
    evidence: Evidence
    wrong: frozenset[int]  # positions of the words of the claim that are wrong


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def changed(claim: str, other: str) -> frozenset[int]:
    """The positions of the words of a claim that another claim has not in their place."""
    ours, theirs = ([word.text.casefold() for word in words_of(text)] for text in (claim, other))
    blocks = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    kept = {block.a + k for block in blocks for k in range(block.size)}
    return frozenset(range(len(ours))) - kept


def revisions(records: Sequence[dict[str, Any]]) -> Iterator[Contrast]:
    by_evidence: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        by_evidence[tuple(record["evidence"])].append(record)
    for evidence, group in by_evidence.items():
        supported = [clean_text(r["claim"]) for r in group if r["label"] == "SUPPORTS"]
        for record in group:
            if record["label"] != "REFUTES" or not supported:
                continue
            claim = clean_text(record["claim"])
            words = [word.text.casefold() for word in words_of(claim)]

            def similarity(other: str, words: list[str] = words) -> float:
                return SequenceMatcher(None, words, [w.text.casefold() for w in words_of(other)]).ratio()

            nearest = max(supported, key=similarity)
            wrong = changed(claim, nearest)
            if similarity(nearest) >= SIMILAR and wrong:
                yield Contrast(claim, Evidence(clean_text(evidence[0]), title=record.get("title", "")), wrong)


def swapped(records: Sequence[dict[str, Any]]) -> Iterator[Contrast]:
    for record in records:
        if record["label"] == "REFUTES":
            claim, evidence = record["claim"], record["evidence"][0]
            if wrong := changed(claim, evidence):
                yield Contrast(claim, Evidence(evidence), wrong)


def markings(contrasts: Sequence[Contrast], judge: Any) -> list[Marking]:
    examples = [Example(n, one.claim, (one.evidence,)) for n, one in enumerate(contrasts)]
    return [Marking(v, compare(v.claim, v.evidence)) for v in with_facts(judge).judge(examples)]


def tokens_in(claim: str, spans: Sequence[Span]) -> frozenset[int]:
    return frozenset(
        n for n, w in enumerate(words_of(claim)) if any(s.start < w.end and w.start < s.end for s in spans)
    )


def baseline(one: Contrast) -> frozenset[int]:
    known = content_stems(f"{one.evidence.text} {one.evidence.title}")
    return frozenset(n for n, w in enumerate(words_of(one.claim)) if is_content(w) and w.stem not in known)


def f1(pairs: Sequence[tuple[frozenset[int], frozenset[int]]]) -> tuple[float, float, float]:
    hits = sum(len(ours & gold) for ours, gold in pairs)
    precision = hits / max(sum(len(ours) for ours, _ in pairs), 1)
    recall = hits / max(sum(len(gold) for _, gold in pairs), 1)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)


def fit(contrasts: Sequence[Contrast], judges: Sequence[Any], fitted_on: str) -> MarkWeights:
    """Weights by logistic regression over the units of all judges' tables, then the threshold with the best token "
    "F1."""
    rows, gold, owners = [], [], []
    for judge in judges:
        made = markings(contrasts, judge)
        for one, marking, table in zip(contrasts, made, feature_tables(made, judge), strict=True):
            for unit, values in zip(units_of(marking), table, strict=True):
                tokens = tokens_in(one.claim, [unit])
                rows.append(values)
                gold.append(bool(tokens & one.wrong))
                owners.append((one, tokens))
    x, y = np.array(rows), np.array(gold, dtype=float)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = x @ w[1:] + w[0]
        value = np.mean(np.logaddexp(0, z) - y * z) + RIDGE * (w[1:] ** 2).sum()
        slope = (1 / (1 + np.exp(-z)) - y) / len(y)
        return float(value), np.concatenate([[slope.sum()], x.T @ slope + 2 * RIDGE * w[1:]])

    w = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B").x
    scores = 1 / (1 + np.exp(-(x @ w[1:] + w[0])))
    best = max(np.arange(0.15, 0.7, 0.025), key=lambda t: _f1_at(t, scores, owners, contrasts, len(judges)))
    return MarkWeights(
        FEATURES, round(float(w[0]), 4), tuple(np.round(w[1:], 4).tolist()), round(float(best), 3), fitted_on
    )


def _f1_at(threshold: float, scores: Any, owners: Any, contrasts: Sequence[Contrast], times: int) -> float:
    hits = marked = 0
    for score, (one, tokens) in zip(scores, owners, strict=True):
        if score >= threshold:
            marked += len(tokens)
            hits += len(tokens & one.wrong)
    gold = times * sum(len(one.wrong) for one in contrasts)
    return 2 * hits / max(marked + gold, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", nargs="+", default=["small", "fever"])
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--most", type=int, default=600)
    arguments = parser.parse_args()
    rng = random.Random(0)

    def some(contrasts: Iterator[Contrast]) -> list[Contrast]:
        every = list(contrasts)
        return rng.sample(every, min(arguments.most, len(every)))

    if arguments.fit:
        train = some(revisions(read(arguments.data / "pairs/train/vitaminc.jsonl.gz")))
        judges = [load_judge(model) for model in arguments.models]
        weights = fit(
            train,
            judges,
            f"{len(train)} contrast pairs of VitaminC's training pairs, {', '.join(arguments.models)}",
        )
        record = {
            name: getattr(weights, name) for name in ("features", "bias", "weights", "threshold", "fitted_on")
        }
        HOME.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        for name, weight in zip(FEATURES, weights.weights, strict=True):
            print(f"  {name:18s} {weight:+.2f}")
    sets = {
        "VitaminC, dev": some(revisions(read(arguments.data / "pairs/dev/vitaminc.jsonl.gz"))),
        "Breaking NLI": some(swapped(read(arguments.data / "pairs/train/breaking_nli.jsonl.gz"))),
    }
    for name, contrasts in sets.items():
        gold = [one.wrong for one in contrasts]
        print(f"{name}: {len(contrasts)} pairs")
        print(
            "  baseline (absent words)  P {:.1%} R {:.1%} F1 {:.1%}".format(
                *f1([(baseline(o), o.wrong) for o in contrasts])
            )
        )
        for model in [None, *arguments.models]:
            judge = None if model is None else load_judge(model)
            spans = mark_words(markings(contrasts, judge), judge)
            ours = [tokens_in(one.claim, span) for one, span in zip(contrasts, spans, strict=True)]
            label = model or "rules only"
            print(
                "  {:24s} P {:.1%} R {:.1%} F1 {:.1%}".format(label, *f1(list(zip(ours, gold, strict=True))))
            )


if __name__ == "__main__":
    main()
