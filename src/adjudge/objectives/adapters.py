"""Objectives inside other people's training loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.nn.functional import log_softmax

from adjudge.errors import ConfigError, MissingExtra
from adjudge.objectives.loss import Objective


def trainer_loss(objective: Objective) -> Callable[..., Tensor]:
    """The objective as Hugging Face ``Trainer(compute_loss_func=…)``.

    The Trainer passes the number of claims of the whole optimizer step, so accumulated and
    distributed steps give the gradient of one big batch.
    """
    if objective.normalise != "claims":
        raise ConfigError("Trainer counts claims, not weights: use Objective(normalise='claims').")

    def compute_loss(
        outputs: Any, labels: Tensor | None, num_items_in_batch: Tensor | int | None = None
    ) -> Tensor:
        if labels is None:
            raise ConfigError("A batch has no labels; the data set needs a column 'labels' of class indices.")
        logits = outputs["logits"] if isinstance(outputs, dict) else outputs.logits
        log_probs = log_softmax(logits.float(), dim=-1)
        loss: Tensor = objective(log_probs, labels.view(-1), total=num_items_in_batch)
        return loss

    return compute_loss


class CrossEncoderLoss(nn.Module):
    """The objective as a loss of sentence-transformers' ``CrossEncoderTrainer``.

    Takes a dataset with two text columns and a ``label`` column of class indices.
    """

    def __init__(self, model: Any, objective: Objective) -> None:
        super().__init__()
        if model.num_labels != len(objective.labels):
            raise ConfigError(
                f"The CrossEncoder has {model.num_labels} outputs and the objective has "
                f"{len(objective.labels)} labels; load it with num_labels={len(objective.labels)}."
            )
        self.model = model
        self.objective = objective

    def forward(self, inputs: list[list[str]], labels: Tensor, **preprocessing: Any) -> Tensor:
        """Mean loss of a batch of text pairs."""
        try:
            from sentence_transformers.util import batch_to_device
        except ImportError:
            raise MissingExtra("CrossEncoderLoss needs sentence-transformers", "dev") from None
        if len(inputs) != 2:
            raise ConfigError(f"The data set has {len(inputs)} text columns, expected claim and evidence.")
        tokens = self.model.preprocess(list(zip(*inputs, strict=True)), **preprocessing)
        logits = self.model(batch_to_device(tokens, self.model.device))["scores"]
        loss: Tensor = self.objective(log_softmax(logits.float(), dim=-1), labels.view(-1))
        return loss
