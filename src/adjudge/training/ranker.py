"""Training the sentence ranker: gold sentences above the other sentences of the retrieved pages."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from adjudge.config import TrainingSettings
from adjudge.data.text import drop_title
from adjudge.encoders.dataset import Dataset, tokenize
from adjudge.encoders.frozen import cache_states
from adjudge.encoders.rows import RowWriter
from adjudge.encoders.tensors import device_of
from adjudge.errors import ConfigError
from adjudge.io.locks import lease
from adjudge.io.temporary import report_full_disk, sweep
from adjudge.judges.folder import METADATA
from adjudge.retrieval import Index, IndexRetriever, RetrievalSettings, Retriever
from adjudge.retrieval.pipeline import CANDIDATES, RankingExample, ranking_examples, sentence_in
from adjudge.retrieval.ranker import (
    AnyRanker,
    RankerSettings,
    TrainedRanker,
    build_ranker,
    load_ranker,
    margin_loss,
    pair_mask,
    save_ranker,
)
from adjudge.retrieval.selectors import choose_weight
from adjudge.training.distributed import Workers
from adjudge.training.long_ranker import long_task
from adjudge.training.loop import Metric, MetricReport, Task, train
from adjudge.training.progress import STATE, TrainingProgress
from adjudge.training.ranker_task import RankerTask
from adjudge.types import FEVER_LABELS, Claim, Evidence, Example

RANKER_TRAINING = TrainingSettings(
    epochs=1, batch_size=8, accumulation=2, lr=1e-4, freeze_layers=0, eval_every=50, warmup=0.1
)


@dataclass(frozen=True)
class RankingData:
    """Token rows of each claim, its ``gold`` (C,) first rows being gold."""

    rows: Dataset
    gold: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)


def ranking_data(
    examples: Iterable[RankingExample], writer: RowWriter, settings: RankerSettings, seed: int
) -> RankingData:
    """Sample each claim's sentences and write them as rows.

    Half of the others are the hardest, half are any. Titles are dropped for a whole claim or not at all:
    their absence must not tell gold from others.
    """
    rng = random.Random(seed)
    sampled, counts = [], []
    for index, example in enumerate(examples):
        gold = rng.sample(example.gold, min(settings.gold, len(example.gold)))
        hard = -(-settings.negatives // 2)
        rest = example.others[hard:]
        any_of_rest = rng.sample(rest, min(settings.negatives - hard, len(rest)))
        sentences = [*gold, *example.others[:hard], *any_of_rest]
        if rng.random() < settings.title_dropout:
            sentences = list(map(drop_title, sentences))
        sampled.append(Example(index, example.claim, tuple(sentences)))
        counts.append(len(gold))
    return RankingData(tokenize(sampled, writer, FEVER_LABELS), np.asarray(counts, dtype=np.int64))


def train_ranker(
    examples: Iterable[RankingExample],
    held_out: Iterable[RankingExample],
    folder: Path,
    settings: RankerSettings | None = None,
    training: TrainingSettings = RANKER_TRAINING,
    *,
    resume: bool = False,
    cache: Path | None = None,
    workers: Workers | None = None,
    report: MetricReport = lambda metric, steps: None,
) -> tuple[AnyRanker, TrainingProgress]:
    """Train a ranker; ``folder`` holds its best weights by pair accuracy on the held-out claims, and its log.

    Args:
        examples: claims with gold and other sentences.
        held_out: claims that choose the checkpoint.
        folder: the ranker's folder.
        settings: model and pairs.
        training: optimizer and schedule, in claims; ``freeze_layers`` freezes the lower layers.
        resume: go on from ``resume.safetensors`` when it is there.
        cache: where to keep the frozen layers' output; worth it from two epochs on.
        workers: the other processes of this training.
        report: called with every metric and the number of steps in all.
    """
    settings = settings or RankerSettings()
    torch.manual_seed(training.seed)
    ranker = build_ranker(settings, training.freeze_layers)
    if isinstance(ranker, TrainedRanker):
        pairs = pair_task(ranker, examples, held_out, training, cache)
        task: Task = pairs
        described = [
            d for data in (pairs.data, pairs.held_out) for d in (data.rows.fingerprint(), data.gold.tolist())
        ]
    else:
        claims = long_task(ranker, examples, held_out, training)
        task = claims
        described = [
            [(claim.rows, claim.gold.tolist()) for claim in data] for data in (claims.data, claims.held_out)
        ]
    identity = _identity(settings, described)
    folder.mkdir(parents=True, exist_ok=True)
    progress = train(task, training, folder, identity=identity, resume=resume, workers=workers, report=report)
    return load_ranker(folder), progress


def pair_task(
    ranker: TrainedRanker,
    examples: Iterable[RankingExample],
    held_out: Iterable[RankingExample],
    training: TrainingSettings,
    cache: Path | None = None,
) -> RankerTask[RankingData]:
    """What the loop trains of a ranker of pairs; see :func:`train_ranker` for ``cache``."""
    as_used = ranker.settings.model_copy(update={"title_dropout": 0.0})
    task = RankerTask(
        ranker,
        ranking_data(examples, ranker.writer, ranker.settings, training.seed),
        ranking_data(held_out, ranker.writer, as_used, training.seed),
        partial(pair_sums, ranker),
        training.batch_size,
        training.precision,
    )
    if cache is None:
        return task
    data, held_out_data = (
        replace(data, rows=cache_states(ranker.module.backbone, data.rows, cache))
        for data in (task.data, task.held_out)
    )
    return replace(task, data=data, held_out=held_out_data)


def pair_sums(ranker: TrainedRanker, data: RankingData, claims: Sequence[int]) -> Tensor:
    """(3,) sums over claims: the loss, pairs with gold first, pairs."""
    batch = data.rows.batch(claims).to(device_of(ranker.module))
    counts = torch.from_numpy(data.gold[np.asarray(claims)]).to(batch.present.device)
    gold = torch.arange(batch.present.shape[1], device=counts.device) < counts[:, None]  # (B, N)
    scores: Tensor = ranker.module(batch)[batch.row_of]  # (B, N)
    pairs = pair_mask(gold, batch.present)  # (B, N, N)
    right = (scores[:, :, None] > scores[:, None, :]) & pairs
    loss = margin_loss(scores, gold, batch.present, ranker.settings.margin).sum()
    return torch.stack([loss, right.sum(), pairs.sum()])


def _identity(settings: RankerSettings, data: Sequence[object]) -> str:
    """A hash of what decides a training: its settings, and its rows with their gold as texts that tell them apart."""
    return hashlib.sha256(repr([settings.model_dump_json(), *data]).encode()).hexdigest()


@dataclass(frozen=True)
class RankerReport:
    """What a training gave, on the held-out claims; ``group_recall`` by weight, 0 leaving it out."""

    claims: int
    held_out: int
    pair_accuracy: float
    best_step: int
    weight: float
    group_recall: dict[float, float]


def train_ranker_on(
    claims: Iterable[Claim],
    index: Index,
    folder: Path,
    settings: RankerSettings | None = None,
    training: TrainingSettings = RANKER_TRAINING,
    *,
    retrieval: RetrievalSettings | None = None,
    limit: int | None = None,
    held_out: int = 200,
    resume: bool = False,
    workers: Workers | None = None,
    report: MetricReport = lambda metric, steps: None,
) -> RankerReport:
    """Train a ranker on claims with gold evidence in an indexed corpus, and choose its weight.

    The first ``held_out`` usable claims, after a shuffle by the seed, choose the checkpoint and then the
    weight of the ranker against the retriever's score (by whole gold groups in the first five); the next
    ``limit`` are trained on. ``folder`` is what ``load_selector`` takes; several trainings of one folder wait for
    each other, and one that holds a ranker is refused unless ``resume``.
    """
    workers = workers or Workers()
    owned = lease(folder, folder / STATE) if workers.is_first else nullcontext(_do_nothing)
    with report_full_disk(folder), owned as check_lease:
        if workers.is_first and (folder / METADATA).exists() and not resume:
            raise ConfigError(
                f"{folder}: holds a ranker. Choose another --out, or pass --resume to go on with it."
            )
        if workers.is_first:
            sweep(folder)
        workers.wait()

        def report_and_check(metric: Metric, steps: int) -> None:
            check_lease()
            report(metric, steps)

        retriever = IndexRetriever(index, retrieval or RetrievalSettings())
        look_up = sentence_in(index)
        usable = [claim for claim in claims if claim.gold]
        random.Random(training.seed).shuffle(usable)
        held_out_claims, training_claims = usable[:held_out], usable[held_out:]
        trained = list(islice(ranking_examples(training_claims, retriever, look_up), limit))
        held_out_examples = list(ranking_examples(held_out_claims, retriever, look_up))
        ranker, progress = train_ranker(
            trained,
            held_out_examples,
            folder,
            settings,
            training,
            resume=resume,
            workers=workers,
            report=report_and_check,
        )
        weight, shares = choose_weight(_scored_candidates(ranker, held_out_claims, retriever))
        if workers.is_first:
            save_ranker(replace(ranker, weight=weight), folder)
        return RankerReport(
            len(trained), len(held_out_examples), progress.best_accuracy, progress.best_step, weight, shares
        )


def _do_nothing() -> None:
    """In place of a check that only the first worker makes."""


def _scored_candidates(
    ranker: AnyRanker, claims: Sequence[Claim], retriever: Retriever
) -> list[tuple[Claim, list[Evidence], list[float]]]:
    """Claims with their candidates and the ranker's score of each."""
    texts = [claim.text for claim in claims]
    candidates = retriever.retrieve_many(texts, CANDIDATES)
    return list(zip(claims, candidates, ranker.score_many(texts, candidates), strict=True))
