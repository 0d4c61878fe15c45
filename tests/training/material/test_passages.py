from __future__ import annotations

import random
from pathlib import Path

import pytest

from adjudge.errors import DataError
from adjudge.training.material.passages import COPIES, passage_views, read_passages

RULES = """T: Boathouse rules
1: The pontoon was rebuilt in 2019.
2: It carries forty people.
3: Guests are not allowed on it.
4: The boathouse opens at six.
5: Keys are with the captain.
6: Sculls may be taken out freely.
S 1 2: What was rebuilt in 2019 holds forty.
R 3: Visitors may step onto the pontoon.
N 4: The boathouse closes at nine.
"""


def write(folder: Path, content: str) -> Path:
    path = folder / "rules.txt"
    path.write_text(content, "utf-8")
    return path


def test_a_document_has_sentences_and_claims_with_what_decides_them(tmp_path: Path) -> None:
    (document,) = read_passages(write(tmp_path, RULES))
    assert document.title == "Boathouse rules"
    assert len(document.sentences) == 6
    assert [(claim.label.value, claim.deciding) for claim in document.claims] == [
        ("SUPPORTS", (0, 1)),
        ("REFUTES", (2,)),
        ("NOT ENOUGH INFO", (3,)),
    ]
    assert document.contexts[1] == "The pontoon was rebuilt in 2019."
    assert document.contexts[3] == ""


def test_a_claim_is_shown_with_its_sentences_among_others_of_the_document(tmp_path: Path) -> None:
    (document,) = read_passages(write(tmp_path, RULES))
    views = passage_views(document, random.Random(3), titles=1, among=1, removed=0, most=4)
    for view, claim in zip(views, document.claims, strict=False):
        texts = [sentence.text for sentence in view.evidence]
        assert {document.sentences[number] for number in claim.deciding} <= set(texts)
        assert len(set(texts)) == len(texts) <= 4
        assert view.label == claim.label.value
    for copy in views[3 : 3 + COPIES]:
        assert copy.label == "SUPPORTS"
        assert copy.claim in [sentence.text for sentence in copy.evidence]
    carries = next(s for s in views[0].evidence if s.text == "It carries forty people.")
    assert carries.title == "Boathouse rules: The pontoon was rebuilt in 2019."


def test_a_part_of_a_sentence_is_supported_and_a_changed_part_refuted(tmp_path: Path) -> None:
    text = (
        "T: Ferry\n1: A ticket costs 18 euros in all seasons; dogs travel free of charge.\nN 1: It is new.\n"
    )
    (document,) = read_passages(write(tmp_path, text))
    made: dict[str, set[str]] = {"SUPPORTS": set(), "REFUTES": set(), "NOT ENOUGH INFO": set()}
    for seed in range(12):
        views = passage_views(document, random.Random(seed), titles=0, among=0, removed=0, most=3)
        for view in views[1 + COPIES :]:
            made[str(view.label)].add(view.claim)
    assert made["SUPPORTS"] == {"A ticket costs 18 euros in all seasons.", "Dogs travel free of charge."}
    assert made["REFUTES"] and not made["NOT ENOUGH INFO"]
    assert all(claim.startswith("A ticket costs ") and "18 " not in claim for claim in made["REFUTES"])


def test_a_claim_without_its_sentences_is_left_open(tmp_path: Path) -> None:
    (document,) = read_passages(write(tmp_path, RULES))
    views = passage_views(document, random.Random(1), titles=0, among=1, removed=1, most=4)
    assert {view.label for view in views} == {"NOT ENOUGH INFO"}
    refuted = views[1]
    assert refuted.evidence
    assert "Guests are not allowed on it." not in [sentence.text for sentence in refuted.evidence]
    assert all("Boathouse" not in sentence.title for sentence in refuted.evidence)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("T: A\n1: One.\nS 2: Two.", r"rules\.txt:3: 'S 2: Two\.': expected 'T: a title'"),
        ("T: A\n1: One.\n3: Three.", r"rules\.txt:3: '3: Three\.'"),
        ("1: One.\nS 1: One.", r"rules\.txt:1: a document without a title"),
        ("\nT: A\n1: One.", r"rules\.txt:2: a document without claims"),
        ("T: A\n1: One.\nS: One.", r"rules\.txt:3: 'S: One\.'"),
    ],
)
def test_what_is_not_a_document_is_refused_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(read_passages(write(tmp_path, content)))
