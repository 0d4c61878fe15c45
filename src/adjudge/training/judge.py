"""Training a judge: an objective over its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from adjudge.config import TrainingSettings
from adjudge.encoders.batch import Batch
from adjudge.encoders.dataset import Dataset, cut_into_batches
from adjudge.encoders.tensors import device_of
from adjudge.errors import ConfigError, DataError
from adjudge.io.chunks import chunks
from adjudge.judges.folder import save_model
from adjudge.judges.predict import log_probabilities
from adjudge.judges.row_model import RowJudge
from adjudge.objectives.loss import Objective
from adjudge.training.distributed import Workers
from adjudge.training.loop import BATCH_TOKENS, MetricReport, Quality, mixed_precision, train
from adjudge.training.progress import TrainingProgress
from adjudge.training.teacher import Teacher


def train_judge(
    model: RowJudge,
    train_data: Dataset,
    dev_data: Dataset | None,
    objective: Objective,
    settings: TrainingSettings,
    folder: Path,
    *,
    teacher: Teacher | None = None,
    identity: str = "",
    resume: bool = False,
    workers: Workers | None = None,
    report: MetricReport = lambda metric, steps: None,
) -> TrainingProgress:
    """Train a judge in place; ``folder/checkpoint`` holds its best weights by dev LA. See ``loop.train``.

    Args:
        model: trained in place.
        train_data: claims with labels.
        dev_data: claims that choose the checkpoint, or None.
        objective: log-probabilities and gold to loss.
        settings: optimizer and schedule.
        folder: the run folder.
        teacher: another judge's probabilities on the training claims, to learn from beside their labels.
        identity: a hash of what else defines the run.
        resume: go on from ``resume.safetensors`` when it is there.
        workers: the other processes of this training.
        report: called with every metric and the number of steps in all.
    """
    _check_labelled(train_data, "training", model)
    if dev_data is not None:
        _check_labelled(dev_data, "dev", model)
    if settings.mixup and not getattr(model.module, "mixes", False):
        raise ConfigError(
            f"training.mixup is {settings.mixup:g}, but {model.settings.kind} does not mix claims; "
            "use model.kind concat or bevers, or leave mixup at 0."
        )
    if settings.mixup and teacher is not None:
        raise ConfigError(
            "training.mixup mixes claims, and a teacher judged them one by one: use one of the two."
        )
    model.module.backbone.recompute = settings.recompute
    task = JudgeTask(model, train_data, dev_data, objective, settings, teacher)
    return train(task, settings, folder, identity=identity, resume=resume, workers=workers, report=report)


@dataclass(frozen=True)
class JudgeTask:
    """A judge under an objective, for the loop."""

    model: RowJudge
    data: Dataset
    dev: Dataset | None
    objective: Objective
    settings: TrainingSettings
    teacher: Teacher | None = None

    @property
    def module(self) -> nn.Module:
        """The judge's."""
        module: nn.Module = self.model.module
        return module

    @property
    def claims(self) -> int:
        """How many there are to train on."""
        return len(self.data)

    @property
    def dev_claims(self) -> int:
        """How many choose the checkpoint."""
        return 0 if self.dev is None else len(self.dev)

    def backward(self, claims: Sequence[int], shuffle: torch.Generator, workers: Workers) -> Quality:
        """Gradients of one optimizer step: the mean over all its claims, however they are cut up."""
        data, objective, settings = self.data, self.objective, self.settings
        device = device_of(self.module)
        total = objective.total(data.gold(claims).to(device))
        values = torch.zeros(2, device=device)  # loss, claims right
        # A joined row stands last; its sentences were shuffled when it was written.
        shuffled = settings.shuffle_evidence and not self.model.writer.layout.joined_row
        mine = workers.share(claims)
        if objective.variant == "paper":  # any cut gives the same gradient; the released loss depends on it
            parts = cut_into_batches(
                data, sorted(mine, key=data.longest_row), BATCH_TOKENS, settings.batch_size
            )
        else:
            parts = chunks(mine, settings.batch_size)
        for part in parts:
            batch = data.batch(part, shuffle if shuffled else None).to(device)
            gold = data.gold(part).to(device)
            if settings.mixup:
                batch = mix_claims(batch, settings.mixup, shuffle)
            with mixed_precision(device, settings.precision):
                log_probs: Tensor = self.module(batch).log_probs
            loss: Tensor = batch.share * objective(log_probs, gold, total=total)
            if batch.partner is not None:
                loss = loss + (1 - batch.share) * objective(log_probs, gold[batch.partner], total=total)
            if self.teacher is not None:
                loss = self.teacher.mix(loss, log_probs, part, len(claims))
            loss.backward()
            values += torch.stack([loss.detach(), (log_probs.argmax(dim=-1) == gold).sum()])
        loss_sum, right = workers.add(values).tolist()
        return Quality(loss_sum, right / len(claims))

    def evaluate(self) -> Quality:
        """Loss and LA on the dev claims."""
        if self.dev is None:
            raise DataError("The dev data holds no claims.")
        log_probs, gold = log_probabilities(self.model, self.dev), self.dev.gold(range(len(self.dev)))
        accuracy = float((log_probs.argmax(dim=-1) == gold).float().mean())
        return Quality(float(self.objective(log_probs, gold)), accuracy)

    def save(self, folder: Path) -> None:
        """Into the checkpoint of the run."""
        save_model(self.model, folder / "checkpoint")


def mix_claims(batch: Batch, alpha: float, generator: torch.Generator) -> Batch:
    """Mixup (Zhang et al., 2018): every claim gets a partner of its batch, and a share of Beta(α, α) of itself."""
    partner = torch.randperm(len(batch), generator=generator).to(batch.row_of.device)
    seed = int(torch.randint(2**31, (), generator=generator))
    return replace(batch, partner=partner, share=float(np.random.default_rng(seed).beta(alpha, alpha)))


def _check_labelled(data: Dataset, what: str, model: RowJudge) -> None:
    if not len(data):
        raise DataError(f"The {what} data holds no claims.")
    missing = [data.ids[i] for i in (data.labels < 0).nonzero()[0][:5]]
    if missing:
        raise DataError(
            f"The {what} data has claims without a label, such as {', '.join(map(str, missing))}; "
            f"expected one of {', '.join(model.labels)}."
        )
