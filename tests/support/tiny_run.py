"""A training small enough for a test, in this process or as a script that other processes run."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from adjudge.config import ModelSettings, TrainingSettings
from adjudge.encoders.dataset import Dataset, tokenize
from adjudge.judges.row_model import RowJudge, build
from adjudge.objectives.loss import Objective
from adjudge.training.distributed import Workers, workers
from adjudge.training.judge import train_judge
from adjudge.training.loop import Metric
from adjudge.types import FEVER_LABELS, Evidence, Example

KEYWORDS = {"SUPPORTS": "yes", "REFUTES": "no", "NOT ENOUGH INFO": "hm"}
DEFAULTS: dict[str, Any] = {
    "epochs": 2,
    "batch_size": 2,
    "accumulation": 2,
    "lr": 1e-3,
    "eval_every": 3,
    "weight_decay": 0.01,
    "seed": 5,
}


def examples(count: int, start: int = 0) -> list[Example]:
    """Claims of zero to three sentences; a word of the claim tells the label."""
    labels = list(FEVER_LABELS)
    made = []
    for i in range(start, start + count):
        label = labels[(i * 7 + i // 3) % 3]
        sentences = [f"{'abcdefghij'[(i + n) % 10]} stands at {n}" for n in range(i % 4)]
        evidence = tuple(Evidence(text, page=f"Page_{i}", line=n) for n, text in enumerate(sentences))
        made.append(Example(i, f"{KEYWORDS[label]} it is {i}", evidence, label))
    return made


def make_model(
    dropout: float = 0.1, freeze_layers: int = 0, freeze_embeddings: bool = False, **settings: Any
) -> RowJudge:
    """The same weights every time; ``dropout`` holds for the backbone too."""
    torch.manual_seed(0)
    model = build(
        ModelSettings(**{"backbone": "tiny", "max_length": 32, "dropout": dropout, **settings}),
        FEVER_LABELS,
        freeze_layers,
        freeze_embeddings,
    )
    for module in model.module.modules():
        if isinstance(module, nn.Dropout):
            module.p = dropout
    return model


def data_for(model: RowJudge, claims: int = 14, dev: int = 9) -> tuple[Dataset, Dataset]:
    return (
        tokenize(examples(claims), model.writer, model.labels),
        tokenize(examples(dev, start=100), model.writer, model.labels),
    )


def run(
    folder: Path,
    *,
    dropout: float = 0.1,
    claims: int = 14,
    with_dev: bool = True,
    objective: Any = None,
    model: RowJudge | None = None,
    resume: bool = False,
    identity: str = "tiny",
    team: Workers | None = None,
    report: Callable[[Metric, int], None] = lambda metric, steps: None,
    **changes: Any,
) -> Any:
    """Train; returns (model, progress, weights)."""
    settings = TrainingSettings(**{**DEFAULTS, **changes})
    model = model or make_model(dropout, settings.freeze_layers, settings.freeze_embeddings)
    train_data, dev_data = data_for(model, claims)
    progress = train_judge(
        model,
        train_data,
        dev_data if with_dev else None,
        objective or Objective("sr", lam=0.5),
        settings,
        folder,
        identity=identity,
        resume=resume,
        workers=team,
        report=report,
    )
    return model, progress, {name: p.detach().clone() for name, p in model.module.state_dict().items()}


def comparable(weights: dict[str, Any]) -> dict[str, Any]:
    """Weights whose gradient is more than rounding noise, which Adam would blow up to whole steps.

    A constant added to all scores of a softmax cancels out; and no two tokens here match exactly or are opposite, so
    the first and the last kernel are such constants too.
    """
    cancelled = ("node_score.bias", "token_score.bias", "attention.2.bias", "attention.self.key.bias")
    kept = {name: weight for name, weight in weights.items() if not name.endswith(cancelled)}
    return {**kept, "node_score.weight": weights["node_score.weight"][:, 1:-1]}


def kill_at(step: int) -> Callable[[Metric, int], None]:
    """End this process the hard way, as a power cut would, once a step is done."""

    def report(metric: Metric, steps: int) -> None:
        if metric.step == step and metric.split == "train":
            os.kill(os.getpid(), signal.SIGKILL)

    return report


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kill-at", type=int, default=0)
    parser.add_argument("--options", type=json.loads, default={})
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with workers(torch.device("cpu")) as team:
        group = weakref.ref(dist.group.WORLD) if team.world > 1 else lambda: None
        run(arguments.folder, team=team, report=kill_at(arguments.kill_at), **arguments.options)
    sys.stdout.write("finished\n" if group() is None else "finished, but its process group lives on\n")


if __name__ == "__main__":
    main()
