from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.encoders.dataset import CHUNK, Dataset, shuffle_evidence, tokenize
from adjudge.encoders.loading import load_encoder
from adjudge.encoders.rows import Layout, RowWriter, TokenRow
from adjudge.errors import DataError
from adjudge.io.chunks import chunks
from adjudge.types import FEVER_LABELS, Evidence, Example

EXAMPLES = [
    Example("x", "a b", (Evidence("c"), Evidence("d e f")), "SUPPORTS"),
    Example("y", "g", (), "NOT ENOUGH INFO"),
    Example("z", "a", (Evidence("b c d e f g"), Evidence("b"), Evidence("c d")), None),
]


@pytest.fixture(scope="module")
def writer() -> RowWriter:
    return RowWriter(load_encoder("tiny")[1], Layout(max_length=32))


@pytest.fixture(scope="module")
def data(writer: RowWriter) -> Dataset:
    return tokenize(EXAMPLES, writer, FEVER_LABELS)


def naive_batch(claims: list[list[TokenRow]], pad: int) -> dict[str, Any]:
    flat = [row for rows in claims for row in rows]
    longest, most = max(len(r.ids) for r in flat), max(len(rows) for rows in claims)
    row_of, present, number = [], [], 0
    for rows in claims:
        row_of.append([number + n if n < len(rows) else 0 for n in range(most)])
        present.append([n < len(rows) for n in range(most)])
        number += len(rows)
    return {
        "input_ids": [r.ids + [pad] * (longest - len(r.ids)) for r in flat],
        "lengths": [len(r.ids) for r in flat],
        "segment": [r.segment for r in flat],
        "has_text": [r.has_text for r in flat],
        "row_of": row_of,
        "present": present,
    }


@given(st.lists(st.integers(0, 2), min_size=1, max_size=6))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_batch_equals_the_rows_laid_out_by_loops(data: Dataset, writer: RowWriter, picked: list[int]):
    batch = data.batch(picked)
    rows = writer.write(EXAMPLES)
    for name, expected in naive_batch([rows[claim] for claim in picked], pad=0).items():
        assert getattr(batch, name).tolist() == expected, name
    assert batch.states is None
    assert len(batch) == len(picked)


def test_labels_become_class_indices_and_none_becomes_minus_one(data: Dataset):
    assert data.gold([0, 1, 2, 0]).tolist() == [0, 2, -1, 0]
    assert data.ids == ("x", "y", "z")
    assert data.class_counts(3) == [1, 0, 1]


def test_a_wrong_label_is_refused(writer: RowWriter):
    with pytest.raises(DataError, match="label 'MAYBE' is not one of"):
        tokenize([replace(EXAMPLES[0], label="MAYBE")], writer, FEVER_LABELS)


def test_claim_tokens_counts_all_rows(data: Dataset, writer: RowWriter):
    assert data.claim_tokens().tolist() == [sum(len(r.ids) for r in rows) for rows in writer.write(EXAMPLES)]


def test_equal_rows_have_an_equal_fingerprint_and_other_rows_another(writer: RowWriter, data: Dataset):
    def fingerprint(examples: list[Example], **layout: Any) -> str:
        changed = RowWriter(writer.tokenizer, replace(writer.layout, **layout))
        return tokenize(examples, changed, FEVER_LABELS).fingerprint()

    assert fingerprint(EXAMPLES) == data.fingerprint()
    others = [
        fingerprint(EXAMPLES[::-1]),
        fingerprint(EXAMPLES[:2]),
        fingerprint([*EXAMPLES[:2], replace(EXAMPLES[2], claim="b")]),
        fingerprint(EXAMPLES, max_length=16, empty_rows=5),
        fingerprint(EXAMPLES, one_row=True),
    ]
    assert len({data.fingerprint(), *others}) == 6


def test_the_fingerprint_sees_where_the_segment_ends(data: Dataset):
    assert replace(data, segment=data.segment + 1).fingerprint() != data.fingerprint()


def test_shuffling_permutes_rows_within_their_claim_and_nothing_else(data: Dataset):
    generator = torch.Generator().manual_seed(0)
    plain = data.batch([0, 1, 2])
    seen = set()
    for _ in range(60):
        batch = data.batch([0, 1, 2], generator)
        assert torch.equal(batch.row_of, plain.row_of) and torch.equal(batch.present, plain.present)
        order = []
        for claim in range(3):
            rows = batch.row_of[claim][batch.present[claim]]
            ids = [tuple(r) for r in batch.input_ids[rows].tolist()]
            own = [tuple(r) for r in plain.input_ids[rows].tolist()]
            assert sorted(ids) == sorted(own)
            order.append(tuple(own.index(i) for i in ids))
        for name in ("lengths", "segment", "has_text"):  # they move with their row
            moved = [int(plain.row_of[c, n]) for c in range(3) for n in order[c]]
            assert torch.equal(getattr(batch, name), getattr(plain, name)[moved])
        seen.add(order[2])
    assert seen == set(permutations(range(3)))  # every order comes up


def test_shuffling_is_decided_by_the_generator(data: Dataset):
    first, second = (data.batch([2, 0], torch.Generator().manual_seed(4)) for _ in range(2))
    assert torch.equal(first.input_ids, second.input_ids)


def test_cached_states_move_with_their_rows(data: Dataset):
    states = np.arange(len(data.tokens), dtype=np.float16)[:, None].repeat(2, axis=1)
    cached = replace(data, states=states)
    for shuffle in (None, torch.Generator().manual_seed(1)):
        batch = cached.batch([2, 1, 0], shuffle)
        assert batch.states is not None
        for row, length in enumerate(batch.lengths.tolist()):
            places = batch.states[row, :length, 0].long().numpy()
            assert data.tokens[places].tolist() == batch.input_ids[row, :length].tolist()
            assert np.diff(places).tolist() == [1] * (length - 1)
            assert not batch.states[row, length:].any()


def test_shuffled_evidence_reorders_what_one_row_will_hold(writer: RowWriter):
    evidence = tuple(Evidence(letter) for letter in "abcde")
    examples = [Example(i, "g", evidence, "SUPPORTS") for i in range(200)]
    shuffled = list(shuffle_evidence(examples, seed=3))
    assert [e.id for e in shuffled] == [e.id for e in examples]
    assert all(sorted(e.evidence, key=lambda s: s.text) == list(evidence) for e in shuffled)
    first = [e.evidence[0].text for e in shuffled]
    assert all(20 <= first.count(letter) <= 65 for letter in "abcde")  # 40 each, ± 4 standard deviations
    assert list(shuffle_evidence(examples, seed=3)) == shuffled
    assert list(shuffle_evidence(examples, seed=4)) != shuffled
    one_row = RowWriter(writer.tokenizer, Layout(one_row=True))
    assert len({tuple(row.ids) for [row] in one_row.write(shuffled)}) > 20
    alone = Example(1, "g")
    assert list(shuffle_evidence([alone], seed=0)) == [alone]


def test_more_claims_than_a_chunk_keep_their_order(writer: RowWriter):
    examples = [Example(i, "abcdefg"[i % 7]) for i in range(CHUNK + 3)]
    data = tokenize(iter(examples), writer, FEVER_LABELS)
    assert data.ids == tuple(range(CHUNK + 3))
    assert data.batch([CHUNK + 1]).input_ids.tolist() == [[2, 5 + (CHUNK + 1) % 7, 3]]


def test_no_claims_make_an_empty_dataset(writer: RowWriter):
    data = tokenize([], writer, FEVER_LABELS)
    assert len(data) == 0
    assert data.class_counts(3) == [0, 0, 0]
    assert data.claim_tokens().tolist() == []


def test_chunks_are_full_but_for_the_last():
    assert list(chunks(iter(range(5)), 2)) == [[0, 1], [2, 3], [4]]
    assert list(chunks([], 2)) == []
