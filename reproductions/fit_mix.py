"""Fit how a judge's probabilities and the comparison of facts are mixed: python reproductions/fit_mix.py --data DATA.

Fitted on claims that no model of the package was trained on: the pairs that `adjudge data mix` holds out of every
source by a hash of the page or text. Every second group of them is fitted on, the others measure it; what is stored is
fitted on all. Writes src/adjudge/judges/mix.json.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from adjudge.data.text import clean_text
from adjudge.facts.compare import compare
from adjudge.judges.folder import load_judge
from adjudge.judges.mixed import JUDGE_FEATURES, RULE_FEATURES, WEIGHTS, judge_features, rule_features
from adjudge.training.mix.settings import read_mix
from adjudge.training.mix.sources import groups_of
from adjudge.types import FEVER_LABELS, Example

HOME = Path(__file__).parents[1] / "src" / "adjudge" / "judges" / WEIGHTS
SOURCES = ("vitaminc", "conjnli", "semiauto_wiki", "check_covid", "creak", "fever")
RIDGE = 1e-3


def held_out(data: Path, sources: tuple[str, ...] = SOURCES) -> list[list[Example]]:
    """The groups that are held out of the sources, as they are in the files: no views."""
    settings = read_mix("small-judge")
    groups: list[list[Example]] = []
    for one in settings.source:
        if one.name in sources:
            groups += groups_of(one, settings, data, 1000)[1][: one.held_out_most * 2]
    return [[cleaned(example) for example in group] for group in groups]


def cleaned(example: Example) -> Example:
    evidence = tuple(replace(s, text=clean_text(s.text)) for s in example.evidence[:5])
    return replace(example, claim=clean_text(example.claim), evidence=evidence)


def fit(features: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bias (3,) and matrix (3, F) that minimise the mean −log p of the gold labels, with a ridge."""
    n, f = features.shape
    onehot = np.eye(3)[gold]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        w = flat.reshape(3, f + 1)
        z = features @ w[:, 1:].T + w[:, 0]
        z -= z.max(axis=1, keepdims=True)
        log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        slope = (np.exp(log_p) - onehot) / n
        gradient = np.concatenate([slope.sum(axis=0)[:, None], slope.T @ features], axis=1)
        gradient[:, 1:] += 2 * RIDGE * w[:, 1:]
        return float(-(onehot * log_p).sum() / n + RIDGE * (w[:, 1:] ** 2).sum()), gradient.ravel()

    result = minimize(loss, np.zeros(3 * (f + 1)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    w = result.x.reshape(3, f + 1)
    return w[:, 0], w[:, 1:]


def accuracy(
    features: np.ndarray, gold: np.ndarray, bias: np.ndarray, matrix: np.ndarray
) -> tuple[float, float]:
    p = (features @ matrix.T + bias).argmax(axis=1)
    balanced = float(np.mean([(p[gold == k] == k).mean() for k in range(3)]))
    return float((p == gold).mean()), balanced


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", nargs="+", default=["small", "broad"])
    arguments = parser.parse_args()
    groups = held_out(arguments.data)
    examples = [example for group in groups for example in group]
    half = np.array([number % 2 for number, group in enumerate(groups) for _ in group], dtype=bool)
    gold = np.array([FEVER_LABELS.index(str(example.label)) for example in examples])
    rules = np.array([rule_features(e.claim, e.evidence, compare(e.claim, e.evidence)) for e in examples])
    print(f"{len(examples)} held-out pairs of {', '.join(SOURCES)}; labels {np.bincount(gold).tolist()}")
    mixes: list[dict[str, Any]] = []
    fitted_on = f"{len(examples)} held-out pairs of {', '.join(SOURCES)}"

    def store(
        name: str, features: np.ndarray, labels: np.ndarray, columns: tuple[str, ...], weights: str = ""
    ) -> None:
        bias, matrix = fit(features, labels)
        mixes.append(
            {
                "name": name,
                "features": list(columns),
                "bias": np.round(bias, 4).tolist(),
                "matrix": np.round(matrix, 4).tolist(),
                "weights": weights,
                "fitted_on": fitted_on,
            }
        )

    store("rules", rules, gold, RULE_FEATURES)
    pooled = []
    print(
        "rules alone: {:.1%} balanced {:.1%}".format(
            *accuracy(rules[half], gold[half], *fit(rules[~half], gold[~half]))
        )
    )
    for model in arguments.models:
        judge = load_judge(model)
        spoken = np.array([judge_features(v.probabilities) for v in judge.judge(examples)])
        both = np.concatenate([spoken, rules], axis=1)
        pooled.append(both)
        alone = spoken[half].argmax(axis=1)
        print(
            f"{model}: judge alone {np.mean(alone == gold[half]):.1%} balanced "
            f"{np.mean([(alone[gold[half] == k] == k).mean() for k in range(3)]):.1%}; "
            + "refitted {:.1%} balanced {:.1%}; ".format(
                *accuracy(spoken[half], gold[half], *fit(spoken[~half], gold[~half]))
            )
            + "with facts {:.1%} balanced {:.1%}".format(
                *accuracy(both[half], gold[half], *fit(both[~half], gold[~half]))
            )
        )
        store(model, both, gold, (*JUDGE_FEATURES, *RULE_FEATURES), str(judge.identity["weights"]))
    store("default", np.concatenate(pooled), np.tile(gold, len(pooled)), (*JUDGE_FEATURES, *RULE_FEATURES))
    HOME.write_text(json.dumps(mixes, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
