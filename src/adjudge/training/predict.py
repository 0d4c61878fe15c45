"""Examples in, verdicts out: the one place where a model's output becomes an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from adjudge.models import ModelOutput
from adjudge.training.checkpoint import VerdictModel
from adjudge.training.dataset import Dataset, chunks, cut, tokenize
from adjudge.training.frozen import BATCH_TOKENS, cached_states
from adjudge.types import Example, Verdict

WINDOW = 256


def predict(
    model: VerdictModel,
    examples: Iterable[Example],
    batch_tokens: int = BATCH_TOKENS,
    temperature: float = 1.0,
    states: Path | None = None,
) -> Iterator[Verdict]:
    """A verdict for each example, in order, holding only a window of them in memory.

    With a folder ``states``, what the model's frozen layers give is kept there, for other models that share them.
    """
    model.module.eval()
    for window in chunks(examples, WINDOW):
        # Without labels: a verdict does not hang on gold, which may use labels the model never met.
        data = tokenize((replace(e, label=None) for e in window), model.writer, model.labels)
        if states is not None:
            data = cached_states(model.module.backbone, data, states)
        verdicts: dict[int, Verdict] = {}
        for claims, output in outputs(model, data, batch_tokens):
            log_probs = torch.log_softmax(output.log_probs.cpu() / temperature, dim=-1)
            for place, claim in enumerate(claims):
                weights = None if output.node_weights is None else output.node_weights[place].cpu()
                verdicts[claim] = _verdict(model, window[claim], log_probs[place], weights)
        yield from (verdicts[claim] for claim in range(len(window)))


def outputs(
    model: VerdictModel, data: Dataset, batch_tokens: int = BATCH_TOKENS
) -> Iterator[tuple[list[int], ModelOutput]]:
    """The model's output for all claims of a dataset, in batches of claims of similar length."""
    device = next(model.module.parameters()).device
    order = np.argsort(data.claim_tokens(), kind="stable").tolist()
    for claims in cut(data, order, batch_tokens):
        with torch.inference_mode():
            output = model.module(data.batch(claims).to(device))
        yield claims, output  # outside: a mode held over a yield would hold for the caller too


def log_probabilities(model: VerdictModel, data: Dataset, batch_tokens: int = BATCH_TOKENS) -> Tensor:
    """(C, K) log P(y) of every claim of a dataset, in order."""
    log_probs = torch.empty(len(data), len(model.labels))
    for claims, output in outputs(model, data, batch_tokens):
        log_probs[claims] = output.log_probs.float().cpu()
    return log_probs


def _verdict(model: VerdictModel, example: Example, log_probs: Tensor, weights: Tensor | None) -> Verdict:
    probabilities = dict(zip(model.labels, log_probs.exp().tolist(), strict=True))
    evidence = example.evidence
    if weights is not None and evidence:
        pairs = zip(evidence, weights.tolist(), strict=False)
        evidence = tuple(replace(sentence, weight=weight) for sentence, weight in pairs)
    label = model.labels.names[int(log_probs.argmax())]
    reason = None if evidence else "no evidence was given"
    return Verdict(
        example.id, example.claim, label, probabilities, evidence, reason, gold_injected=example.gold_injected
    )
