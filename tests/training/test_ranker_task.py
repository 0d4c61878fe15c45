"""The task of a ranker under made-up sums: what it adds up and divides by."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from adjudge.errors import DataError
from adjudge.retrieval.ranker import RankerSettings, build_ranker
from adjudge.training.distributed import Workers
from adjudge.training.ranker_task import RankerTask, pair_quality

RANKER = build_ranker(RankerSettings(backbone="tiny", max_length=32, dropout=0.0))


def sums(data: Sequence[float], claims: Sequence[int]) -> Tensor:
    """A claim's loss is its value times the head's bias, plus its value; one of two pairs is right."""
    bias = RANKER.module.score.bias[0]
    value = sum(data[claim] for claim in claims)
    return torch.stack(
        [value * (1 + bias - bias.detach()), torch.tensor(1.0 * len(claims)), torch.tensor(2.0 * len(claims))]
    )


@pytest.mark.parametrize("batch_size", [1, 2, 5])
def test_a_step_is_the_mean_over_its_claims_however_they_are_cut_up(batch_size: int) -> None:
    RANKER.module.zero_grad()
    task = RankerTask(RANKER, [1.0, 2.0, 6.0], [4.0], sums, batch_size)
    quality = task.backward([0, 2, 1], torch.Generator(), Workers())
    assert quality == pytest.approx((3.0, 0.5))  # (1 + 6 + 2) / 3, and 3 pairs of 6
    assert RANKER.module.score.bias.grad.item() == pytest.approx(3.0)


def test_held_out_claims_beyond_one_part_all_count() -> None:
    task = RankerTask(RANKER, [1.0], [2.0] * 20 + [5.0] * 20, sums)
    assert task.dev_claims == 40
    assert task.evaluate() == pytest.approx((3.5, 0.5))
    assert pair_quality(RANKER.module, sums, [7.0]) == pytest.approx((7.0, 0.5))


@pytest.mark.parametrize(("precision", "half"), [("auto", False), ("fp32", False), ("bf16", True)])
def test_products_are_in_half_precision_where_that_was_asked_for(precision: str, half: bool) -> None:
    under: list[bool] = []

    def note(data: Sequence[float], claims: Sequence[int]) -> Tensor:
        under.append(torch.is_autocast_enabled("cpu"))
        return sums(data, claims)

    RankerTask(RANKER, [1.0], [2.0], note, precision=precision).backward([0], torch.Generator(), Workers())
    assert under == [half]


@pytest.mark.parametrize(("data", "held_out", "what"), [([], [1.0], "training"), ([1.0], [], "held-out")])
def test_without_claims_there_is_nothing_to_train(
    data: list[float], held_out: list[float], what: str
) -> None:
    with pytest.raises(DataError, match=f"No {what} claim has gold text"):
        RankerTask(RANKER, data, held_out, sums)
