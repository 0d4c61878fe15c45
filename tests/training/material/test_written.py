from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.errors import DataError
from adjudge.training.material.written import read_written

GROUPS = """T: House rules
E: Dogs are kept on a lead.
E: Cats stay at home.
S: A dog may not run free.
R: Cats may be brought along.

E: The kiosk opens at nine.
N: The kiosk sells newspapers.
"""


def test_a_group_is_evidence_and_claims_with_their_labels(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text(GROUPS, "utf-8")
    rules, kiosk = read_written(path)
    assert [(e.claim, e.label) for e in rules] == [
        ("A dog may not run free.", "SUPPORTS"),
        ("Cats may be brought along.", "REFUTES"),
    ]
    assert [(s.text, s.title) for s in rules[0].evidence] == [
        ("Dogs are kept on a lead.", "House rules"),
        ("Cats stay at home.", "House rules"),
    ]
    assert [(e.claim, e.label, e.evidence[0].title) for e in kiosk] == [
        ("The kiosk sells newspapers.", "NOT ENOUGH INFO", "")
    ]
    assert len({e.id for e in [*rules, *kiosk]}) == 3


def test_a_folder_gives_the_groups_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("E: Second.\nS: It is second.", "utf-8")
    (tmp_path / "a.txt").write_text("E: First.\nS: It is first.\n\n", "utf-8")
    assert [group[0].claim for group in read_written(tmp_path)] == ["It is first.", "It is second."]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("E: A sentence.\nX: What?", r"rules\.txt:2: 'X: What\?': expected lines such as"),
        ("\n\nE: A sentence.\n\nS: A claim.", r"rules\.txt:3: a group without claims"),
        ("S: A claim.", r"rules\.txt:1: a group without evidence"),
        ("E:", r"rules\.txt:1: 'E:': expected"),
    ],
)
def test_what_is_not_a_group_is_refused_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "rules.txt"
    path.write_text(content, "utf-8")
    with pytest.raises(DataError, match=message):
        list(read_written(path))


def test_bytes_that_are_not_text_and_empty_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(DataError, match=r"no \.txt files"):
        list(read_written(tmp_path / "x"))
    (tmp_path / "bad.txt").write_bytes(b"E: \xff")
    with pytest.raises(DataError, match="cannot be read"):
        list(read_written(tmp_path / "bad.txt"))
