"""Training a judge: an objective over its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from adjudge.config import TrainingSettings
from adjudge.encoders.dataset import Dataset, cut_into_batches
from adjudge.errors import DataError
from adjudge.io.chunks import chunks
from adjudge.judges.folder import save_model
from adjudge.judges.predict import log_probabilities
from adjudge.judges.row_model import RowJudge
from adjudge.objectives.loss import Objective
from adjudge.training.distributed import Workers
from adjudge.training.loop import BATCH_TOKENS, MetricReport, Quality, mixed_precision, train
from adjudge.training.progress import TrainingProgress


def train_judge(
    model: RowJudge,
    train_data: Dataset,
    dev_data: Dataset | None,
    objective: Objective,
    settings: TrainingSettings,
    folder: Path,
    *,
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
        identity: a hash of what else defines the run.
        resume: go on from ``resume.safetensors`` when it is there.
        workers: the other processes of this training.
        report: called with every metric and the number of steps in all.
    """
    _check_labelled(train_data, "training", model)
    if dev_data is not None:
        _check_labelled(dev_data, "dev", model)
    model.module.backbone.recompute = settings.recompute
    task = JudgeTask(model, train_data, dev_data, objective, settings)
    return train(task, settings, folder, identity=identity, resume=resume, workers=workers, report=report)


@dataclass(frozen=True)
class JudgeTask:
    """A judge under an objective, for the loop."""

    model: RowJudge
    data: Dataset
    dev: Dataset | None
    objective: Objective
    settings: TrainingSettings

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
        device = next(self.module.parameters()).device
        total = objective.total(data.gold(claims).to(device))
        values = torch.zeros(2, device=device)  # loss, claims right
        mine = workers.share(claims)
        if objective.variant == "paper":  # any cut gives the same gradient; the released loss depends on it
            parts = cut_into_batches(
                data, sorted(mine, key=data.longest_row), BATCH_TOKENS, settings.batch_size
            )
        else:
            parts = chunks(mine, settings.batch_size)
        for part in parts:
            batch = data.batch(part, shuffle if settings.shuffle_evidence else None).to(device)
            gold = data.gold(part).to(device)
            with mixed_precision(device):
                log_probs: Tensor = self.module(batch).log_probs
            loss: Tensor = objective(log_probs, gold, total=total)
            loss.backward()
            values += torch.stack([loss.detach(), (log_probs.argmax(dim=-1) == gold).sum()])
        loss_sum, right = workers.add(values).tolist()
        return Quality(loss_sum, right / len(claims))

    def evaluate(self) -> Quality:
        """Loss and LA on the dev claims."""
        assert self.dev is not None
        log_probs, gold = log_probabilities(self.model, self.dev), self.dev.gold(range(len(self.dev)))
        accuracy = float((log_probs.argmax(dim=-1) == gold).float().mean())
        return Quality(float(self.objective(log_probs, gold)), accuracy)

    def save(self, folder: Path) -> None:
        """Into the checkpoint of the run."""
        save_model(self.model, folder / "checkpoint")


def _check_labelled(data: Dataset, what: str, model: RowJudge) -> None:
    if not len(data):
        raise DataError(f"The {what} data holds no claims.")
    missing = [data.ids[i] for i in (data.labels < 0).nonzero()[0][:5]]
    if missing:
        raise DataError(
            f"The {what} data has claims without a label, such as {', '.join(map(str, missing))}; "
            f"expected one of {', '.join(model.labels)}."
        )
