"""Rules over a sentence: what they make is what a reader would say it is."""

from __future__ import annotations

import random
import re

import pytest

from adjudge.training.material import rules
from adjudge.training.material.sentences import select_usable, sentence_groups
from adjudge.training.material.words import OPPOSITE, SYNONYM

HALL = "The hall was opened in 1932 and seats 74 people."
NOVEL = "The novel was written by Ada Brown in Leeds."


def results(rule: rules.Rule, text: str) -> set[str]:
    return {made for seed in range(60) if (made := rule(text, random.Random(seed))) is not None}


def test_opposites_are_many_and_go_both_ways() -> None:
    assert sum(map(len, OPPOSITE.values())) / 2 >= 300
    for word, others in OPPOSITE.items():
        assert word not in others
        assert all(word in OPPOSITE[one] for one in others)
        assert not set(others) & set(SYNONYM.get(word, ()))


def test_a_count_is_compared_with_bounds_that_it_keeps() -> None:
    made = results(rules.compare_rightly, HALL)
    assert made
    for text in made:
        words, bound = re.search(r"seats ([a-z ]+) (\d+) people", text).groups()  # type: ignore[union-attr]
        assert (int(bound) < 74) == (words in {"more than", "over", "at least"})


def test_a_count_is_compared_with_bounds_that_it_breaks() -> None:
    made = results(rules.compare_wrongly, HALL)
    assert made
    for text in made:
        words, bound = re.search(r"seats ([a-z ]+) (\d+) people", text).groups()  # type: ignore[union-attr]
        assert (int(bound) > 74) == (words in {"more than", "over", "at least"})


def test_years_are_no_counts() -> None:
    assert not results(rules.compare_rightly, "The hall was opened in 1932 after a long delay.")


def test_a_passive_becomes_active_and_its_roles_can_be_swapped() -> None:
    assert results(rules.make_active, NOVEL) == {"Ada Brown wrote the novel in Leeds."}
    assert results(rules.swap_roles, NOVEL) == {"The novel wrote Ada Brown in Leeds."}


def test_a_negation_is_put_in_and_taken_out() -> None:
    (denied,) = results(rules.negate, NOVEL)
    assert denied == "The novel was not written by Ada Brown in Leeds."
    assert results(rules.negate, denied) == {NOVEL}


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (rules.rewrite_date, "It was sold on 3 May 1999.", "It was sold in May 1999."),
        (rules.rewrite_date, "It was sold on 3 May 1999.", "It was sold on May 3, 1999."),
        (rules.spell_out_number, "It has 12 rooms.", "It has twelve rooms."),
        (rules.replace_opposite, "Sales increased.", "Sales decreased."),
        (rules.negate_opposite, "The gate is open.", "The gate is not closed."),
        (rules.replace_phrase, "It failed due to rain.", "It failed because of rain."),
        (
            rules.shorten,
            "The mill (1812) still grinds flour for bread.",
            "The mill still grinds flour for bread.",
        ),
    ],
)
def test_a_rule_makes_what_a_person_would(rule: rules.Rule, text: str, expected: str) -> None:
    assert expected in results(rule, text)


def test_an_article_follows_the_word_that_comes_after_it() -> None:
    assert results(rules.replace_opposite, "It was an ancient wall.") == {"It was a modern wall."}


def test_other_numbers_and_names_differ_from_those_that_stood_there() -> None:
    for text in results(rules.change_number, HALL):
        assert text != HALL and re.sub(r"\d+", "#", text) == re.sub(r"\d+", "#", HALL)
    rule = rules.change_name(["Oslo", "Jane Smith"])
    assert results(rule, "The play was shown in Leeds.") == {"The play was shown in Oslo."}


def test_sentences_of_other_texts_make_groups_of_contrasting_claims() -> None:
    texts = select_usable(
        [HALL, NOVEL, "short .", "Sales increased by 12 percent in Norway after a very mild winter ."]
    )
    assert len(texts) == 3
    groups = [group for seed in range(20) for group in sentence_groups(texts, seed)]
    assert groups
    for group in groups:
        labels = [example.label for example in group]
        assert labels[:2] == ["SUPPORTS", "REFUTES"] and labels[2:] in ([], ["NOT ENOUGH INFO"])
        for example in group:
            assert example.claim != example.evidence[0].text
