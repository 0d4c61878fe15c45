"""Which sentences need the one before to be understood."""

from __future__ import annotations

import pytest

from adjudge.retrieval.context import contexts, needs_context
from adjudge.types import Sentence


@pytest.mark.parametrize(
    "text",
    [
        "It stands 41 metres tall.",
        "She was born in 1901.",
        "“They left.”",
        "The company grew.",
        "There he met Ada.",
    ],
)
def test_a_pronoun_needs_context(text: str) -> None:
    assert needs_context(text)


@pytest.mark.parametrize(
    "text",
    [
        "Italy is a country.",
        "Rain fell.",
        "The companion left.",
        "Hers was red.",
        "",
        "There are nine crossings a day.",
        "There was a ford.",
    ],
)
def test_a_sentence_that_names_its_subject_does_not(text: str) -> None:
    assert not needs_context(text)


def test_the_context_is_the_last_sentence_that_names_its_subject() -> None:
    texts = [
        "It began.",
        "The lighthouse is old.",
        "It is tall.",
        "It is white.",
        "",
        "Rain falls.",
        "It stops.",
    ]
    sentences = [Sentence(text, line) for line, text in enumerate(texts)]
    lighthouse = "The lighthouse is old."
    assert list(contexts(sentences)) == ["", "", lighthouse, lighthouse, "", "", "Rain falls."]


def test_a_heading_between_them_parts_a_pronoun_from_the_sentence_before() -> None:
    texts = [
        ("Falcon X is made of steel.", "Falcon X"),
        ("It is light.", "Falcon X"),
        ("It is heavy.", "Eagle Y"),
    ]
    sentences = [Sentence(text, line, section=section) for line, (text, section) in enumerate(texts)]
    assert list(contexts(sentences)) == ["", "Falcon X is made of steel.", ""]
