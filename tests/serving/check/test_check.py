"""A whole text: six states that are never merged, places that stay right, errors that stay where they happen."""

from __future__ import annotations

import pytest

from adjudge.errors import ConfigError
from adjudge.serving.check.check import CheckOptions, check_text
from adjudge.serving.check.records import Check, State, join_spans, state_of_parts
from adjudge.types import Evidence, Span
from checking import FailingJudge, WordJudge, find_evidence

TEXT = """# Dormund

Hello there! The Vel bridge was opened in 1932. It is 120 metres long. The Vel bridge was opened in 1934.
The library holds 48,000 volumes and is old. Zebras gallop quickly. Is it nice?
"""


def checked(text: str, judge: WordJudge | None = None, options: CheckOptions | None = None) -> Check:
    return check_text(text, find_evidence, judge or WordJudge(), options)


def states(check: Check) -> dict[str, str]:
    return {sentence.text: sentence.state.value for sentence in check.sentences}


def test_every_sentence_gets_the_state_that_its_evidence_gives_it():
    check = checked(TEXT)
    assert states(check) == {
        "Dormund": "NOT CHECKED",
        "Hello there!": "NOT CHECKED",
        "The Vel bridge was opened in 1932.": "SUPPORTS",
        "It is 120 metres long.": "SUPPORTS",
        "The Vel bridge was opened in 1934.": "REFUTES",
        "The library holds 48,000 volumes and is old.": "NOT ENOUGH INFO",
        "Zebras gallop quickly.": "NO EVIDENCE FOUND",
        "Is it nice?": "NOT CHECKED",
    }
    assert check.summary == (
        "8 sentences: 2 supported, 1 refuted, 1 not enough info, 1 no evidence found, 3 not checked"
    )


def test_sentences_stand_where_they_say():
    for sentence in checked(TEXT).sentences:
        assert TEXT[sentence.start : sentence.end] == sentence.text


def test_a_pronoun_is_read_with_its_subject_and_the_result_says_so():
    sentence = checked(TEXT).sentences[3]
    assert sentence.reading == "in context"
    assert sentence.parts[0].statement == "The Vel bridge is 120 metres long."
    assert checked(TEXT).sentences[2].reading == "alone"


def test_a_plainly_wrong_year_is_refuted_marked_and_shown_beside_the_right_one():
    sentence = checked(TEXT).sentences[4]
    (part,) = sentence.parts
    assert [TEXT[slice(*span)] for span in sentence.marks] == ["1934"]
    (fact,) = [fact for fact in part.facts if fact.outcome == "different"]
    assert (fact.text, fact.evidence) == ("1934", "1932")
    assert fact.span is not None and TEXT[slice(*fact.span)] == "1934"
    (mark,) = part.evidence_marks
    assert part.evidence[mark.sentence].text[slice(*mark.span)] == "1932"


def test_parts_are_judged_apart_and_the_sentence_follows_from_them():
    sentence = checked(TEXT).sentences[5]
    assert [(part.statement, part.state.value) for part in sentence.parts] == [
        ("The library holds 48,000 volumes.", "SUPPORTS"),
        ("The library is old.", "NOT ENOUGH INFO"),
    ]
    assert [TEXT[slice(*part.span)] for part in sentence.parts] == [
        "The library holds 48,000 volumes",
        "is old.",
    ]


def test_without_a_splitter_a_sentence_is_judged_whole():
    sentence = checked(TEXT, options=CheckOptions(splitter=None)).sentences[5]
    assert [part.statement for part in sentence.parts] == ["The library holds 48,000 volumes and is old."]


def test_any_callable_splits():
    options = CheckOptions(splitter=lambda sentence: [sentence, "The library is a house."])
    sentence = checked("The library holds 48,000 volumes.", options=options).sentences[0]
    assert [part.statement for part in sentence.parts] == [
        "The library holds 48,000 volumes.",
        "The library is a house.",
    ]
    with pytest.raises(ConfigError, match="splitter: expected a list of texts"):
        checked("The library holds 48,000 volumes.", options=CheckOptions(splitter=lambda sentence: "text"))


def test_an_error_spoils_the_sentence_it_happened_on_and_no_other():
    check = checked("The bridge may explode soon. The library holds 48,000 volumes.", FailingJudge())
    assert [sentence.state for sentence in check.sentences] == [State.ERROR, State.SUPPORTS]
    assert check.sentences[0].parts[0].reason == "RuntimeError: out of memory"
    assert check.failures("refuted") == check.sentences[:1]


def test_an_error_of_the_search_is_an_error_too():
    def broken(claims: list[str]) -> list[list[Evidence]]:
        raise OSError("disk gone")

    (sentence,) = check_text("The library holds 48,000 volumes.", broken, WordJudge()).sentences
    assert (sentence.state, sentence.parts[0].reason) == (State.ERROR, "OSError: disk gone")


def test_sentences_beyond_the_limit_are_listed_and_not_checked():
    check = checked("The library holds 48,000 volumes. " * 3, options=CheckOptions(max_sentences=2))
    assert [sentence.reason for sentence in check.sentences] == [None, None, "after the first 2 sentences"]


def test_facts_alone_need_no_judge():
    check = check_text(TEXT, find_evidence, None)
    assert states(check)["The Vel bridge was opened in 1934."] == "REFUTES"
    assert states(check)["The Vel bridge was opened in 1932."] == "SUPPORTS"


@pytest.mark.parametrize(
    ("parts", "state"),
    [
        ("SUPPORTS SUPPORTS", "SUPPORTS"),
        ("SUPPORTS REFUTES", "REFUTES"),
        ("SUPPORTS NOT_ENOUGH_INFO", "NOT_ENOUGH_INFO"),
        ("SUPPORTS NO_EVIDENCE", "NOT_ENOUGH_INFO"),
        ("NO_EVIDENCE NO_EVIDENCE", "NO_EVIDENCE"),
        ("SUPPORTS ERROR", "ERROR"),
        ("REFUTES ERROR", "REFUTES"),
    ],
)
def test_the_state_of_a_sentence_follows_from_its_parts(parts, state):
    assert state_of_parts([State[part] for part in parts.split()]) is State[state]


def test_failures_are_what_the_caller_asks_for_and_never_what_was_not_checked():
    check = checked(TEXT)
    assert [sentence.state.value for sentence in check.failures("refuted")] == ["REFUTES"]
    assert {sentence.state.value for sentence in check.failures("unsupported")} == {
        "REFUTES",
        "NOT ENOUGH INFO",
        "NO EVIDENCE FOUND",
    }
    with pytest.raises(ConfigError, match="expected one of refuted, unsupported"):
        check.failures("anything")


def test_spans_that_touch_are_one():
    assert join_spans([Span(8, 9), Span(0, 3), Span(4, 6)]) == (Span(0, 6), Span(8, 9))


HOSTILE = {
    "nothing": "",
    "one long line": "The library holds 48,000 volumes " * 30_000,
    "only headings": "# One\n## Two\n" * 500,
    "mixed languages": "Der Fluss ist lang. Мост открыт. 橋は長い。The library holds 48,000 volumes.",
    "control characters": "The\x00 library\x07 holds \x1b[31m48,000\x1b[0m volumes.\x0b Next.",
    "emoji": "🎉🎉 The library 📚 holds 48,000 volumes 👩‍👩‍👧. 🤷",
    "right to left": "הספרייה מחזיקה 48,000 כרכים. The library holds 48,000 volumes. \u202emirror was here\u202c.",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_texts_keep_their_places_in_bounded_time(kind):
    text = HOSTILE[kind]
    check = checked(text)
    end = 0
    for sentence in check.sentences:
        assert end <= sentence.start <= sentence.end <= len(text)
        assert all(sentence.start <= span.start <= span.end <= sentence.end for span in sentence.marks)
        end = sentence.start


def test_a_text_must_be_a_text():
    with pytest.raises(ConfigError, match="expected a text, found bytes"):
        check_text(b"bytes", find_evidence, None)  # type: ignore[arg-type]


def test_half_a_surrogate_pair_is_no_text():
    with pytest.raises(ConfigError, match="character 13 is half of a surrogate pair"):
        check_text("The library \ud800 holds 48,000 volumes.", find_evidence, None)
