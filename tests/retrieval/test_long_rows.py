"""Rows of many sentences, their scores and losses, against loops over tokens."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from adjudge.encoders.loading import tiny_encoder
from adjudge.encoders.rows import Layout, RowWriter
from adjudge.retrieval.long_rows import (
    NOBODY,
    LongRowWriter,
    TrainedLongRanker,
    list_loss,
    long_batch,
    page_loss,
    sentence_scores,
)
from adjudge.retrieval.ranker import RankerSettings, build_ranker, load_ranker, save_ranker
from adjudge.retrieval.selectors import ScoredSelector, load_selector
from adjudge.types import Evidence

SENTENCES = [
    Evidence("a b c", "P", 0),
    Evidence("d e", "Q", 0),
    Evidence("f", "P", 1),
    Evidence("", "P", 2),
]


def writer(by_page: bool, max_length: int = 64, titles: bool = True) -> LongRowWriter:
    tokenizer = tiny_encoder()[1]
    return LongRowWriter(RowWriter(tokenizer, Layout(max_length=max_length, titles=titles)), by_page)


def ranker(kind: str, max_length: int = 64) -> TrainedLongRanker:
    torch.manual_seed(0)
    made = build_ranker(RankerSettings(kind=kind, backbone="tiny", max_length=max_length, dropout=0.0))  # type: ignore[arg-type]
    assert isinstance(made, TrainedLongRanker)
    return made


def test_all_candidates_share_a_row_and_every_token_has_an_owner():
    [row] = writer(by_page=False, titles=False).write("it is", SENTENCES)
    assert len(row.ids) == len(row.owners)
    owned = row.owners[row.segment :]
    assert sorted(set(owned)) == [0, 1, 2, 3] and owned == sorted(owned)
    assert set(row.owners[: row.segment]) == {NOBODY}
    assert owned.count(3) == 1  # a sentence without text owns its separator


def test_sentences_of_a_page_share_a_row():
    rows = writer(by_page=True).write("it is", SENTENCES)
    assert [sorted(set(row.owners) - {NOBODY}) for row in rows] == [[0, 2, 3], [1]]


def test_what_does_not_fit_goes_to_further_rows_with_the_same_claim():
    made = writer(by_page=False, max_length=24, titles=False)
    many = [Evidence("a b c d e", "P", n) for n in range(9)] + [Evidence("f " * 60, "P", 9)]
    rows = made.write("it is", many)
    assert len(rows) > 1 and all(len(row.ids) <= 24 for row in rows)
    assert len({tuple(row.ids[: row.segment]) for row in rows}) == 1
    owners = [{owner for owner in row.owners if owner >= 0} for row in rows]
    assert set().union(*owners) == set(range(10))  # every sentence somewhere
    assert sum(map(len, owners)) == 10  # and in one row only


def test_a_sentence_scores_the_mean_of_its_tokens():
    made = ranker("list")
    rows = made.writer.write("it is", SENTENCES)
    batch, owners = long_batch(rows, made.writer.writer.pad)
    with torch.inference_mode():
        tokens = made.module.eval()(batch)
        states = made.module.backbone(batch).states
    weight, bias = made.module.score.weight[0].detach(), made.module.score.bias[0].detach()
    scores = sentence_scores(tokens, owners, 4)
    for number in range(4):
        values = [
            float(states[r, t] @ weight + bias)
            for r, row in enumerate(rows)
            for t, owner in enumerate(row.owners)
            if owner == number
        ]
        assert scores[number].item() == pytest.approx(sum(values) / len(values), abs=1e-5)
    assert made.score_many(["it is"], [SENTENCES])[0] == pytest.approx(
        [1 / (1 + math.exp(-score)) for score in scores.tolist()], abs=1e-5
    )
    assert made.score_many(["a", "b"], [[], SENTENCES[:1]])[0] == []


def test_cutting_a_page_into_windows_changes_no_sentence_of_the_others():
    made = ranker("page", max_length=64)
    alone = made.score_many(["it is"], [[SENTENCES[1]]])[0]
    assert made.score_many(["it is"], [SENTENCES])[0][1] == pytest.approx(alone[0], abs=1e-5)


def test_the_page_loss_is_the_mean_over_tokens_and_over_first_tokens():
    tokens = torch.tensor([[0.5, 1.0, -1.0, 9.0], [-0.5, 2.0, 9.0, 9.0]])
    owners = torch.tensor([[-1, 0, 1, -1], [-1, 2, -1, -1]])
    gold = torch.tensor([True, False, False])

    def nll(score: float, label: bool) -> float:
        return math.log1p(math.exp(-score if label else score))

    # Tokens: 1.0 gold, −1.0 and 2.0 not; first tokens: row 0 holds gold, row 1 does not.
    expected = (nll(1.0, True) + nll(-1.0, False) + nll(2.0, False)) / 3
    expected += (nll(0.5, True) + nll(-0.5, False)) / 2
    assert page_loss(tokens, owners, gold).item() == pytest.approx(expected, abs=1e-6)


def test_the_list_loss_is_minus_the_log_share_of_gold():
    scores = torch.tensor([1.0, 0.0, 2.0])
    gold = torch.tensor([True, False, True])
    total = math.e + 1 + math.e**2
    assert list_loss(scores, gold).item() == pytest.approx(-math.log((math.e + math.e**2) / total), abs=1e-6)


FIRST = Evidence("g h", "F", 0)


@pytest.mark.parametrize("by_page", [True, False])
def test_in_a_second_hop_the_first_sentence_stands_after_the_claim(by_page: bool):
    made = writer(by_page)
    plain, hopped = made.write("it is", SENTENCES), made.write("it is", SENTENCES, FIRST)
    separator = made.writer.tokenizer.sep_token_id
    title, text = made._ids(["F"])[0], made._ids(["g h"])[0]
    for without, row in zip(plain, hopped, strict=True):
        after = [*title, separator, *text, separator]
        claim = without.ids[: without.segment]
        assert row.ids == [*claim, *after, *without.ids[without.segment :]]
        assert row.segment == len(claim) + len(after)
        assert row.owners == [*[NOBODY] * row.segment, *without.owners[without.segment :]]


@pytest.mark.parametrize("max_length", [16, 17, 18, 24, 33, 64])
def test_a_first_sentence_of_any_length_leaves_room_for_those_that_are_scored(max_length: int):
    made = writer(by_page=True, max_length=max_length)
    long = "a b c d e " * 20
    rows = made.write(
        long, [Evidence(long, "P P P P " * 9, 0), Evidence("f", "Q", 1)], Evidence(long, long, 2)
    )
    assert all(len(row.ids) == len(row.owners) <= max_length for row in rows)
    assert {owner for row in rows for owner in row.owners} == {NOBODY, 0, 1}


def test_a_score_after_a_sentence_is_that_of_its_row():
    made = ranker("page")
    [alone], [after] = (made.score_after(["it is"], [first], [SENTENCES[:1]])[0] for first in (None, FIRST))
    assert alone == made.score_many(["it is"], [SENTENCES[:1]])[0][0] != after
    [row] = made.writer.write("it is", SENTENCES[:1], FIRST)
    with torch.inference_mode():
        tokens = made.module.eval()(long_batch([row], made.writer.writer.pad)[0])[0].tolist()
    owned = [score for score, owner in zip(tokens, row.owners, strict=True) if owner == 0]
    assert after == pytest.approx(1 / (1 + math.exp(-sum(owned) / len(owned))), abs=1e-5)


@pytest.mark.parametrize("kind", ["page", "list"])
def test_a_long_ranker_is_saved_loaded_and_selected_by_its_folder(kind: str, tmp_path: Path):
    made = ranker(kind)
    save_ranker(made, tmp_path / "ranker")
    again = load_ranker(tmp_path / "ranker")
    assert isinstance(again, TrainedLongRanker) and again.settings.kind == kind
    assert again.score_many(["it is"], [SENTENCES]) == made.score_many(["it is"], [SENTENCES])
    selector = load_selector(str(tmp_path / "ranker"), precision="fp32")
    assert isinstance(selector, ScoredSelector)
    assert len(selector.select("it is", SENTENCES, 2)) == 2
