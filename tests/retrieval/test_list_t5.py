from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from adjudge.judges.folder import load_judge
from adjudge.judges.list_t5 import verdict_text
from adjudge.retrieval.list_t5 import _Positions, list_text
from adjudge.retrieval.selectors import load_selector
from adjudge.types import FEVER_LABELS, Evidence, Example
from seq2seq_tiny import write_seq2seq

SENTENCES = [Evidence(f"sentence about {word}", f"Page_{n}", n) for n, word in enumerate("abcdefghijkl")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_seq2seq(tmp_path_factory.mktemp("t5"))


def test_only_different_positions_may_be_written():
    # Tokens: digits and a comma (10); 1, and 12, share their first token.
    pieces = [(*map(int, str(n)), 10) for n in range(1, 13)]
    grammar = _Positions(pieces, most=3)
    assert grammar.allowed([]) == list(range(1, 10))
    assert grammar.allowed([1]) == [0, 1, 2, 10]
    assert grammar.allowed([1, 10, 1]) == [0, 1, 2]  # 1 is marked already
    assert grammar.read([1, 2, 10, 3, 10]) == (11, 2)
    assert grammar.read([1, 2, 10, 3]) == (11,)  # cut off
    assert grammar.allowed([1, 10, 2, 10, 3, 10]) == []  # three are enough


def test_any_walk_marks_different_positions():
    grammar = _Positions([(*map(int, str(n)), 10) for n in range(1, 13)], most=5)
    rng = random.Random(0)
    for _ in range(20):
        written: list[int] = []
        while allowed := grammar.allowed(written):
            written.append(rng.choice(allowed))
        marked = grammar.read(written)
        assert len(marked) == len(set(marked)) == 5


def test_a_random_model_selects_from_the_list(folder: Path):
    selector = load_selector(f"t5:{folder}")
    selection = selector.select_many(["a claim", "b"], [SENTENCES, []], 5)
    assert [len(sentences) for sentences in selection] == [5, 0]
    assert {sentence.ref for sentence in selection[0]} <= {sentence.ref for sentence in SENTENCES}
    scores = [sentence.score for sentence in selection[0]]
    assert scores == sorted(scores, reverse=True) and scores[0] == 1.0 and len(set(scores)) == 5
    assert selector.identity["kind"] == "list-t5"


def test_the_list_shows_titles_and_numbers():
    assert list_text("It is.", SENTENCES[:2]) == (
        "claim: It is. 1: Page 0 - sentence about a 2: Page 1 - sentence about b"
    )


def test_a_random_model_judges_from_the_list(folder: Path):
    judge = load_judge(f"t5:{folder}")
    verdicts = list(judge.judge([Example(1, "a claim", tuple(SENTENCES[:7])), Example(2, "b", ())]))
    for verdict in verdicts:
        assert verdict.label in FEVER_LABELS.names
        assert sum(verdict.probabilities.values()) == pytest.approx(1)
        assert verdict.label == max(verdict.probabilities, key=verdict.probabilities.__getitem__)
        text = verdict_text(Example(1, verdict.claim, verdict.evidence))
        [scores] = judge.model.score(
            [text], [[judge.model.encode(w) for w in ("supports", "refutes", "not enough info")]]
        )
        written = [math.exp(score) for score in scores]  # P(label) ∝ P(its name in small letters | text)
        assert list(verdict.probabilities.values()) == pytest.approx([p / sum(written) for p in written])
    assert len(verdicts[0].evidence) == 5 and verdicts[1].reason == "no evidence was given"
