"""Fit what the rules about facts say, and how that is mixed with a judge: python reproductions/fit_mix.py --data DATA.

First the rules alone, on training pairs of several sources (rules learn nothing from claims, so any training pair will
do). Then the mix of each judge's probabilities with the rules', on claims that no model of the package was trained on:
the pairs that `adjudge data mix` holds out of every source by a hash of the page or text. Every second group of them
measures what the others fit; what is stored is fitted on all. They also say whether rules should decide alone where
a value or a name differs. Writes src/adjudge/judges/mix.json.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from adjudge.config import DEFAULT_EVIDENCE
from adjudge.data.text import clean_text
from adjudge.facts.compare import compare
from adjudge.facts.words import content_stems
from adjudge.judges.folder import load_judge
from adjudge.judges.mixed import (
    MIX_FEATURES,
    REFUTES,
    RULE_FEATURES,
    WEIGHTS,
    bounded_logs,
    load_mixes,
    rule_features,
)
from adjudge.training.mix.settings import read_mix
from adjudge.training.mix.sources import Group
from adjudge.training.mix.sources import read_groups as read_source
from adjudge.types import FEVER_LABELS, Example

HOME = Path(__file__).parents[1] / "src" / "adjudge" / "judges" / WEIGHTS
SOURCES = ("vitaminc", "conjnli", "semiauto_wiki", "check_covid", "cad_snli", "fever", "written", "passages")
GROUPS = 400
"""Groups of each source that the rules are fitted on."""
HELD_OUT = 200
"""Held-out groups of each source that the mixes are fitted on."""
RIDGE = 1e-4
LEVEL = 0.01
"""What rules that decide alone may cost: they can show the fact that differs."""
NEAR_MISSES = 3
"""Of every third group a claim is also shown with another group's sentences: NOT ENOUGH INFO."""

Figures = tuple[float, float]


def read_groups(data: Path, sources: Sequence[str], most: int) -> tuple[list[Group], list[Group]]:
    """(groups that models may have been trained on, groups held out) of the sources, as they are in the files."""
    settings = read_mix("judges")
    trained: list[Group] = []
    held: list[Group] = []
    for one in settings.source:
        if one.name in sources:
            kept, aside = read_source(one, settings, [data, Path(__file__).parent], GROUPS)
            trained += random.Random(one.name).sample(kept, min(GROUPS, len(kept)))
            held += random.Random(one.name).sample(aside, min(most, len(aside)))
    return with_near_misses(_with_evidence(trained)), with_near_misses(_with_evidence(held))


def _with_evidence(groups: Sequence[Group]) -> list[Group]:
    shown = ([example for example in group if example.evidence] for group in groups)
    return [group for group in shown if group]


def with_near_misses(groups: Sequence[Group]) -> list[Group]:
    """The groups, some with a claim and the sentences of the group nearby that shares most words with it."""
    shown = []
    for number, group in enumerate(groups):
        group = [cleaned(example) for example in group]
        near = [*groups[max(0, number - 40) : number], *groups[number + 1 : number + 40]]
        if number % NEAR_MISSES == 0 and near:
            claim = content_stems(group[0].claim)
            others = max(near, key=lambda other: len(claim & content_stems(other[0].evidence[0].text)))
            group.append(cleaned(replace(group[0], evidence=others[0].evidence, label="NOT ENOUGH INFO")))
        shown.append(group)
    return shown


def cleaned(example: Example) -> Example:
    evidence = tuple(replace(s, text=clean_text(s.text)) for s in example.evidence[:DEFAULT_EVIDENCE])
    return replace(example, claim=clean_text(example.claim), evidence=evidence)


def table(groups: Sequence[Group]) -> tuple[list[Example], np.ndarray, np.ndarray, np.ndarray]:
    """Examples, their rule features, their gold labels, and whether each is in the second half."""
    examples = [example for group in groups for example in group]
    rules = np.array([rule_features(e.claim, e.evidence, compare(e.claim, e.evidence)) for e in examples])
    gold = np.array([FEVER_LABELS.index(str(example.label)) for example in examples])
    half = np.array([number % 2 for number, group in enumerate(groups) for _ in group], dtype=bool)
    return examples, rules, gold, half


def fit(features: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bias (3,) and matrix (3, F) that minimise the mean −log p of the gold labels, with a ridge."""
    n, f = features.shape
    onehot = np.eye(3)[gold]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        w = flat.reshape(3, f + 1)
        log_p = log_softmax(features, w[:, 0], w[:, 1:])
        slope = (np.exp(log_p) - onehot) / n
        gradient = np.concatenate([slope.sum(axis=0)[:, None], slope.T @ features], axis=1)
        gradient[:, 1:] += 2 * RIDGE * w[:, 1:]
        return float(-(onehot * log_p).sum() / n + RIDGE * (w[:, 1:] ** 2).sum()), gradient.ravel()

    result = minimize(loss, np.zeros(3 * (f + 1)), jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    w = result.x.reshape(3, f + 1)
    return w[:, 0], w[:, 1:]


def log_softmax(features: np.ndarray, bias: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    z = features @ matrix.T + bias
    z -= z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


def figures(log_p: np.ndarray, gold: np.ndarray) -> str:
    answers = log_p.argmax(axis=1)
    balanced = np.mean([(answers[gold == k] == k).mean() for k in range(3)])
    return f"{np.mean(answers == gold):.1%} (balanced {balanced:.1%})"


def record(
    name: str,
    columns: Sequence[str],
    fitted: tuple[np.ndarray, np.ndarray],
    on: str,
    weights: str,
    overrides: bool = False,
) -> Any:
    return {
        "name": name,
        "features": list(columns),
        "bias": np.round(fitted[0], 4).tolist(),
        "matrix": np.round(fitted[1], 4).tolist(),
        "weights": weights,
        "fitted_on": on,
        "overrides": overrides,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", nargs="+", default=["small", "fever"])
    parser.add_argument("--sources", nargs="+", default=list(SOURCES), choices=SOURCES)
    parser.add_argument("--held-out", type=int, default=HELD_OUT, help="held-out groups of each source")
    parser.add_argument(
        "--keep-rules", action="store_true", help="fit the mixes alone, with the rules as they are"
    )
    arguments = parser.parse_args()
    trained, held = read_groups(arguments.data, arguments.sources, arguments.held_out)
    names = ", ".join(arguments.sources)
    if arguments.keep_rules:
        rules = load_mixes()["rules"]
        rules_mix, on = (np.array(rules.bias), np.array(rules.matrix)), rules.fitted_on
    else:
        _, seen, seen_gold, _ = table(trained)
        rules_mix, on = fit(seen, seen_gold), f"{len(seen)} training pairs of {names}"
        # Swapped roles are too rare in the pairs to fit: they weigh as much as a negation.
        rules_mix[1][:, RULE_FEATURES.index("swapped")] = rules_mix[1][:, RULE_FEATURES.index("negation")]
    mixes = [record("rules", RULE_FEATURES, rules_mix, on, "")]
    examples, rules, gold, half = table(held)
    rule_logs = log_softmax(rules, *rules_mix)
    print(f"rules: {on}; {len(gold)} pairs held out, labels {np.bincount(gold).tolist()}")
    print(f"rules alone: {figures(rule_logs[half], gold[half])}")
    on = f"{len(gold)} held-out pairs of {names}"
    differs = rules[:, [RULE_FEATURES.index(f"{kind} different") for kind in ("value", "name")]].any(axis=1)
    decided = differs & (rule_logs.argmax(axis=1) == REFUTES)
    for model in arguments.models:
        judge = load_judge(model)
        judged = [[v.probabilities[label] for label in FEVER_LABELS] for v in judge.judge(examples)]
        spoken = np.array([bounded_logs(row) for row in judged])
        both = np.concatenate([spoken, rule_logs], axis=1)
        alone = log_softmax(spoken[half], *fit(spoken[~half], gold[~half]))
        mixed = log_softmax(both[half], *fit(both[~half], gold[~half]))
        overridden = np.where(decided[half, None], rule_logs[half], mixed)
        gain = np.mean(overridden.argmax(axis=1) == gold[half]) - np.mean(mixed.argmax(axis=1) == gold[half])
        print(
            f"{model}: {figures(spoken[half], gold[half])}, refitted {figures(alone, gold[half])}, "
            f"with rules {figures(mixed, gold[half])}, rules deciding where facts differ "
            f"{figures(overridden, gold[half])}"
        )
        weights = str(judge.identity["weights"])
        mixes.append(record(model, MIX_FEATURES, fit(both, gold), on, weights, bool(gain > -LEVEL)))
    own = (
        np.zeros(3),
        np.eye(3, len(MIX_FEATURES)),
    )  # of a judge that nothing was fitted for: what it says itself
    mixes.append(record("default", MIX_FEATURES, own, "nothing: the judge's own probabilities", "", True))
    HOME.write_text(json.dumps(mixes, indent=1) + "\n", encoding="utf-8")
    for name, column in zip(RULE_FEATURES, rules_mix[1].T, strict=True):
        print(f"  {name:16s} " + " ".join(f"{weight:+.2f}" for weight in column))


if __name__ == "__main__":
    main()
