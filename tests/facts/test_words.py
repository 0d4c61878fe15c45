from __future__ import annotations

import pytest

from adjudge.facts.words import content_stems, stem


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
