from __future__ import annotations

import torch

from adjudge.encoders.batch import Batch


def two_rows() -> Batch:
    """[CLS] a b [SEP] c [SEP], and [CLS] a [SEP] alone; the second claim has no second sentence."""
    return Batch(
        input_ids=torch.tensor([[2, 11, 12, 3, 13, 3], [2, 11, 3, 0, 0, 0]]),
        lengths=torch.tensor([6, 3]),
        segment=torch.tensor([4, 3]),
        has_text=torch.tensor([True, True]),
        row_of=torch.tensor([[0], [1]]),
        present=torch.tensor([[True], [True]]),
    )


def test_text_is_every_real_token_but_the_first():
    expected = [[0, 1, 1, 1, 1, 1], [0, 1, 1, 0, 0, 0]]
    assert two_rows().text_mask.int().tolist() == expected


def test_the_second_segment_starts_after_the_first_separator():
    expected = [[0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]]
    assert two_rows().second_segment.int().tolist() == expected


def test_a_row_of_nothing_has_no_text():
    batch = two_rows()
    empty = Batch(**{**vars(batch), "has_text": torch.tensor([True, False])})
    assert empty.text_mask.int().tolist() == [[0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]]


def test_length_is_the_number_of_claims_not_rows():
    batch = two_rows()
    one_claim = Batch(**{**vars(batch), "row_of": torch.tensor([[0, 1]]), "present": torch.ones(1, 2).bool()})
    assert len(batch) == 2
    assert len(one_claim) == 1


def test_moving_keeps_every_field():
    moved = two_rows().to("meta")
    tensors = [value for value in vars(moved).values() if isinstance(value, torch.Tensor)]
    assert len(tensors) >= 6 and all(value.device.type == "meta" for value in tensors)
    assert moved.states is None
    back = two_rows().to("cpu")
    assert all(
        torch.equal(a, b)
        for a, b in zip(list(vars(back).values())[:6], list(vars(two_rows()).values())[:6], strict=True)
    )
