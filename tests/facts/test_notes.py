"""Notes that stand beside a sentence in a judge's row: every expected value is computed by hand."""

from __future__ import annotations

import pytest

from adjudge.facts.notes import MAX_NOTES, value_notes

WAGES = "Wages accounted for £200,000 of the 2018 figure, feed for £320,000."
VOTES = "Of the 84 members, 63 voted in favour of the new fence and 14 voted against."


@pytest.mark.parametrize(
    ("claim", "sentence", "note"),
    [
        ("The fee is 90 euros a year.", "Members pay 120 euros a year.", "120 euros, more than 90 euros"),
        ("The walk takes two hours.", "The walk takes 90 minutes.", "90 minutes, less than two hours"),
        ("The walk takes 1.5 hours.", "The walk takes 90 minutes.", "90 minutes, as 1.5 hours"),
        ("It took over an hour.", "It took 50 minutes.", "50 minutes, less than over one hour"),
        ("It opened in spring 1932.", "It opened on 14 May 1932.", "14 May 1932, as spring 1932"),
        ("It opened in 1934.", "It opened on 14 May 1932.", "14 May 1932, before 1934"),
        ("It is open on Wednesdays.", "It is open Monday to Friday.", "Monday to Friday, as Wednesdays"),
        ("It seats 60 guests.", "It seats more than 50 guests.", "more than 50, including 60"),
        ("It seats 40 to 60.", "It seats more than 50.", "more than 50, perhaps 40 to 60"),
        ("Repairs of £350 are yours.", "Repairs up to £400 are yours.", "up to £400, including £350"),
        (
            "A ten-year-old may not use it.",
            "Children under eight may not use it.",
            "under eight, less than ten-year",
        ),
    ],
)
def test_a_value_of_the_sentence_is_set_beside_the_claims(claim: str, sentence: str, note: str):
    assert value_notes(claim, sentence) == note


@pytest.mark.parametrize(
    ("claim", "sentence", "note"),
    [
        # from 22:15 to midnight 1:45 h, then 5:45 h
        (
            "The crossing lasts more than seven hours.",
            "It leaves at 22:15 and docks at 05:45.",
            "22:15 to 05:45 is 7.5 hours, as more than seven hours",
        ),
        ("The lease ran for two years.", "It ran from 1 March 2020 to 1 March 2022.",
         "1 March 2020 to 1 March 2022 is 2 years, as two years"),
        ("Both came to £520,000.", WAGES, "£200,000 and £320,000 together, as £520,000"),
        ("Feed cost £120,000 more.", WAGES, "£200,000 against £320,000 is 120,000, as £120,000"),
        ("Exactly three quarters of the members agreed.", VOTES, "63 of 84 is 75%, as three quarters"),  # 63 / 84
        ("More than half of them improved.", "Of 120 patients, 48 improved.",
         "48 of 120 is 40%, less than More than half"),  # 48 / 120
        # 40 / 64
        ("Women are in the majority.", "Of the 64 members 40 are women.", "40 of 64 is 62%, as more than half"),
        ("The fee was raised by €10.", "The fee rises from €80 to €96.", "€80 against €96 is 16, more than €10"),
        ("Sales grew by a quarter.", "Sales rose from 640 to 800 tonnes.", ""),  # 640 what?
        ("Sales grew by a quarter.", "Sales rose from £640 to £800.", "£640 to £800 is 25%, as a quarter"),
    ],
)  # fmt: skip
def test_what_can_be_computed_of_a_sentence_is_noted_first(claim: str, sentence: str, note: str):
    assert value_notes(claim, sentence).split("; ")[0] == note


def test_a_claim_that_compares_without_a_value_learns_the_order_of_the_sentences():
    assert value_notes("Feed cost more than wages.", WAGES) == "£200,000, less than £320,000"


def test_a_claim_without_values_or_comparison_has_no_notes():
    assert value_notes("Feed is bought by the farmers.", WAGES) == ""
    assert value_notes("The fee is 90 euros.", "Members pay every year.") == ""


def test_counts_of_different_things_are_not_compared():
    assert value_notes("It has 20 rooms.", "It has 40 windows.") == ""


def test_a_value_that_is_written_alike_needs_no_note():
    assert value_notes("It opened in 1934.", "It was opened in 1934 and closed in 1950.") == ""


def test_notes_are_few():
    claim = "It costs 500 euros, lasts 30 days, weighs 3 tons, opened in 1900 and is 9 miles long."
    sentence = (
        "It costs 1 euro or 2 euros, lasts a day or 2 days, weighs 4 kg, opened in 1950 and is 8 km long."
    )
    assert len(value_notes(claim, sentence).split("; ")) == MAX_NOTES
