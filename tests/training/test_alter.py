"""Facts changed in claims and sentences."""

from __future__ import annotations

import random

import pytest

from adjudge.training.alter import Altered, alter, collect_names

NAMES = collect_names(
    [
        "Fargo was directed by Joel Coen.",
        "Heat was directed by Michael Mann.",
        "Ludwig van Beethoven was born in Bonn.",
        "Clara was born in October.",
        "Ang is a Taiwanese director and was born in New York City.",
        "Ada is an English writer.",
        "Jane Austen wrote Emma.",
        "Hamlet was written by William Shakespeare.",
        "Michael Mann directed Heat.",
    ]
)


def many(claim: str, sentence: str) -> list[Altered]:
    found = [alter(claim, sentence, NAMES, random.Random(seed)) for seed in range(60)]
    assert all(found)
    return [one for one in found if one]


def test_names_are_known_by_the_words_beside_them():
    assert NAMES == {
        "born": ("Bonn", "New York City"),
        "directed": ("Joel Coen", "Michael Mann"),
        "nation": ("English", "Taiwanese"),
        "written": ("Jane Austen", "William Shakespeare"),
    }


@pytest.mark.parametrize(
    ("claim", "sentence", "changed"),
    [
        (
            "Fargo was directed by Joel Coen.",
            "Fargo is a film by Joel Coen , shot in winter .",
            ("Fargo was directed by Michael Mann.", "Fargo is a film by Michael Mann , shot in winter ."),
        ),
        (
            "Ada is an English writer.",
            "Ada ( born 1815 ) is an English writer .",
            ("Ada is a Taiwanese writer.", "Ada ( born 1815 ) is a Taiwanese writer ."),
        ),
        (
            "Jane Austen wrote Emma.",
            "Emma is a novel by Jane Austen .",
            ("William Shakespeare wrote Emma.", "Emma is a novel by William Shakespeare ."),
        ),
        (
            "Asia is the largest continent.",
            "Asia is Earth 's largest and most populous continent .",
            ("Asia is the smallest continent.", "Asia is Earth 's smallest and most populous continent ."),
        ),
    ],
)
def test_a_name_or_a_word_is_replaced_in_the_claim_or_the_sentence_or_both(
    claim: str, sentence: str, changed: tuple[str, str]
):
    seen = {(one.claim, one.sentence, one.contradicts) for one in many(claim, sentence)}
    assert seen == {
        (changed[0], sentence, True),
        (claim, changed[1], True),
        (changed[0], changed[1], False),
    }


def test_a_number_gets_another_near_it_and_only_where_it_is_the_whole_number():
    for one in many(
        "The bridge opened in 1932.", "Opened in 1932 , it has 19325 rivets and cost 1932.5 pounds ."
    ):
        assert "19325" in one.sentence and "1932.5" in one.sentence
        numbers = {int(one.claim[-5:-1]), int(one.sentence[10:14])}
        assert numbers <= set(range(1912, 1953))
        assert (len(numbers) == 2) == one.contradicts
        assert numbers != {1932}


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Clara was born in October.", "Clara was born in October ."),  # a month is no name
        ("Fargo was directed by Joel Coen.", "Fargo is a film about a murder ."),  # not in the sentence
        ("Joel Coen met Michael Mann.", "Joel Coen met Michael Mann ."),  # he may have met others too
        ("He said nothing.", "Nothing was said ."),
    ],
)
def test_what_has_no_fact_of_these_kinds_stays_as_it_is(claim: str, sentence: str):
    assert alter(claim, sentence, NAMES, random.Random(0)) is None


def test_the_other_name_is_not_one_that_the_sentence_has_anyway():
    claim, sentence = "Fargo was directed by Joel Coen.", "Joel Coen and Michael Mann directed Fargo ."
    assert alter(claim, sentence, NAMES, random.Random(0)) is None
