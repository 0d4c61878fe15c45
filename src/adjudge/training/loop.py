"""The training loop, in one visible function."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from adjudge.config import TrainingSettings
from adjudge.data.files import write_text
from adjudge.errors import DataError, TrainingError
from adjudge.objectives import Objective
from adjudge.training.checkpoint import Progress, VerdictModel, load_progress, save_model, save_progress
from adjudge.training.dataset import Dataset, chunks, cut
from adjudge.training.distributed import Workers
from adjudge.training.predict import log_probabilities

BATCH_TOKENS = 8192
"""Most tokens of a forward pass, padding counted, so that long rows do not need more memory."""


@dataclass(frozen=True)
class Metric:
    """One line of ``metrics.jsonl``: a training step, or an evaluation on the dev claims."""

    step: int
    epoch: float
    split: str
    loss: float
    label_accuracy: float
    lr: float
    seconds: float


def train(
    model: VerdictModel,
    train_data: Dataset,
    dev_data: Dataset | None,
    objective: Objective,
    settings: TrainingSettings,
    folder: Path,
    *,
    identity: str = "",
    resume: bool = False,
    workers: Workers | None = None,
    report: Callable[[Metric, int], None] = lambda metric, steps: None,
) -> Progress:
    """Train a model; ``folder/checkpoint`` holds its best weights by dev LA, of equals the last; without dev the last.

    Args:
        model: trained in place.
        train_data: claims with labels.
        dev_data: claims that choose the checkpoint, or None.
        objective: log-probabilities and gold to loss.
        settings: optimizer and schedule.
        folder: the run folder, for ``metrics.jsonl``, ``checkpoint/`` and ``resume.safetensors``.
        identity: a hash of what else defines the run; a state of another identity, of other settings
            or of another number of workers is not resumed.
        resume: go on from ``resume.safetensors`` when it is there.
        workers: the other processes of this training.
        report: called with every metric and the number of steps in all.
    """
    _check_labelled(train_data, "training", model)
    if dev_data is not None:
        _check_labelled(dev_data, "dev", model)
    workers = workers or Workers()
    device = next(model.module.parameters()).device
    steps_per_epoch = math.ceil(len(train_data) / settings.step_size)
    steps = steps_per_epoch * settings.epochs
    torch.manual_seed(settings.seed + workers.rank)
    optimizer = make_optimizer(model.module, settings)
    identity = f"{identity} {settings.model_dump_json()} {workers.world}"
    progress, log = Progress(), _MetricsLog(folder / "metrics.jsonl", workers)
    resume_path = folder / "resume.safetensors"
    if resume and resume_path.exists():
        progress, random_states = load_progress(resume_path, identity, model.module, optimizer)
        _set_random_state(device, random_states[workers.rank])
    elif workers.is_first:
        resume_path.unlink(missing_ok=True)  # of an earlier run, which must not continue this one
    started = time.perf_counter() - log.start_at(progress.step)
    model.module.train()
    while progress.step < steps:
        step = progress.step
        claims = step_claims(len(train_data), step, steps_per_epoch, settings)
        rate = set_rate(optimizer, schedule(step, steps, settings.warmup))
        loss, correct = _step(model.module, train_data, objective, settings, claims, step, workers, device)
        _check_finite(step + 1, "loss", loss)
        workers.add_gradients(model.module)
        norm = nn.utils.clip_grad_norm_(model.module.parameters(), settings.clip)
        _check_finite(step + 1, "gradient's norm", float(norm))
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        progress = replace(progress, step=step + 1)
        seconds = time.perf_counter() - started
        metric = Metric(step + 1, (step + 1) / steps_per_epoch, "train", loss, correct, rate, seconds)
        log.write(metric)
        report(metric, steps)
        if progress.step % settings.eval_every == 0 or progress.step == steps:
            if dev_data is not None:
                metric = _evaluate(model, dev_data, objective, metric, started)
                _check_finite(progress.step, "dev loss", metric.loss)
                log.write(metric)
                progress = _keep_best(model, folder, progress, metric.label_accuracy, workers)
            random_states = workers.gather(_random_state(device))
            if workers.is_first:
                save_progress(resume_path, progress, identity, model.module, optimizer, random_states)
            workers.wait()
            if dev_data is not None:
                report(metric, steps)  # when the state is saved: who stops the run here can go on from here
    if dev_data is None:
        progress = _keep_best(model, folder, progress, math.nan, workers)
    return progress


def _check_labelled(data: Dataset, what: str, model: VerdictModel) -> None:
    if not len(data):
        raise DataError(f"The {what} data holds no claims.")
    missing = [data.ids[i] for i in (data.labels < 0).nonzero()[0][:5]]
    if missing:
        raise DataError(
            f"The {what} data has claims without a label, such as {', '.join(map(str, missing))}; "
            f"expected one of {', '.join(model.labels)}."
        )


def _check_finite(step: int, what: str, value: float) -> None:
    if not math.isfinite(value):
        raise TrainingError(
            f"step {step}: the {what} is {value}. Training diverged; the run folder keeps the last good "
            "state. Lower training.lr or training.clip, or raise training.warmup."
        )


def _step(
    model: nn.Module,
    data: Dataset,
    objective: Objective,
    settings: TrainingSettings,
    claims: list[int],
    step: int,
    workers: Workers,
    device: torch.device,
) -> tuple[float, float]:
    """Gradients of one optimizer step: the mean over all its claims, however they are cut up."""
    total = objective.total(data.gold(claims).to(device))
    values = torch.zeros(2, device=device)  # loss, claims right
    shuffle = torch.Generator().manual_seed(_mix(settings.seed, step, workers.rank))
    mine = workers.share(claims)
    if objective.variant == "paper":  # any cut gives the same gradient; the released loss depends on it
        parts = cut(data, sorted(mine, key=data.longest_row), BATCH_TOKENS, settings.batch_size)
    else:
        parts = chunks(mine, settings.batch_size)
    for part in parts:
        batch = data.batch(part, shuffle if settings.shuffle_evidence else None).to(device)
        gold = data.gold(part).to(device)
        with _precision(device):
            log_probs: Tensor = model(batch).log_probs
        loss: Tensor = objective(log_probs, gold, total=total)
        loss.backward()
        values += torch.stack([loss.detach(), (log_probs.argmax(dim=-1) == gold).sum()])
    loss_sum, right = workers.add(values).tolist()
    return loss_sum, right / len(claims)


def step_claims(claims: int, step: int, steps_per_epoch: int, settings: TrainingSettings) -> list[int]:
    """The claims of an optimizer step: every epoch has its own order, the first one too."""
    epoch, within = divmod(step, steps_per_epoch)
    start = within * settings.step_size
    found: list[int] = _order(claims, settings.seed, epoch)[start : start + settings.step_size].tolist()
    return found


@lru_cache(maxsize=1)
def _order(claims: int, seed: int, epoch: int) -> Tensor:
    return torch.randperm(claims, generator=torch.Generator().manual_seed(_mix(seed, epoch, -1)))


def schedule(step: int, steps: int, warmup: float) -> float:
    """The rate's factor at a step: a linear rise over the warm-up, then a linear fall to zero."""
    rise = math.ceil(steps * warmup)
    if step < rise:
        return (step + 1) / rise
    return max(0.0, (steps - step) / max(1, steps - rise))


def _evaluate(model: VerdictModel, data: Dataset, objective: Objective, at: Metric, started: float) -> Metric:
    model.module.eval()
    log_probs = log_probabilities(model, data)
    model.module.train()
    gold = data.gold(range(len(data)))
    return replace(
        at,
        split="dev",
        loss=float(objective(log_probs, gold)),
        label_accuracy=float((log_probs.argmax(dim=-1) == gold).float().mean()),
        seconds=time.perf_counter() - started,
    )


def _keep_best(
    model: VerdictModel, folder: Path, progress: Progress, accuracy: float, workers: Workers
) -> Progress:
    if accuracy < progress.best_accuracy:  # of equals the last is kept, which has learnt for longer
        return progress
    if workers.is_first:
        save_model(model, folder / "checkpoint")
    return replace(progress, best_step=progress.step, best_accuracy=accuracy)


def make_optimizer(model: nn.Module, settings: TrainingSettings) -> torch.optim.Optimizer:
    """AdamW; biases and normalisation weights (all vectors) do not decay.

    Every group's ``peak`` is its highest rate: ``head_lr`` outside the backbone, which is made anew,
    ``lr`` inside.
    """
    groups: list[dict[str, Any]] = []
    for is_head, peak in ((False, settings.lr), (True, settings.head_lr or settings.lr)):
        trained = [p for name, p in model.named_parameters() if p.requires_grad and _is_head(name) == is_head]
        for is_matrix, decay in ((True, settings.weight_decay), (False, 0.0)):
            if chosen := [p for p in trained if (p.ndim > 1) == is_matrix]:
                groups.append({"params": chosen, "weight_decay": decay, "peak": peak})
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


def _precision(device: torch.device) -> AbstractContextManager[Any]:
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda")


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
        kept = [line for line in self._lines() if json.loads(line)["step"] <= step]
        write_text(self.path, "".join(f"{line}\n" for line in kept))
        return float(json.loads(kept[-1])["seconds"]) if kept else 0.0

    def write(self, metric: Metric) -> None:
        if self.active:
            with open(self.path, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(metric)) + "\n")

    def _lines(self) -> Iterator[str]:
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                json.loads(line)
            except json.JSONDecodeError:  # the line that was being written when the run died
                continue
            yield line
