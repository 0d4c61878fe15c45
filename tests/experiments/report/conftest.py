"""A comparison small enough to know by heart, whose texts try to break out of every format."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from adjudge.config import settings_from, to_toml
from adjudge.data.verdicts import write_verdicts
from adjudge.experiments.plan import Arm
from adjudge.experiments.report.blocks import Report
from adjudge.experiments.report.content import Content, gather
from adjudge.experiments.report.html import to_html
from adjudge.experiments.report.sections import build_report
from adjudge.types import FEVER_LABELS, Evidence, Verdict

S, R, N = FEVER_LABELS.names
GOLD = [S, R, N] * 4  # twelve claims
HOSTILE = "<script>alert(1)</script> | a_b*c* `d` [e](http://f.g) $x^2$ & 50% #1 {h} \\i ~j \"k\" 'l'"
TITLE = f"Title\n\\end{{document}} {HOSTILE}"
BACKBONE = "my_back$bone<b>"

BASE = Arm(BACKBONE, "ce", weighted=False)
SR = Arm(BACKBONE, "sr", weighted=False, lam=0.25)
WEIGHTED = Arm(BACKBONE, "sr", weighted=True, lam=0.5, beta=0.999999)


def wrong(label: str) -> str:
    """The verdict a mistaken arm gives: the opposite, and SUPPORTS where there is none."""
    return {S: R, R: S, N: S}[label]


def answers(right: set[int]) -> list[str]:
    return [label if place in right else wrong(label) for place, label in enumerate(GOLD)]


# By arm and seed: claims answered rightly, LA on the tuning claims.
# CE: 5 of 12 chosen (tuning LA 0.6), SR: all 12, weighted SR: 4 of 12.
RUNS: dict[Arm, list[tuple[set[int], float]]] = {
    BASE: [(set(range(5)), 0.6), (set(range(6)), 0.5)],
    SR: [(set(range(3)), 0.55), (set(range(12)), 0.65)],
    WEIGHTED: [(set(range(4)), 0.7), (set(range(4)), 0.4)],
}


def verdicts(labels: list[str], weight: float) -> list[Verdict]:
    return [
        Verdict(
            place,
            f"Claim {place} {HOSTILE}",
            label,
            {name: 0.8 if name == label else 0.1 for name in FEVER_LABELS},
            (
                Evidence(f"Gold {place} {HOSTILE}", f"Page_{place}", place, 1.0, weight),
                Evidence("Other.", "Other_-LRB-page-RRB-", 0, 0.5, 1 - weight),
            ),
        )
        for place, label in enumerate(labels)
    ]


def write_gold(path: Path) -> Path:
    with path.open("w") as stream:
        for place, label in enumerate(GOLD):
            ref = [0, 0, None, None] if label == N else [0, 0, f"Page_{place}", place]
            record = {"id": place, "claim": f"Claim {place} {HOSTILE}", "label": label, "evidence": [[ref]]}
            stream.write(json.dumps(record) + "\n")
    return path


def write_run(folder: Path, gold: Path, arm: Arm, seed: int, right: set[int], tuning: float) -> None:
    folder.mkdir(parents=True)
    objective = {"name": arm.objective, "lam": arm.lam, "beta": arm.beta, "variant": arm.variant}
    settings = settings_from(
        {
            "data": {"train": gold, "dev": gold, "test": gold, "gold": gold},
            "model": {"backbone": arm.backbone},
            "objective": {key: value for key, value in objective.items() if value is not None},
            "training": {"seed": seed},
        }
    )
    (folder / "config.toml").write_text(to_toml(settings))
    judgement = folder / "judgements" / "gold"
    for path in (judgement / "predictions.jsonl", folder / "dev_predictions.jsonl"):
        write_verdicts(path, verdicts(answers(right), 0.75 if arm == BASE else 0.4))
    test_file = {"test": {"path": str(gold), "sha256": "ab" * 32}}
    (judgement / "judgement.json").write_text(json.dumps({"data": test_file}))
    with (folder / "metrics.jsonl").open("w") as stream:
        for step in (1, 2, 3, 4):
            stream.write(json.dumps({"step": step, "split": "train", "loss": 2.0 / step}) + "\n")
        for step, accuracy in ((2, 0.3), (2, 0.4), (4, tuning)):  # step 2 was repeated after an interruption
            stream.write(json.dumps({"step": step, "split": "dev", "accuracy": accuracy}) + "\n")
    manifest = {
        "data": {},
        "best_dev_label_accuracy": tuning,
        "seconds": 2.5,
        "versions": {"python": "3.11.7"},
        "machine": {"cpu": HOSTILE, "gpus": []},
        "git_commit": "c0ffee",
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))


def write_comparison(folder: Path) -> Path:
    folder.mkdir(parents=True)
    gold = write_gold(folder / "gold.jsonl")
    runs = []
    for arm, seeds in RUNS.items():
        for seed, (right, tuning) in enumerate(seeds):
            name = f"{arm.objective}{arm.weighted:d}{seed}"
            write_run(folder / "runs" / name, gold, arm, seed, right, tuning)
            runs.append({"arm": asdict(arm), "seed": seed, "run": f"runs/{name}"})
    record = {
        "title": TITLE,
        "command": f"adjudge compare '{HOSTILE}'",
        "protocol": "nested",
        "gold_injected": True,
        "test": str(gold),
        "gold": str(gold),
        "judgement": "gold",
        "runs": runs,
    }
    (folder / "comparison.json").write_text(json.dumps(record))
    return folder


def write_tuning(folder: Path, protocol: str = HOSTILE) -> Path:
    folder.mkdir(parents=True)
    # λ 1/32: mean of 60 and 62 is 61; λ 1/4: 64 with this β, 63 with the other; λ 1: one run of two was stopped.
    points = [
        (0.03125, 0.999, 0, 0.60, "finished"),
        (0.03125, 0.999, 1, 0.62, "finished"),
        (0.25, 0.999, 0, 0.63, "finished"),
        (0.25, 0.9999, 0, 0.64, "finished"),
        (1.0, 0.999, 0, 0.50, "finished"),
        (1.0, 0.999, 1, 0.10, "stopped"),
    ]
    names = ("lam", "beta", "seed", "dev_label_accuracy", "state")
    record = {
        "objective": "sr",
        "weighted": True,
        "points": [dict(zip(names, point, strict=True), step=10) for point in points],
        "selected": {"lam": 0.25, "beta": 0.9999},
        "protocol": protocol,
    }
    (folder / "tuning.json").write_text(json.dumps(record))
    return folder


@pytest.fixture(scope="session")
def tuning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tuning(tmp_path_factory.mktemp("tuning") / "sr")


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished comparison; tests read it and write elsewhere."""
    return write_comparison(tmp_path_factory.mktemp("comparison") / "three")


@pytest.fixture
def own_comparison(tmp_path: Path) -> Path:
    """One that a test may change."""
    return write_comparison(tmp_path / "three")


@pytest.fixture(scope="session")
def content(comparison: Path, tuning: Path) -> Content:
    return gather(comparison, tuning=[tuning])


@pytest.fixture(scope="session")
def report(content: Content) -> Report:
    return build_report(content)


@pytest.fixture(scope="session")
def source(report: Report) -> str:
    """The page of the comparison."""
    return to_html(report)
