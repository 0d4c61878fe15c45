"""Training the sentence ranker: gold sentences above the other sentences of the retrieved pages."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from adjudge.config import TrainingSettings
from adjudge.errors import DataError, TrainingError
from adjudge.models.ranker import margin_loss, pair_mask
from adjudge.retrieval import Index, IndexRetriever, RetrievalSettings, Retriever
from adjudge.retrieval.pipeline import CANDIDATES, RankingExample, ranking_examples, sentence_in
from adjudge.retrieval.select import choose_weight
from adjudge.training.checkpoint import Progress, load_progress, save_progress
from adjudge.training.dataset import Dataset, chunks, tokenize
from adjudge.training.frozen import cached_states
from adjudge.training.loop import make_optimizer, schedule, set_rate, step_claims
from adjudge.training.ranker import RankerSettings, TrainedRanker, build_ranker, load_ranker, save_ranker
from adjudge.training.rows import RowWriter
from adjudge.types import FEVER_LABELS, Claim, Evidence, Example

__all__ = [
    "RANKER_TRAINING",
    "RankerReport",
    "RankerSettings",
    "RankingData",
    "RankingMetric",
    "load_ranker",
    "pair_accuracy",
    "ranking_data",
    "train_ranker",
    "train_ranker_on",
]

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
    chosen, counts = [], []
    for place, example in enumerate(examples):
        gold = rng.sample(example.gold, min(settings.gold, len(example.gold)))
        hard = -(-settings.negatives // 2)
        rest = example.others[hard:]
        any_of_rest = rng.sample(rest, min(settings.negatives - hard, len(rest)))
        sentences = [*gold, *example.others[:hard], *any_of_rest]
        if rng.random() < settings.title_dropout:
            sentences = [replace(sentence, page="", title="") for sentence in sentences]
        chosen.append(Example(place, example.claim, tuple(sentences)))
        counts.append(len(gold))
    return RankingData(tokenize(chosen, writer, FEVER_LABELS), np.asarray(counts, dtype=np.int64))


@dataclass(frozen=True)
class RankingMetric:
    """A step's loss, or an evaluation's pair accuracy: the share of pairs in which gold comes first."""

    step: int
    steps: int
    loss: float
    pair_accuracy: float | None = None


Report = Callable[[RankingMetric], None]


def train_ranker(
    examples: Iterable[RankingExample],
    held_out: Iterable[RankingExample],
    folder: Path,
    settings: RankerSettings | None = None,
    training: TrainingSettings = RANKER_TRAINING,
    *,
    resume: bool = False,
    cache: Path | None = None,
    report: Report = lambda metric: None,
) -> tuple[TrainedRanker, Progress]:
    """Train a ranker; ``folder`` holds its best weights by pair accuracy on the held-out claims.

    Args:
        examples: claims with gold and other sentences.
        held_out: claims that choose the checkpoint.
        folder: the ranker's folder.
        settings: model and pairs.
        training: optimizer and schedule, in claims; ``freeze_layers`` freezes the lower layers.
        resume: go on from ``resume.safetensors`` when it is there.
        cache: where to keep the frozen layers' output; worth it from two epochs on.
        report: called with every metric.
    """
    settings = settings or RankerSettings()
    torch.manual_seed(training.seed)
    ranker = build_ranker(settings, training.freeze_layers)
    data = _checked("training", ranking_data(examples, ranker.writer, settings, training.seed))
    as_used = settings.model_copy(update={"title_dropout": 0.0})
    held = _checked("held-out", ranking_data(held_out, ranker.writer, as_used, training.seed))
    if cache is not None:
        data = replace(data, rows=cached_states(ranker.module.backbone, data.rows, cache))
        held = replace(held, rows=cached_states(ranker.module.backbone, held.rows, cache))
    optimizer = make_optimizer(ranker.module, training)
    identity = _identity(settings, training, data, held)
    per_epoch = math.ceil(len(data) / training.step_size)
    steps = per_epoch * training.epochs
    progress, resume_path = Progress(), folder / "resume.safetensors"
    folder.mkdir(parents=True, exist_ok=True)
    if resume and resume_path.exists():
        progress, states = load_progress(resume_path, identity, ranker.module, optimizer)
        torch.set_rng_state(states[0])
    else:
        resume_path.unlink(missing_ok=True)  # of an earlier training, which must not continue this one
    ranker.module.train()
    while progress.step < steps:
        claims = step_claims(len(data), progress.step, per_epoch, training)
        set_rate(optimizer, schedule(progress.step, steps, training.warmup))
        loss = _step(ranker, data, claims, training, progress.step + 1)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        progress = replace(progress, step=progress.step + 1)
        report(RankingMetric(progress.step, steps, loss))
        if progress.step % training.eval_every == 0 or progress.step == steps:
            accuracy = pair_accuracy(ranker, held)
            report(RankingMetric(progress.step, steps, loss, accuracy))
            if accuracy > progress.best_accuracy:
                save_ranker(ranker, folder)
                progress = replace(progress, best_step=progress.step, best_accuracy=accuracy)
            random_state = [torch.get_rng_state()]
            save_progress(resume_path, progress, identity, ranker.module, optimizer, random_state)
    return load_ranker(folder), progress


def _checked(what: str, data: RankingData) -> RankingData:
    if not len(data):
        raise DataError(
            f"No {what} claim has gold text in the corpus and another sentence beside it; "
            "expected claims with gold evidence, and the corpus that it names."
        )
    return data


def _step(
    ranker: TrainedRanker, data: RankingData, claims: list[int], training: TrainingSettings, step: int
) -> float:
    """Gradients of one optimizer step: the mean over its claims, however they are cut up."""
    total = 0.0
    for part in chunks(claims, training.batch_size):
        scores, gold, present = _scores(ranker, data, part)
        loss = margin_loss(scores, gold, present, ranker.settings.margin).sum() / len(claims)
        loss.backward()
        total += float(loss.detach())
    norm = float(nn.utils.clip_grad_norm_(ranker.module.parameters(), training.clip))
    if not (math.isfinite(total) and math.isfinite(norm)):
        raise TrainingError(
            f"step {step}: the loss is {total}, the gradient's norm {norm}. Training diverged; the folder "
            "keeps the last good state. Lower the learning rate."
        )
    return total


def _scores(ranker: TrainedRanker, data: RankingData, claims: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """(B, N) scores by slot, which slots are gold, which are there."""
    batch = data.rows.batch(claims).to(ranker.device)
    counts = torch.from_numpy(data.gold[np.asarray(claims)]).to(batch.present.device)
    slots = torch.arange(batch.present.shape[1], device=batch.present.device)
    return ranker.module(batch)[batch.row_of], slots < counts[:, None], batch.present


def pair_accuracy(ranker: TrainedRanker, data: RankingData) -> float:
    """The share of all (gold, other) pairs in which gold scores higher; a tie is not."""
    module, right, pairs = ranker.module, 0, 0
    was_training = module.training
    module.eval()
    for claims in chunks(range(len(data)), 16):
        with torch.inference_mode():
            scores, gold, present = _scores(ranker, data, claims)
        mask = pair_mask(gold, present)
        right += int(((scores[:, :, None] > scores[:, None, :]) & mask).sum())
        pairs += int(mask.sum())
    module.train(was_training)
    return right / max(pairs, 1)


def _identity(
    settings: RankerSettings, training: TrainingSettings, data: RankingData, held: RankingData
) -> str:
    parts = [settings.model_dump_json(), training.model_dump_json()]
    parts += [data.rows.fingerprint(), held.rows.fingerprint(), str(data.gold.tolist())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


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
    report: Report = lambda metric: None,
) -> RankerReport:
    """Train a ranker on claims with gold evidence in an indexed corpus, and choose its weight.

    The first ``held_out`` usable claims, after a shuffle by the seed, choose the checkpoint and then the
    weight of the ranker against the retriever's score (by whole gold groups in the first five); the next
    ``limit`` are trained on. ``folder`` is what ``load_selector`` takes.
    """
    retriever = IndexRetriever(index, retrieval or RetrievalSettings())
    look_up = sentence_in(index)
    usable = [claim for claim in claims if claim.gold]
    random.Random(training.seed).shuffle(usable)
    aside, rest = usable[:held_out], usable[held_out:]
    trained = list(islice(ranking_examples(rest, retriever, look_up), limit))
    held = list(ranking_examples(aside, retriever, look_up))
    ranker, progress = train_ranker(trained, held, folder, settings, training, resume=resume, report=report)
    weight, shares = choose_weight([_judged(ranker, claim, retriever) for claim in aside])
    save_ranker(replace(ranker, weight=weight), folder)
    return RankerReport(len(trained), len(held), progress.best_accuracy, progress.best_step, weight, shares)


def _judged(
    ranker: TrainedRanker, claim: Claim, retriever: Retriever
) -> tuple[Claim, list[Evidence], list[float]]:
    found = retriever.retrieve(claim.text, CANDIDATES)
    return claim, found, ranker(claim.text, found)
