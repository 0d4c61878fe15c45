"""Training of long rankers on claims whose gold sentence a word gives away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from adjudge.config import TrainingSettings
from adjudge.errors import DataError, TrainingError
from adjudge.retrieval.long_rows import TrainedLongRanker
from adjudge.retrieval.pipeline import RankingExample
from adjudge.retrieval.ranker import RankerSettings, build_ranker
from adjudge.training.distributed import Workers
from adjudge.training.long_ranker import long_claims, long_task
from adjudge.training.ranker import train_ranker
from adjudge.types import Evidence

TRAINING = TrainingSettings(epochs=3, batch_size=4, accumulation=1, lr=3e-3, eval_every=12, seed=3)
NAMES = "ab cd ef gh ij kl mn op qr st".split()


def example(n: int) -> RankingExample:
    name = NAMES[n % 10]
    gold = (Evidence(f"yes {name}", f"Page_{n}", 1),)
    others = (
        Evidence(f"no {name}", f"Page_{n}", 0),
        *(Evidence(f"no {NAMES[(n + m) % 10]}", f"p{n + m}", m) for m in range(1, 4)),
    )
    return RankingExample(f"{name} it is", gold, others)


EXAMPLES = [example(n) for n in range(24)]
HELD_OUT = [example(n) for n in range(100, 108)]


def settings(kind: str) -> RankerSettings:
    return RankerSettings(kind=kind, backbone="tiny", max_length=64, dropout=0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["page", "list"])
def test_training_puts_gold_first(kind: str, tmp_path: Path):
    torch.set_num_threads(1)
    ranker, progress = train_ranker(EXAMPLES, HELD_OUT, tmp_path / kind, settings(kind), TRAINING)
    assert progress.best_accuracy > 0.9
    [[yes, no]] = ranker.score_many(["zz it is"], [[Evidence("yes zz", "P", 0), Evidence("no ab", "P", 1)]])
    assert yes > no


def test_a_state_of_other_claims_is_not_resumed(tmp_path: Path) -> None:
    short = TRAINING.model_copy(update={"epochs": 1})
    train_ranker(EXAMPLES[:8], HELD_OUT[:2], tmp_path, settings("list"), short)
    with pytest.raises(TrainingError, match="other settings"):
        train_ranker(EXAMPLES[1:9], HELD_OUT[:2], tmp_path, settings("list"), short, resume=True)


def build(kind: str) -> TrainedLongRanker:
    torch.manual_seed(0)
    ranker = build_ranker(settings(kind))
    assert isinstance(ranker, TrainedLongRanker)
    return ranker


def test_the_loss_of_a_step_is_the_mean_over_its_claims():
    task = long_task(build("list"), EXAMPLES, HELD_OUT, TRAINING)
    quality = task.backward([0, 1, 2], torch.Generator(), Workers())
    singles = []
    for claim in task.data[:3]:
        scores = task.ranker.scores(claim.rows, len(claim.gold)).detach()
        singles.append(-scores.log_softmax(dim=0)[claim.gold].logsumexp(dim=0).item())
    assert quality.loss == pytest.approx(sum(singles) / 3, rel=1e-5)
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in task.module.parameters())


@pytest.mark.parametrize("kind", ["pair", "page", "list"])
def test_every_kind_trains_in_the_precision_asked_for(kind: str, tmp_path: Path):
    """bfloat16 keeps two to three digits; through random weights a loss keeps one or two."""
    torch.set_num_threads(1)
    losses = {}
    for precision in ("fp32", "bf16"):
        training = TRAINING.model_copy(update={"epochs": 1, "precision": precision})
        train_ranker(EXAMPLES[:4], HELD_OUT[:2], tmp_path / precision, settings(kind), training)
        [first, *_] = (tmp_path / precision / "metrics.jsonl").read_text().splitlines()
        losses[precision] = json.loads(first)["loss"]
    assert losses["bf16"] == pytest.approx(losses["fp32"], rel=0.1)
    assert losses["bf16"] != losses["fp32"]


def test_pages_without_evidence_are_thinned_in_training_alone():
    ranker = build("page")
    all_rows, some_rows = (
        sum(len(claim.rows) for claim in long_claims(EXAMPLES, ranker.writer, 0, thin))
        for thin in (False, True)
    )
    assert all_rows == 24 * 4  # the gold page and three others
    assert 24 * 2 <= some_rows < 24 * 3
    for claim in long_claims(EXAMPLES, ranker.writer, 0, thin=True):
        assert claim.gold.sum() == 1 and (~claim.gold).any()


def test_a_second_hop_is_one_more_claim_of_pages_and_none_of_lists():
    first, second = Evidence("one", "A", 0, links=("B",)), Evidence("two", "B", 0)
    others = (Evidence("no", "B", 1), Evidence("not", "C", 0))
    claim = RankingExample("it is", (first, second), others, hops=((first, (second,)),))
    pages = build("page").writer
    alone, hopped = long_claims([claim], pages, 0, thin=False)
    assert alone.gold.tolist() == [True, True, False, False]  # A 0, B 0, B 1, C 0
    assert hopped.gold.tolist() == [True, False, False]  # B 0, B 1, C 0; A 0 stands after the claim
    assert hopped.rows == pages.write("it is", [second, *others], first)
    assert len(long_claims([claim], build("list").writer, 0, thin=False)) == 1


def test_the_order_of_a_list_does_not_tell_gold():
    claims = long_claims(EXAMPLES, build("list").writer, 0, thin=True)
    assert len({int(claim.gold.long().argmax()) for claim in claims}) > 2


def test_without_claims_there_is_nothing_to_train(tmp_path: Path):
    with pytest.raises(DataError, match="No training claim"):
        train_ranker([], HELD_OUT, tmp_path / "r", settings("list"), TRAINING)
