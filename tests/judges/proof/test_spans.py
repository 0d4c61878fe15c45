from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.facts.words import words_of
from adjudge.judges.proof.logic import Operator
from adjudge.judges.proof.spans import MOST_WORDS, align, compare_by_rule, cut_into_chunks
from adjudge.types import Evidence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Savages was directed by Oliver Stone.", ["Savages", "was directed", "by Oliver Stone"]),
        ("The bridge was opened in 1932.", ["The bridge", "was opened", "in 1932"]),
        ("Keanu Reeves is not an actor", ["Keanu Reeves", "is not an actor"]),
        ("He was there", ["He was there"]),
        ("", []),
    ],
)
def test_a_claim_is_cut_at_names_numbers_and_small_words(text: str, expected: list[str]):
    assert [text[slice(*chunk)] for chunk in cut_into_chunks(text)] == expected


@given(st.text(max_size=200))
def test_chunks_are_in_order_hold_all_words_and_do_not_overlap(text: str):
    chunks = cut_into_chunks(text)
    assert all(one.end <= other.start for one, other in zip(chunks, chunks[1:], strict=False))
    words = words_of(text)
    covered = [word for word in words if any(c.start <= word.start and word.end <= c.end for c in chunks)]
    assert covered == words


CLAIM = "Savages was directed by Oliver Stone in 1999."
EVIDENCE = (
    Evidence("It was shot in Mexico in 2012 .", page="Savages", line=1),
    Evidence("The thriller is directed and produced by Oliver Stone .", page="Savages", line=0),
)


def test_chunks_meet_the_words_title_or_number_that_resembles_them():
    aligned = align(CLAIM, EVIDENCE)
    texts = []
    for step in aligned:
        sentence = "" if step.sentence is None or step.span is None else EVIDENCE[step.sentence].text
        texts.append((CLAIM[slice(*step.chunk)], sentence[slice(*step.span)] if step.span else None))
    assert texts == [
        ("Savages", None),  # the title
        ("was directed", "directed"),
        ("by Oliver Stone", "Oliver Stone"),
        ("in 1999", None),  # the likeliest sentence has no number
    ]
    assert [step.likeness for step in aligned] == [1.0, 1.0, 1.0, 0.0]
    assert aligned[0].sentence is not None and aligned[3].sentence is None


def test_a_number_that_is_nowhere_meets_another():
    [*_, year] = align("It was shot in 1999.", EVIDENCE[:1])
    assert year.sentence == 0 and year.span is not None
    assert EVIDENCE[0].text[slice(*year.span)] == "2012"


def test_spans_are_of_seven_words_at_most():
    long = Evidence("Oliver " + "very " * 20 + "Stone directed it .")
    for step in align("Oliver Stone directed it.", [long]):
        assert step.span is None or len(words_of(long.text[slice(*step.span)])) <= MOST_WORDS


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        ("was opened", "It was opened .", "≡"),
        ("was opened", "Nothing about that .", "#"),
        ("was not opened", "It was opened .", "¬"),
        ("was opened", "It closed after it opened .", "⊑"),
        ("in 1999", "It was in 2001 .", "⥯"),
        ("red big castle", "The castle was big .", "⊒"),
    ],
)
def test_words_alone_say_how_a_chunk_relates(claim: str, evidence: str, expected: str):
    [step] = align(claim, [Evidence(evidence)])
    operator = compare_by_rule(claim, step, [Evidence(evidence)])
    if expected == "⊑":  # the span begins and ends with words of the chunk, so nothing more is in it
        assert operator in (Operator.EQUIVALENCE, Operator.FORWARD)
    else:
        assert operator.value == expected
