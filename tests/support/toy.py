"""Claims so small that a comparison of them takes seconds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from adjudge.data.kgat import write_examples
from adjudge.experiments.plan import Plan, make_plan
from adjudge.types import Evidence, Example, Verdict

LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")


def toy_examples(claims: int, name: str = "claim") -> list[Example]:
    """Claims whose label a sentence gives away."""
    clue = {"SUPPORTS": "yes yes yes", "REFUTES": "no no no", "NOT ENOUGH INFO": "perhaps"}
    return [
        Example(
            i,
            f"{name} {i}",
            (Evidence(clue[LABELS[i % 3]], "Page", i), Evidence("other", "Page", 99)),
            LABELS[i % 3],
        )
        for i in range(claims)
    ]


TINY_RUN = {
    "model": {"backbone": "tiny", "max_length": 32},
    "training": {"epochs": 1, "batch_size": 8, "accumulation": 1, "eval_every": 2},
}


def toy_files(folder: Path) -> dict[str, Path]:
    """Training, dev and test claims in KGAT's format."""
    paths = {name: folder / f"{name}.jsonl" for name in ("train", "dev", "test")}
    for name, path in paths.items():
        write_examples(path, toy_examples(24 if name == "train" else 9, f"{name} claim"))
    return paths


def toy_plan(files: Mapping[str, Path], **grid: object) -> Plan:
    """A comparison that takes seconds."""
    run = {"model": {"max_length": 32}, "training": TINY_RUN["training"], "data": dict(files)}
    return make_plan({"run": run, "grid": {"backbones": ["tiny"], "seeds": [0], **grid}})


def toy_verdict(number: int, said: str) -> Verdict:
    """A verdict of 0.8 for the label whose first letter is given."""
    label = next(name for name in LABELS if name.startswith(said))
    probabilities = {name: 0.8 if name == label else 0.1 for name in LABELS}
    return Verdict(number, f"claim {number}", label, probabilities, (Evidence("yes", "Page", number),))
