from __future__ import annotations

import gc
import operator
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from adjudge.encoders.dataset import CHUNK, Dataset, cut_into_batches, tokenize
from adjudge.encoders.loading import load_encoder
from adjudge.encoders.rows import Layout, RowWriter
from adjudge.encoders.tokens import ARRAYS, store_tokens
from adjudge.types import FEVER_LABELS, Evidence, Example, LabelSet


@pytest.fixture(scope="module")
def writer() -> RowWriter:
    return RowWriter(load_encoder("tiny")[1], Layout(max_length=32))


def claims(count: int) -> Iterator[Example]:
    """Claims of zero to three sentences with ids that are numbers and texts."""
    labels = [*FEVER_LABELS, None]
    for i in range(count):
        evidence = tuple(Evidence("abcdefghij"[n : n + 1 + i % 7]) for n in range(i % 4))
        yield Example(i if i % 2 else f"c{i} ü", f"claim {i}", evidence, labels[i % 4])


def test_stored_tokens_are_those_of_tokenize(writer: RowWriter, tmp_path: Path):
    count = 2 * CHUNK + 5  # several chunks
    stored = store_tokens(claims(count), writer, FEVER_LABELS, tmp_path, "a")
    expected = tokenize(claims(count), writer, FEVER_LABELS)
    for name in ARRAYS:
        if name != "id_start":
            found = getattr(stored, name)
            np.testing.assert_array_equal(found, getattr(expected, name), err_msg=name)
            assert found.dtype == getattr(expected, name).dtype
    assert [stored.ids[i] for i in range(len(stored))] == [expected.ids[i] for i in range(count)]
    assert stored.fingerprint() == expected.fingerprint()
    assert stored.class_counts(3) == expected.class_counts(3)
    picked = [3, count - 1, 0, CHUNK]
    ours, theirs = (data.batch(picked, torch.Generator().manual_seed(1)) for data in (stored, expected))
    for name, value in vars(theirs).items():
        same = torch.equal if isinstance(value, torch.Tensor) else operator.eq
        assert same(getattr(ours, name), value), name
    assert torch.equal(stored.gold(picked), expected.gold(picked))


def test_they_are_written_once_and_read_from_the_file(writer: RowWriter, tmp_path: Path):
    first = store_tokens(claims(9), writer, FEVER_LABELS, tmp_path, "a")

    def never() -> Iterator[Example]:
        raise AssertionError("read again")
        yield

    second = store_tokens(never(), writer, FEVER_LABELS, tmp_path, "a")
    np.testing.assert_array_equal(first.tokens, second.tokens)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("damage", ["gone", "cut", "flipped"])
@pytest.mark.parametrize("name", ["tokens.bin", "labels.bin", "ids.json", "sums.json"])
def test_a_damaged_file_is_written_again(writer: RowWriter, tmp_path: Path, name: str, damage: str):
    expected = store_tokens(claims(9), writer, FEVER_LABELS, tmp_path, "a").fingerprint()
    (path,) = tmp_path.rglob(name)
    content = bytearray(path.read_bytes())
    path.unlink()
    if damage != "gone":
        content[0] ^= 1
        path.write_bytes(content[: len(content) // 2] if damage == "cut" else content)
    assert store_tokens(claims(9), writer, FEVER_LABELS, tmp_path, "a").fingerprint() == expected
    assert len(list(tmp_path.iterdir())) == 1


def test_another_source_layout_or_label_order_is_stored_by_itself(writer: RowWriter, tmp_path: Path):
    turned = LabelSet(FEVER_LABELS.names[::-1])
    other = RowWriter(writer.tokenizer, Layout(max_length=32, titles=False))
    for used, labels, source in (
        (writer, FEVER_LABELS, "a"),
        (writer, FEVER_LABELS, "b"),
        (other, FEVER_LABELS, "a"),
        (writer, turned, "a"),
    ):
        store_tokens(claims(4), used, labels, tmp_path, source)
    assert len(list(tmp_path.iterdir())) == 4


def test_an_interrupted_reading_leaves_nothing(writer: RowWriter, tmp_path: Path):
    def broken() -> Iterator[Example]:
        yield from claims(3)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store_tokens(broken(), writer, FEVER_LABELS, tmp_path, "a")
    assert list(tmp_path.iterdir()) == []


def test_no_claims_make_an_empty_dataset(writer: RowWriter, tmp_path: Path):
    data = store_tokens([], writer, FEVER_LABELS, tmp_path, "a")
    assert len(data) == 0 and data.class_counts(3) == [0, 0, 0]
    assert data.fingerprint() == tokenize([], writer, FEVER_LABELS).fingerprint()


class OneRow:
    """A writer that costs nothing: [2, 5, 3] for every claim."""

    def __init__(self, writer: RowWriter) -> None:
        self.layout, self.tokenizer, self.pad = writer.layout, writer.tokenizer, writer.pad

    def write(self, examples: list[Example]) -> Any:
        from adjudge.encoders.rows import TokenRow

        return [[TokenRow([2, 5, 3] * 20, 3)] * 5 for _ in examples]


def test_memory_does_not_grow_with_the_claims(writer: RowWriter, tmp_path: Path):
    """20,000 claims of 300 tokens are 24 MB of tokens on disk and hardly any in memory."""
    tracemalloc.start()
    try:
        data = store_tokens(
            (Example(i, "a") for i in range(20_000)), OneRow(writer), FEVER_LABELS, tmp_path, "many"
        )
        batch = data.batch([19_999, 5])
        gc.collect()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert batch.input_ids.shape == (10, 60)
    assert data.tokens.nbytes == 24_000_000
    assert peak < 6_000_000


def test_training_on_stored_tokens_is_training_on_tokens(tiny: ModuleType, tmp_path: Path):
    from adjudge.config import TrainingSettings
    from adjudge.objectives.loss import Objective
    from adjudge.training.judge import train_judge

    weights = []
    for stored in (False, True):
        model = tiny.make_model()
        data, dev = tiny.data_for(model)
        if stored:
            data = store_tokens(tiny.examples(14), model.writer, model.labels, tmp_path / "tokens", "train")
        settings = TrainingSettings(**tiny.DEFAULTS)
        train_judge(model, data, dev, Objective("ce"), settings, tmp_path / str(stored))
        weights.append(model.module.state_dict())
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def sized(*claims: tuple[int, ...]) -> Dataset:
    """A dataset whose claims have rows of these lengths."""
    lengths = [length for claim in claims for length in claim]
    return Dataset(
        ids=tuple(range(len(claims))),
        labels=np.zeros(len(claims), dtype=np.int64),
        claim_start=np.cumsum([0, *map(len, claims)]),
        row_start=np.cumsum([0, *lengths]),
        segment=np.ones(len(lengths), dtype=np.int64),
        has_text=np.ones(len(lengths), dtype=np.bool_),
        tokens=np.zeros(sum(lengths), dtype=np.int32),
        pad=0,
    )


def test_batches_are_cut_by_tokens_padding_counted():
    data = sized((10,), (10, 5), (10,), (40,), (3,), (3,), (3,))
    # 1 · 1 · 10, then with a claim of two rows 2 · 2 · 10 = 40, with a third 3 · 2 · 10 = 60; 40; 3 · 1 · 3.
    assert list(cut_into_batches(data, range(7), 60)) == [[0, 1, 2], [3], [4, 5, 6]]
    assert list(cut_into_batches(data, range(7), 59)) == [[0, 1], [2], [3], [4, 5, 6]]
    assert list(cut_into_batches(data, range(7), 60, most=2)) == [[0, 1], [2], [3], [4, 5], [6]]
    assert list(cut_into_batches(data, [3, 0], 1)) == [
        [3],
        [0],
    ]  # a claim too large by itself still makes a batch
    assert list(cut_into_batches(data, [], 10)) == []
