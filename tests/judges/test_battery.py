from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from adjudge.errors import DataError
from adjudge.judges.battery import judge_sets, set_files
from adjudge.types import FEVER_LABELS, Example, Verdict

S, R, N = FEVER_LABELS.names


class WordJudge:
    """SUPPORTS what stands in the evidence word for word, REFUTES what stands in a title, else neither."""

    labels = FEVER_LABELS
    max_evidence = None
    identity = {"kind": "words"}

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        for example in examples:
            texts = [sentence.text for sentence in example.evidence]
            titles = [sentence.title for sentence in example.evidence]
            label = S if example.claim in texts else R if example.claim in titles else N
            yield Verdict(
                example.id, example.claim, label, {name: float(name == label) for name in (S, R, N)}
            )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"id": 1, "claim": "a", "label": "SUPPORTS", "evidence": [["", -1, "a", 0], ["", -1, "b", 0]]},
        {"id": 2, "claim": "c", "label": "REFUTES", "evidence": [["p", 0, "b", 0]], "titles": ["c"]},
        {"id": 3, "claim": "d", "label": "NOT ENOUGH INFO", "evidence": [["", -1, "b", 0]]},
    ]
    folder = tmp_path / "dev"
    folder.mkdir()
    (folder / "one.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "two.jsonl").write_text(json.dumps(rows[0]) + "\n")
    (folder / "README.md").write_text("not a data set")
    return folder


def test_a_folder_stands_for_its_data_sets(folder: Path):
    assert [path.name for path in set_files([folder])] == ["one.jsonl", "two.jsonl"]
    assert set_files([folder / "README.md"]) == [
        folder / "README.md"
    ]  # named by the user: read, and refused there


def test_a_folder_without_data_sets_is_an_error_that_names_it(tmp_path: Path):
    with pytest.raises(DataError, match=str(tmp_path)):
        set_files([tmp_path])


def test_every_set_is_judged_and_named_by_file_and_folder(folder: Path):
    one, two = judge_sets(set_files([folder]), WordJudge())
    assert (one.name, one.group, one.claims) == ("one", "dev", 3)
    assert one.recall == {S: 1.0, R: 1.0, N: 1.0}
    assert (two.name, two.claims, two.recall) == ("two", 1, {S: 1.0})


def test_a_judge_can_be_kept_from_seeing_titles(folder: Path):
    (figures,) = judge_sets([folder / "one.jsonl"], WordJudge(), titles=False)
    assert figures.recall == {S: 1.0, R: 0.0, N: 1.0}


def test_a_limit_takes_the_first_claims(folder: Path):
    (figures,) = judge_sets([folder / "one.jsonl"], WordJudge(), limit=2)
    assert figures.claims == 2


def test_progress_is_told_the_file_and_its_claims(folder: Path):
    seen: list[tuple[str, int]] = []

    def watch(verdicts: Iterable[Verdict], path: Path, claims: int) -> Iterable[Verdict]:
        seen.append((path.name, claims))
        return verdicts

    list(judge_sets(set_files([folder]), WordJudge(), watch=watch))
    assert seen == [("one.jsonl", 3), ("two.jsonl", 1)]
