"""The parts of a sentence, as statements of their own with their places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.data.clauses import lacks_subject, split_by_rules, subject_of, with_subject
from adjudge.types import Span


def texts(sentence: str) -> list[str]:
    return [part.text for part in split_by_rules(sentence)]


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        (
            "The bridge was opened in 1932, and it has three arches.",
            ["The bridge was opened in 1932.", "The bridge has three arches."],
        ),
        (
            "The mill opened in 1890 and has two wheels.",
            ["The mill opened in 1890.", "The mill has two wheels."],
        ),
        (
            "The firm employs 300 people; its revenue was $4 million.",
            ["The firm employs 300 people.", "The firm’s revenue was $4 million."],
        ),
        (
            "He was born in Riga, grew up in Oslo and died in Lund.",
            ["He was born in Riga.", "He grew up in Oslo.", "He died in Lund."],
        ),
        (
            "The author of the book, who lives in Paris, refused the prize.",
            ["The author of the book refused the prize.", "The author of the book lives in Paris."],
        ),
        (
            "The program runs on Linux, macOS and Windows.",
            ["The program runs on Linux.", "The program runs on macOS.", "The program runs on Windows."],
        ),
        (
            "The museum opened in May; the café followed in June.",
            ["The museum opened in May.", "The café followed in June."],
        ),
        (
            "The mill, which was built in 1890, closed in 1975.",
            ["The mill closed in 1975.", "The mill was built in 1890."],
        ),
        (
            "The mayor opened the bridge, which is 120 metres long.",
            ["The mayor opened the bridge.", "The bridge is 120 metres long."],
        ),
        (
            "Anna Keller, a teacher, founded the choir.",
            ["Anna Keller founded the choir.", "Anna Keller was a teacher."],
        ),
        (
            "The library lends books, maps and films.",
            ["The library lends books.", "The library lends maps.", "The library lends films."],
        ),
    ],
)
def test_a_sentence_that_joins_facts_is_split(sentence, parts):
    assert texts(sentence) == parts


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge was opened in 1932.",
        "The museum holds coins and medals.",
        "It passes Dormund before it reaches the sea.",
        "In 1932, the bridge was opened.",
        "Nothing here",
        "",
        "It is the oldest, largest and best-known library of the region.",
        "The bank was founded by Anna Keller, a teacher, and her brother.",
        "The company, based in Linz, employs 410 people.",
    ],
)
def test_a_sentence_of_one_fact_stays_whole(sentence):
    assert texts(sentence) == [sentence]


def test_a_part_knows_what_of_the_sentence_it_is():
    sentence = "The bridge was opened in 1932, and it has three arches."
    first, second = split_by_rules(sentence)
    assert sentence[slice(*first.span)] == "The bridge was opened in 1932"
    assert sentence[slice(*second.span)] == "it has three arches."


def test_a_word_of_a_part_is_found_in_the_sentence_and_a_word_put_in_is_not():
    sentence = "The firm employs 300 people; its revenue was $4 million."
    second = split_by_rules(sentence)[1]
    start = second.text.index("revenue")
    span = second.sentence_span(Span(start, start + 7))
    assert span is not None and sentence[slice(*span)] == "revenue"
    genitive = second.text.index("’s")
    assert second.sentence_span(Span(genitive, genitive + 2)) is None


@pytest.mark.parametrize(
    ("sentence", "subject"),
    [
        ("The Vel bridge was opened in 1932.", "The Vel bridge"),
        ("In 1932, Anna Keller founded the choir.", "Anna Keller"),
        ("Nothing here", None),
    ],
)
def test_the_subject_stands_before_the_first_verb(sentence, subject):
    span = subject_of(sentence)
    assert (sentence[slice(*span)] if span else None) == subject


@pytest.mark.parametrize(
    ("sentence", "resolved"),
    [
        ("It has three arches.", "Vel Bridge has three arches."),
        ("Its arches are tall.", "Vel Bridge’s arches are tall."),
        ("Opened in 1932.", "Vel Bridge opened in 1932."),
        ("The company employs 300 people.", "Vel Bridge employs 300 people."),
        ("Dormund is small.", "Dormund is small."),
    ],
)
def test_a_subject_is_put_in_where_one_is_missing(sentence, resolved):
    assert with_subject(sentence, "Vel Bridge") == resolved


def test_a_sentence_that_begins_with_its_verb_lacks_a_subject():
    assert (
        lacks_subject("Opened in 1932.") and not lacks_subject("Is it old?") and not lacks_subject("The end.")
    )


@given(st.text(alphabet="The mil was, which and ;.opend12\n", max_size=120))
def test_parts_of_any_sentence_keep_its_characters(sentence):
    for part in split_by_rules(sentence):
        assert len(part.offsets) == len(part.text)
        assert 0 <= part.span.start <= part.span.end <= len(sentence)
        for place, letter in zip(part.offsets, part.text, strict=True):
            assert place < 0 or sentence[place].casefold() == letter.casefold()
