from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from adjudge.errors import ConfigError
from adjudge.retrieval.judged import JudgeScorer
from adjudge.retrieval.selectors import ScoredSelector, load_selector
from adjudge.types import FEVER_LABELS, Evidence, Example, LabelSet, Verdict


class WordCount:
    """A judge that finds a sentence the more telling the more words it has."""

    identity = {"kind": "words"}
    max_evidence = 5

    def __init__(self, labels: LabelSet = FEVER_LABELS) -> None:
        self.labels = labels

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        for example in examples:
            [sentence] = example.evidence
            telling = len(sentence.text.split()) / 10
            p = {"SUPPORTS": telling / 2, "REFUTES": telling / 2, "NOT ENOUGH INFO": 1 - telling}
            yield Verdict(example.id, example.claim, "SUPPORTS", p, example.evidence)


def test_a_sentence_scores_by_how_surely_it_alone_decides():
    scorer = JudgeScorer(WordCount())
    candidates = [[Evidence("one two three"), Evidence("one")], [], [Evidence("one two")]]
    scores = scorer.score_many(["a", "b", "c"], candidates)
    assert [[round(score, 6) for score in of] for of in scores] == [[0.3, 0.1], [], [0.2]]


def test_a_judge_without_a_neutral_label_cannot_select():
    with pytest.raises(ConfigError, match="A judge of the labels yes, no cannot select"):
        JudgeScorer(WordCount(LabelSet(("yes", "no"))))


def test_a_judge_is_a_selector_by_name(monkeypatch: Any):
    monkeypatch.setattr("adjudge.judges.folder.load_judge", lambda name, *_: {"runs/x": WordCount()}[name])
    selector = load_selector("judge:runs/x")
    assert isinstance(selector, ScoredSelector) and selector.identity["scorer"]["kind"] == "judge"
    [selection] = selector.select_many(["a"], [[Evidence("one"), Evidence("one two")]], 1)
    assert selection[0].text == "one two"
