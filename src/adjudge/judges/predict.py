"""Examples in, verdicts out: the one place where a model's output becomes an answer."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from adjudge.encoders.batch import ModelOutput
from adjudge.encoders.dataset import Dataset, batches_by_length, tokenize
from adjudge.encoders.frozen import cache_states
from adjudge.encoders.rows import WHOLE
from adjudge.encoders.tensors import device_of
from adjudge.io.chunks import chunks
from adjudge.judges.row_model import RowJudge
from adjudge.judges.verdicts import Answer, verdict_of
from adjudge.types import Example, Verdict

WINDOW = 256


def predict(model: RowJudge, examples: Iterable[Example], states: Path | None = None) -> Iterator[Verdict]:
    """A verdict for each example, in order, holding only a window of them in memory.

    With a folder ``states``, what the model's frozen layers give is kept there, for other models that share them.
    """
    model.module.eval()
    for window in chunks(examples, WINDOW):
        # Without labels: a verdict does not depend on gold, which may use labels the model never met.
        began = time.perf_counter()
        data = tokenize((replace(e, label=None) for e in window), model.writer, model.labels)
        _observe(model, "tokenisation", began)
        if states is not None:
            data = cache_states(model.module.backbone, data, states)
        verdicts: dict[int, Verdict] = {}
        for claims, output in outputs(model, data):
            log_probs = torch.log_softmax(output.log_probs.cpu() / model.temperature, dim=-1)
            for row, claim in enumerate(claims):
                answer = _answer(log_probs[row], output, row)
                cut = data.cut.get(claim, WHOLE)
                verdicts[claim] = verdict_of(window[claim], answer, model.labels, model.max_evidence, cut)
        yield from (verdicts[claim] for claim in range(len(window)))


def outputs(model: RowJudge, data: Dataset) -> Iterator[tuple[list[int], ModelOutput]]:
    """The model's output for all claims of a dataset, in batches of claims of similar length."""
    device = device_of(model.module)
    for claims in batches_by_length(data, model.batch_tokens):
        began = time.perf_counter()
        batch = data.batch(claims).to(device)
        with torch.inference_mode():
            output = model.module(batch)
        _observe(model, "inference", began)
        yield claims, output  # outside: a mode held over a yield would hold for the caller too


def _observe(model: RowJudge, stage: str, began: float) -> None:
    if model.observe is not None:
        model.observe(stage, time.perf_counter() - began)


def log_probabilities(model: RowJudge, data: Dataset) -> Tensor:
    """(C, K) log P(y) of every claim of a dataset, in order."""
    log_probs = torch.empty(len(data), len(model.labels))
    for claims, output in outputs(model, data):
        log_probs[claims] = output.log_probs.float().cpu()
    return log_probs


def _answer(log_probs: Tensor, output: ModelOutput, row: int) -> Answer:
    """What the model says of a claim: its tempered log-probabilities (K,) and its row of a batch's output."""
    nodes, edges = output.node_weights, output.edge_weights
    return Answer(
        log_probs.exp().tolist(),
        None if nodes is None else nodes[row].tolist(),
        None if edges is None else edges[row].tolist(),
    )
