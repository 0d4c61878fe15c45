"""Contradictions in words: what is found, and what is not."""

from __future__ import annotations

import pytest

from adjudge.facts.compare import contradictions_with
from adjudge.types import Evidence


def found(claim: str, evidence: str) -> list[tuple[str, list[str], list[str]]]:
    pairs = contradictions_with(claim, [Evidence(evidence)])
    return [(one.rule, [w.text for w in one.claim], [w.text for w in one.evidence]) for _, one in pairs]


@pytest.mark.parametrize(
    ("claim", "evidence", "rule", "words", "others"),
    [
        (
            "Dogs are not allowed on deck.",
            "Dogs are allowed on deck but not inside.",
            "negation",
            "not allowed",
            "allowed",
        ),
        (
            "The council approved the plan.",
            "The council never approved the plan.",
            "negation",
            "approved",
            "never approved",
        ),
        ("The smallest mill closed.", "The largest mill closed.", "opposite", "smallest", "largest"),
        ("Smoking is allowed here.", "Smoking is forbidden here.", "opposite", "allowed", "forbidden"),
        (
            "Harra sold the line to Norvik.",
            "In 2016 Norvik sold the line to Harra.",
            "swapped",
            "Harra Norvik",
            "Norvik Harra",
        ),
        ("All guests liked the food.", "Most guests liked the food.", "quantifier", "All", "Most"),
        ("All guests liked the food.", "87% of guests liked the food.", "quantifier", "All", "87"),
    ],
)
def test_a_contradiction_is_found_with_its_words(claim, evidence, rule, words, others):
    assert found(claim, evidence) == [(rule, words.split(), others.split())]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The mill is not open.", "The mill is not open."),
        ("The line was sold by Norvik to Harra.", "Norvik sold the line to Harra."),
        ("Norvik sold the line to Harra.", "Norvik sold the line to Harra."),
        ("All guests liked the food.", "All guests liked the food."),
        ("The mill opened before it closed.", "The mill opened and closed."),
        ("The first ship is blue.", "The last bus leaves the town at nine."),
        ("The Orn mill is closed.", "The Vel mill is open."),
    ],
)
def test_what_agrees_or_is_about_something_else_is_no_contradiction(claim, evidence):
    assert found(claim, evidence) == []
