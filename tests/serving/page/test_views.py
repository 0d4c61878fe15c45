"""What the page shows of a check."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest

from adjudge.serving.check.records import Check, CheckedPart, CheckedSentence, EvidenceMark, State
from adjudge.serving.page.views import (
    card_of,
    part_view,
    percent,
    row_of,
    shares_of,
    summary_of,
    tally_of,
    with_sentence,
)
from adjudge.types import Evidence, Explanation, Span, Verdict

TEXT = "The <b> bridge opened in 1934. Is it?"
SHARES = {"SUPPORTS": 0.25, "REFUTES": 0.625, "NOT ENOUGH INFO": 0.125}


def verdict(label: str | None, *evidence: Evidence, edges: tuple[tuple[float, ...], ...] = ()) -> Verdict:
    shares = {} if label is None else SHARES
    return Verdict(0, "claim", label, shares, evidence, explanation=Explanation(edges=edges))


def evidence(text: str, line: int, weight: float, page: str = "a/b.md") -> Evidence:
    return Evidence(text, page, line, weight=weight, title="Bridge")


def checked() -> Check:
    sentences = (evidence("It is long.", 4, 0.7), evidence("It opened in 1932 & closed.", 2, 0.2))
    part = CheckedPart(
        "The <b> bridge opened in 1934.",
        Span(0, 30),
        State.REFUTES,
        verdict=verdict("REFUTES", *sentences, edges=((0.1, 0.9), (0.6, 0.4))),
        marks=(Span(25, 29),),
        evidence_marks=(EvidenceMark(1, Span(13, 17)),),
    )
    first = CheckedSentence("The <b> bridge opened in 1934.", 0, 30, State.REFUTES, (part,))
    return Check(TEXT, (first, CheckedSentence("Is it?", 31, 37, State.NOT_CHECKED, reason="question")))


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["SUPPORTS"] * 3 + ["REFUTES"] + ["NOT ENOUGH INFO"] * 8, "3 support · 1 refutes · 12 considered"),
        (["SUPPORTS", "REFUTES", "REFUTES"], "1 supports · 2 refute · 3 considered"),
        ([None], "0 support · 0 refute · 1 considered"),
    ],
)
def test_the_tally_counts_what_each_sentence_says_alone(labels: list[str | None], words: str) -> None:
    assert tally_of([verdict(label) for label in labels]).words == words


def test_shares_fill_the_bar_side_by_side() -> None:
    shares = shares_of(SHARES)
    assert [(share.start, share.width) for share in shares] == [(0, 25), (25, 62.5), (87.5, 12.5)]
    assert [share.badge.slug for share in shares] == ["supports", "refutes", "not-enough-info"]


@pytest.mark.parametrize(
    ("probability", "words"),
    [(0.0, "0%"), (0.004, "<1%"), (0.006, "1%"), (0.994, "99%"), (0.996, ">99%"), (1.0, "100%")],
)
def test_a_probability_that_is_neither_0_nor_1_is_not_written_so(probability: float, words: str) -> None:
    assert percent(probability) == words


def test_a_row_has_its_state_and_its_wrong_words_marked_and_is_escaped() -> None:
    row = row_of(checked(), 0)
    assert str(row.marked) == "The &lt;b&gt; bridge opened in <mark>1934</mark>."
    assert (row.badge.slug, row.badge.word, row.has_card) == ("refutes", "refuted", True)
    other = row_of(checked(), 1)
    assert (other.badge.slug, other.reason, other.has_card) == ("not-checked", "question", False)


def test_a_row_waits_until_its_verdict_has_come() -> None:
    check = with_sentence(checked(), 0, CheckedSentence("The", 0, 3, State.NOT_CHECKED))
    assert row_of(check, 0, pending=True).badge.slug == "checking"
    assert row_of(check, 1, pending=True).badge.slug == "not-checked"  # it will not be checked


def test_a_card_puts_the_sentence_that_speaks_against_the_claim_first() -> None:
    alone = [[verdict("NOT ENOUGH INFO"), verdict("REFUTES")]]
    card = card_of(checked(), 0, alone, "my docs")
    [view] = card.parts
    first, second = view.evidence
    assert (first.rank, first.sentence, first.weight, second.weight) == (1, 1, 20, 70)
    assert str(first.marked) == 'It opened in <mark class="against">1932</mark> &amp; closed.'
    assert (first.alone.word, second.alone.word) == ("refuted", "not enough info")
    assert (view.rank_of(0), view.rank_of(1)) == (2, 1)
    assert (card.line, view.tally.words) == (1, "0 support · 1 refutes · 2 considered")
    assert [(arrow.origin, arrow.target) for arrow in view.graph.arrows] == [(0, 1), (1, 0)]


def test_a_card_says_what_an_answer_that_was_withheld_would_have_been() -> None:
    [part] = checked().sentences[0].parts
    assert part_view(part, (), "docs").note == ""
    unsure = replace(part, state=State.NOT_ENOUGH_INFO, verdict=replace(part.verdict, abstained=True))
    note = part_view(unsure, (), "docs").note
    assert note == "too unsure to decide: “refuted” is likeliest, at 62%"  # of 25, 62.5 and 12.5
    missing = replace(part, state=State.NO_EVIDENCE, verdict=None, reason="nothing matches")
    assert part_view(missing, (), "docs").note == "nothing matches"


def test_the_address_of_a_document_names_its_lines_and_marks() -> None:
    [view] = card_of(checked(), 0, [], "my docs").parts
    address = urlsplit(view.evidence[0].href)
    assert address.path == "/document"
    assert parse_qsl(address.query) == [
        ("corpus", "my docs"),
        ("page", "a/b.md"),
        ("line", "2"),
        ("also", "4"),
        ("mark", "13-17"),
    ]
    assert view.tally is None  # where the sentences were not judged alone


def test_the_summary_names_the_states_that_occur() -> None:
    assert [(badge.word, count) for badge, count in summary_of(checked())] == [
        ("refuted", 1),
        ("not checked", 1),
    ]
