from __future__ import annotations

import json
import re
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from adjudge.data import formats
from adjudge.data.kgat import read_pages, read_training_claims, write_examples
from adjudge.errors import DataError
from adjudge.types import Evidence, Example

read_examples = partial(formats.read_examples, format="kgat")

ROME = {
    "id": 1,
    "claim": "Rome is old.",
    "label": "SUPPORTS",
    "evidence": [["Rome", 0, "Rome is old .", 1.0], ["", -1, "Cities age .", 0]],
    "retrieved": [["", -1, "Cities age .", 7.5]],
}


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_an_example_has_its_sentences_with_page_line_and_score(tmp_path: Path) -> None:
    (example,) = read_examples(lines(tmp_path / "a.jsonl", ROME))
    evidence = (Evidence("Rome is old .", "Rome", 0, 1.0), Evidence("Cities age .", "", -1, 0.0))
    assert example == Example(1, "Rome is old.", evidence, "SUPPORTS")


def test_the_retrieved_sentences_can_be_read_instead(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", ROME)
    (example,) = read_examples(path, field="retrieved")
    assert example.evidence == (Evidence("Cities age .", "", -1, 7.5),)
    with pytest.raises(DataError, match=r"a\.jsonl:1: no field 'ranked'; found 'id', 'claim'"):
        list(read_examples(path, field="ranked"))


def test_a_claim_keeps_every_sentence_that_says_something(tmp_path: Path) -> None:
    evidence = [["P", line, "" if line == 1 else f"s{line}", 0.0] for line in range(9)]
    (example,) = read_examples(lines(tmp_path / "a.jsonl", ROME | {"evidence": evidence}))
    assert [item.line for item in example.evidence] == [0, 2, 3, 4, 5, 6, 7, 8]


def test_no_evidence_is_legitimate(tmp_path: Path) -> None:
    (example,) = read_examples(lines(tmp_path / "a.jsonl", ROME | {"evidence": []}), require_labels=True)
    assert example.evidence == ()


@pytest.mark.parametrize(("words", "refused"), [(2000, False), (2001, True), (10_000, True)])
def test_a_document_is_not_a_sentence(words: int, refused: bool, tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", ROME, ROME | {"id": 2, "evidence": [["P", 0, "word " * words, 0.0]]})
    if not refused:
        assert len(list(read_examples(path))) == 2
        return
    with pytest.raises(DataError, match=rf"a\.jsonl:2: an evidence sentence of {words:,} words"):
        list(read_examples(path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "SUPPORTED"}, "label 'SUPPORTED' is not one of SUPPORTS, REFUTES, NOT ENOUGH INFO."),
        ({"label": None}, "the claim has no label"),
        ({"claim": ""}, "the claim is empty."),
        ({"id": 0}, "id 0 was already used in line 1."),
        ({"evidence": None}, "field 'evidence' is null, expected a list."),
        (
            {"evidence": [["Rome", 0, "Rome is old ."]]},
            'evidence ["Rome",0,"Rome is old ."] is not a sentence',
        ),
        ({"evidence": [["Rome", True, "Rome is old .", 1.0]]}, 'evidence ["Rome",true,'),
        ({"evidence": [["Rome", 0, "Rome is old .", True]]}, 'evidence ["Rome",0,'),
        ({"titles": ["Rome", 1]}, "field 'titles' is [\"Rome\",1], expected a text for each of 2 evidence"),
        ({"titles": "Rome"}, "field 'titles' is \"Rome\", expected a list."),
        (
            {"evidence": ["Rome is old ."]},
            'evidence "Rome is old ." is not a sentence, expected [page, line,',
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, change: dict, message: str) -> None:
    path = lines(tmp_path / "a.jsonl", ROME | {"id": 0}, ROME | change)
    with pytest.raises(DataError) as caught:
        list(read_examples(path, require_labels=True))
    assert str(caught.value).startswith(f"{path}:2: {message}")


def test_a_claim_without_the_evidence_field_is_an_error(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"id": 1, "claim": "Rome is old."})
    with pytest.raises(DataError, match=r"a\.jsonl:1: no field 'evidence'; found 'id', 'claim'\."):
        list(read_examples(path))


def test_examples_survive_writing(tmp_path: Path) -> None:
    unlabelled = {"id": "x", "claim": "Ünd?", "evidence": []}
    examples = list(read_examples(lines(tmp_path / "a.jsonl", ROME, unlabelled)))
    assert write_examples(tmp_path / "b.jsonl.gz", examples) == 2
    assert list(read_examples(tmp_path / "b.jsonl.gz")) == examples


def test_titles_that_pages_do_not_spell_survive_writing(tmp_path: Path) -> None:
    named = Evidence("Rome is old .", "guide.pdf#page=3", 0, title="A Guide")
    spelt = Evidence("Rome is old .", "Rome_-LRB-city-RRB-", 0, title="Rome (city)")
    write_examples(tmp_path / "a.jsonl", [Example(1, "Old?", (named, spelt)), Example(2, "Old?", (spelt,))])
    assert "titles" not in (tmp_path / "a.jsonl").read_text().splitlines()[1]
    both, without = read_examples(tmp_path / "a.jsonl")
    assert both.evidence == (named, spelt)
    assert without.evidence[0].title == ""


def test_injected_gold_is_said_and_read(tmp_path: Path) -> None:
    write_examples(tmp_path / "a.jsonl", [Example(1, "Old?", gold_injected=True), Example(2, "Old?")])
    assert [example.gold_injected for example in read_examples(tmp_path / "a.jsonl")] == [True, False]
    assert "gold_injected" not in (tmp_path / "a.jsonl").read_text().splitlines()[1]


def test_reading_is_lazy(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", ROME, {"broken": True})
    assert next(read_examples(path)).id == 1


@pytest.mark.parametrize(
    ("name", "supports", "refutes", "nothing"),
    [("train", 13_428, 12_227, 9_388), ("dev_gold", 848, 832, 841), ("dev_retrieved", 848, 832, 841)],
)
def test_the_real_files_have_their_published_counts(
    shared_data, name: str, supports: int, refutes: int, nothing: int
) -> None:
    examples = read_examples(shared_data / f"fever/{name}.jsonl.gz", require_labels=True)
    counts = Counter(example.label for example in examples)
    assert counts == {"SUPPORTS": supports, "REFUTES": refutes, "NOT ENOUGH INFO": nothing}


def test_real_examples_survive_writing(shared_data, tmp_path: Path) -> None:
    examples = list(read_examples(shared_data / "fever/dev_gold.jsonl.gz"))
    assert min(len(example.evidence) for example in examples) == 0
    assert max(len(example.evidence) for example in examples) == 52
    write_examples(tmp_path / "dev.jsonl", examples)
    assert list(read_examples(tmp_path / "dev.jsonl")) == examples


def test_real_training_claims_have_five_retrieved_sentences_without_gold(shared_data) -> None:
    retrieved = read_examples(shared_data / "fever/train.jsonl.gz", field="retrieved")
    scores = [[item.score for item in next(retrieved).evidence] for _ in range(200)]
    assert {len(five) for five in scores} == {5}
    assert all(five == sorted(five, reverse=True) for five in scores)


def test_a_training_claim_knows_its_gold_what_was_retrieved_and_its_page(tmp_path: Path):
    path = tmp_path / "train.jsonl"
    both = {"id": 1, "claim": "A.", "label": "SUPPORTS", "page": 7}
    both |= {
        "evidence": [["", -1, "g", 1.0], ["", -1, "x", 0.0], ["", -1, "y", 7.5]],
        "retrieved": [["", -1, "r", 3.5]],
    }
    one = {"id": 2, "claim": "B.", "label": "NEI", "evidence": [["P", 3, "x", 0.2]]}
    path.write_text(f"{json.dumps(both)}\n{json.dumps(one)}\n")
    first, second = read_training_claims(path)
    assert (first.id, first.text, first.label, first.page) == (1, "A.", "SUPPORTS", 7)
    assert ([s.text for s in first.gold], [s.text for s in first.retrieved]) == (["g"], ["r"])
    assert (second.label, second.gold, second.page) == ("NOT ENOUGH INFO", (), None)
    assert second.retrieved == (Evidence("x", "P", 3, 0.2),)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"page": "P"}, "field 'page' is \"P\", expected a whole number"), ({"label": None}, "has no label")],
)
def test_a_training_claim_out_of_shape_is_named(tmp_path: Path, change: dict, message: str):
    path = tmp_path / "train.jsonl"
    record = {"id": 1, "claim": "A.", "label": "SUPPORTS", "evidence": [], **change}
    path.write_text(json.dumps(record) + "\n")
    with pytest.raises(DataError, match=f"train.jsonl:1: .*{re.escape(message)}"):
        list(read_training_claims(path))


def test_pages_are_read_by_number(tmp_path: Path):
    path = tmp_path / "pages.jsonl"
    path.write_text('{"page": 4, "sentences": ["a", " ", "b"]}\n')
    assert read_pages(path) == {4: ("a", "b")}
    path.write_text('{"page": "x", "sentences": ["a"]}\n')
    with pytest.raises(DataError, match="pages.jsonl:1: expected a page's number"):
        read_pages(path)
