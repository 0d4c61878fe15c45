from __future__ import annotations

import pytest

from adjudge.facts.opposites import opposites_between
from adjudge.facts.words import content_stems, is_negated, stem, words_of


@pytest.mark.parametrize(
    "forms",
    [
        "open opens opened opening",
        "library libraries",
        "build built builds",
        "plan planned planning",
        "city cities",
    ],
)
def test_the_forms_of_a_word_share_a_stem(forms):
    assert len({stem(form) for form in forms.split()}) == 1


def test_words_that_say_nothing_are_no_content():
    assert content_stems("The bridge was in the town") == {stem("bridge"), stem("town")}


def test_two_negations_cancel():
    assert is_negated(words_of("It was not open."))
    assert is_negated(words_of("It didn’t open."))
    assert not is_negated(words_of("It was never not open."))


def test_opposites_are_found_unless_the_evidence_has_the_claims_own_word():
    pairs = opposites_between(words_of("The smallest mill closed."), words_of("The largest mill closed."))
    assert [(pair.claim.text, pair.evidence.text) for pair in pairs] == [("smallest", "largest")]
    assert opposites_between(words_of("It opened."), words_of("It opened before it closed.")) == []
