"""The training loop, in one visible function, for whatever is trained: judges and rankers."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from adjudge.config import TrainingSettings
from adjudge.encoders.tensors import device_of
from adjudge.errors import TrainingError
from adjudge.io.files import write_text
from adjudge.training.distributed import Workers
from adjudge.training.progress import STATE, TrainingProgress, load_progress, save_progress

BATCH_TOKENS = 8192
"""Most tokens of a forward pass, padding counted, so that long rows do not need more memory."""


class Quality(NamedTuple):
    """Mean loss, and the share right: of claims for a judge, of pairs for a ranker."""

    loss: float
    accuracy: float


class Task(Protocol):
    """What the loop trains: a module, claims to train it on, and claims that choose the checkpoint."""

    @property
    def module(self) -> nn.Module:
        """Trained in place."""

    @property
    def claims(self) -> int:
        """How many claims there are to train on."""

    @property
    def dev_claims(self) -> int:
        """How many claims choose the checkpoint; without any, the last weights are kept."""

    def backward(self, claims: Sequence[int], shuffle: torch.Generator, workers: Workers) -> Quality:
        """Gradients of the mean loss over a step's claims, of this worker's share; the quality over all workers."""

    def evaluate(self) -> Quality:
        """The quality on the dev claims; the module is in eval mode."""

    def save(self, folder: Path) -> None:
        """Write the module as it is now."""


@dataclass(frozen=True)
class Metric:
    """One line of ``metrics.jsonl``: a training step, or an evaluation on the dev claims."""

    step: int
    epoch: float
    split: str
    loss: float
    accuracy: float
    lr: float
    seconds: float


MetricReport = Callable[[Metric, int], None]
"""Called with every metric and the number of steps in all."""


def train(
    task: Task,
    settings: TrainingSettings,
    folder: Path,
    *,
    identity: str = "",
    resume: bool = False,
    workers: Workers | None = None,
    report: MetricReport = lambda metric, steps: None,
) -> TrainingProgress:
    """Train; the task saves its best weights by dev accuracy, of equals the last; without dev claims the last.

    Args:
        task: what is trained.
        settings: optimizer and schedule.
        folder: for ``metrics.jsonl``, ``resume.safetensors`` and what the task saves.
        identity: a hash of what else defines the training; a state of another identity, of other settings
            or of another number of workers is not resumed.
        resume: go on from ``resume.safetensors`` when it is there.
        workers: the other processes of this training.
        report: called with every metric and the number of steps in all.
    """
    workers = workers or Workers()
    module, device = task.module, device_of(task.module)
    steps_per_epoch = math.ceil(task.claims / settings.step_size)
    steps = steps_per_epoch * settings.epochs
    torch.manual_seed(settings.seed + workers.rank)
    optimizer = make_optimizer(module, settings)
    identity = f"{identity} {settings.model_dump_json(exclude={'recompute'})} {workers.world}"
    progress, log = TrainingProgress(), _MetricsLog(folder / "metrics.jsonl", workers)
    resume_path = folder / STATE
    if resume and resume_path.exists():
        progress, random_states = load_progress(resume_path, identity, module, optimizer)
        _set_random_state(device, random_states[workers.rank])
    elif workers.is_first:
        resume_path.unlink(missing_ok=True)  # of an earlier run, which must not continue this one
    started = time.perf_counter() - log.start_at(progress.step)
    module.train()
    while progress.step < steps:
        step = progress.step
        claims = step_claims(task.claims, step, steps_per_epoch, settings)
        rate = set_rate(optimizer, schedule(step, steps, settings.warmup))
        shuffle = torch.Generator().manual_seed(_mix(settings.seed, step, workers.rank))
        quality = task.backward(claims, shuffle, workers)
        _check_finite(step + 1, "loss", quality.loss)
        workers.add_gradients(module)
        norm = nn.utils.clip_grad_norm_(module.parameters(), settings.clip)
        _check_finite(step + 1, "gradient's norm", float(norm))
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        progress = replace(progress, step=step + 1)
        seconds = time.perf_counter() - started
        metric = Metric(step + 1, (step + 1) / steps_per_epoch, "train", *quality, rate, seconds)
        log.write(metric)
        report(metric, steps)
        if progress.step % settings.eval_every == 0 or progress.step == steps:
            if task.dev_claims:
                metric = _evaluate(task, metric, started)
                log.write(metric)
                progress = _keep_best(task, folder, progress, metric.accuracy, workers)
            random_states = workers.gather(_random_state(device))
            if workers.is_first:
                save_progress(resume_path, progress, identity, module, optimizer, random_states)
            workers.wait()
            if task.dev_claims:
                report(metric, steps)  # when the state is saved: who stops the run here can go on from here
    if not task.dev_claims:
        progress = _keep_best(task, folder, progress, math.nan, workers)
        workers.wait()
    return progress


def _evaluate(task: Task, at: Metric, started: float) -> Metric:
    task.module.eval()
    quality = task.evaluate()
    task.module.train()
    _check_finite(at.step, "dev loss", quality.loss)
    return replace(at, split="dev", **quality._asdict(), seconds=time.perf_counter() - started)


def _keep_best(
    task: Task, folder: Path, progress: TrainingProgress, accuracy: float, workers: Workers
) -> TrainingProgress:
    if accuracy < progress.best_accuracy:  # of equals the last is kept, which has learnt for longer
        return progress
    if workers.is_first:
        task.save(folder)
    return replace(progress, best_step=progress.step, best_accuracy=accuracy)


def _check_finite(step: int, what: str, value: float) -> None:
    if not math.isfinite(value):
        raise TrainingError(
            f"step {step}: the {what} is {value}. Training diverged; the run folder keeps the last good "
            "state. Lower training.lr or training.clip, or raise training.warmup."
        )


def step_claims(claims: int, step: int, steps_per_epoch: int, settings: TrainingSettings) -> list[int]:
    """The claims of an optimizer step: every epoch has its own order, the first one too, unless the file's is kept."""
    epoch, within = divmod(step, steps_per_epoch)
    start = within * settings.step_size
    if not settings.shuffle_claims:
        return list(range(start, min(start + settings.step_size, claims)))
    order: list[int] = _order(claims, settings.seed, epoch)[start : start + settings.step_size].tolist()
    return order


@lru_cache(maxsize=1)
def _order(claims: int, seed: int, epoch: int) -> Tensor:
    return torch.randperm(claims, generator=torch.Generator().manual_seed(_mix(seed, epoch, -1)))


def schedule(step: int, steps: int, warmup: float) -> float:
    """The rate's factor at a step: a linear rise over the warm-up, then a linear fall to zero."""
    rise = math.ceil(steps * warmup)
    if step < rise:
        return (step + 1) / rise
    return max(0.0, (steps - step) / max(1, steps - rise))


def make_optimizer(model: nn.Module, settings: TrainingSettings) -> torch.optim.Optimizer:
    """AdamW; biases and normalisation weights (all vectors) do not decay.

    Every group's ``peak`` is its highest rate: ``head_lr`` outside the backbone, which is made anew,
    ``lr`` inside.
    """
    groups: list[dict[str, Any]] = []
    for is_head, peak in ((False, settings.lr), (True, settings.head_lr or settings.lr)):
        trained = [p for name, p in model.named_parameters() if p.requires_grad and _is_head(name) == is_head]
        for is_matrix, decay in ((True, settings.weight_decay), (False, 0.0)):
            if parameters := [p for p in trained if (p.ndim > 1) == is_matrix]:
                groups.append({"params": parameters, "weight_decay": decay, "peak": peak})
    return torch.optim.AdamW(groups, lr=settings.lr, fused=True)


def _is_head(name: str) -> bool:
    return not name.startswith("backbone.")


def set_rate(optimizer: torch.optim.Optimizer, factor: float) -> float:
    """Every group's rate at a factor of its peak; returns the first group's."""
    for group in optimizer.param_groups:
        group["lr"] = group["peak"] * factor
    return float(optimizer.param_groups[0]["lr"])


def _random_state(device: torch.device) -> Tensor:
    """The state that decides dropout on a device."""
    return torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()


def _set_random_state(device: torch.device, state: Tensor) -> None:
    if device.type == "cuda":
        torch.cuda.set_rng_state(state, device)
    else:
        torch.set_rng_state(state)


def mixed_precision(device: torch.device, precision: str) -> AbstractContextManager[Any]:
    """Matrix products in half precision where that was asked for, and on a GPU by default."""
    is_half = precision == "bf16" or (precision == "auto" and device.type == "cuda")
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=is_half)


def _mix(*parts: int) -> int:
    """One seed out of several numbers, well apart for neighbours."""
    seed = 0x9E3779B97F4A7C15
    for part in parts:
        seed = ((seed ^ (part + 0x632BE59BD9B4E019)) * 0xBF58476D1CE4E5B9) % (1 << 63)
    return seed


class _MetricsLog:
    """``metrics.jsonl``: one line a metric; a resumed run drops what was written after its state."""

    def __init__(self, path: Path, workers: Workers) -> None:
        self.path = path
        self.active = workers.is_first

    def start_at(self, step: int) -> float:
        """Drop what came after a step; returns the seconds that the run had taken by then."""
        if not self.active:
            return 0.0
        lines = [line for line in self._lines() if json.loads(line)["step"] <= step]
        write_text(self.path, "".join(f"{line}\n" for line in lines))
        return float(json.loads(lines[-1])["seconds"]) if lines else 0.0

    def write(self, metric: Metric) -> None:
        if self.active:
            with open(self.path, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(metric)) + "\n")

    def _lines(self) -> Iterator[str]:
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                decoded = json.loads(line)
            except (
                json.JSONDecodeError,
                RecursionError,
            ):  # the line that was being written when the run died
                continue
            if isinstance(decoded, dict) and {"step", "seconds"} <= decoded.keys():
                yield line
