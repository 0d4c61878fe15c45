"""What a plan will cost, before anything runs: an estimate from the size of the work and this machine's speed."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from adjudge.data.formats import read_examples
from adjudge.io.jsonl import read_lines
from adjudge.runs.folder import RunFolder
from adjudge.runs.jobs import Job

LAYERS = {
    "minilm": (6, 1.77e6),
    "bert-base": (12, 7.09e6),
    "bert-large": (24, 12.6e6),
    "roberta-large": (24, 12.6e6),
}
"""Layers of a known backbone and the weights of one of them that multiply every token."""

_CHARACTERS_PER_TOKEN = 4.2  # of English text, for the word pieces of BERT
_SAMPLE = 200  # claims looked at for their length
_USE = 0.5  # of the speed of a large matrix product, what training reaches


class Cost(NamedTuple):
    """``flops`` of the unfinished runs; ``seconds`` on this machine, or None where it cannot be estimated."""

    runs: int
    finished: int
    flops: float | None
    seconds: float | None


def estimate(jobs: Sequence[Job]) -> Cost:
    """Measured from finished runs where there are any, else FLOPs over the measured speed of this machine."""
    runs = [(job, RunFolder(job.folder)) for job in jobs]
    left = [job for job, run in runs if not run.is_finished]
    done = [run.manifest()["seconds"] for _, run in runs if run.is_finished]
    flops = _flops(left)
    if done:
        seconds: float | None = sum(done) / len(done) * len(left)
    else:
        seconds = None if flops is None else flops / (_USE * _speed())
    return Cost(len(jobs), len(done), flops, seconds)


def _flops(jobs: Sequence[Job]) -> float | None:
    if not jobs:
        return 0.0
    tokens, claims = _size(jobs[0])
    predicted = _count_predicted(jobs[0], claims)
    total = 0.0
    for job in jobs:
        settings = job.settings
        if settings.model.backbone not in LAYERS:
            return None
        layers, weights = LAYERS[settings.model.backbone]
        trained = max(layers - settings.training.freeze_layers, 0)
        # Forward 2 and backward 4 operations for each weight and token; frozen layers run once, and are cached.
        total += trained * weights * tokens * (6 * claims * settings.training.epochs + 2 * predicted)
    return total


def _count_predicted(job: Job, claims: int) -> int:
    """How many claims are predicted, the tuning claims at every evaluation and once more."""
    data, training = job.settings.data, job.settings.training
    steps = training.epochs * -(-claims // training.step_size)
    tuning = 0 if data.dev is None else min(_count(data.dev), data.dev_limit or sys.maxsize)
    return tuning * (1 + -(-steps // training.eval_every)) + (0 if data.test is None else _count(data.test))


def _count(path: Path) -> int:
    return sum(1 for _ in read_lines(path))


def _size(job: Job) -> tuple[float, int]:
    """Tokens per claim, over its rows, and the number of training claims."""
    data = job.settings.data
    claims = read_examples(data.train or "", labels=data.label_set, field=data.field)
    sample = list(itertools.islice(claims, _SAMPLE))
    count = len(sample) + sum(1 for _ in claims)
    longest = job.settings.model.max_length
    tokens = 0.0
    for example in sample:
        for sentence in example.evidence or ("",):
            written = f"{example.claim} {getattr(sentence, 'page', '')} {getattr(sentence, 'text', '')}"
            tokens += min(longest, 4 + len(written) / _CHARACTERS_PER_TOKEN)
    return tokens / len(sample), min(count, data.limit or count)


def _speed() -> float:
    """Floating-point operations per second of a matrix product here, the best of half a second."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    size = 4096 if device == "cuda" else 768
    a = torch.rand(size, size, device=device)
    fastest, until = float("inf"), time.perf_counter() + 0.5
    while time.perf_counter() < until:
        started = time.perf_counter()
        (a @ a).sum().item()  # item() waits for the device
        fastest = min(fastest, time.perf_counter() - started)
    return 2 * size**3 / fastest
