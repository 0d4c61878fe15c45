"""Facts of ordinary documents: their wordings are sentences, and their labels hold by arithmetic."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable

import pytest

from adjudge.training.material.amounts import SMALLER_UNITS, amount, limit
from adjudge.training.material.documents import FRAMES, document_groups
from adjudge.training.material.norms import form_gerund
from adjudge.training.material.text import Fact, spell_number, write_sentence

DRAWS = 150
_BOUNDS: dict[str, Callable[[float, float], bool]] = {
    "more than": lambda value, bound: value > bound,
    "over": lambda value, bound: value > bound,
    "at least": lambda value, bound: value >= bound,
    "less than": lambda value, bound: value < bound,
    "under": lambda value, bound: value < bound,
    "at most": lambda value, bound: value <= bound,
    "no more than": lambda value, bound: value <= bound,
}


def facts(frame: Callable[[random.Random], Fact]) -> list[Fact]:
    rng = random.Random(7)
    return [frame(rng) for _ in range(DRAWS)]


@pytest.mark.parametrize("name", list(FRAMES))
def test_every_wording_is_a_sentence_without_open_slots(name: str) -> None:
    for fact in facts(FRAMES[name]):
        for part in fact:
            assert part
            for text in part:
                assert text[0].isupper() or text[0].isdigit()
                assert text.endswith(".")
                assert not re.search(r"[{}]|  | [,.]", text), text


@pytest.mark.parametrize("name", list(FRAMES))
def test_no_claim_is_both_supported_and_refuted(name: str) -> None:
    for fact in facts(FRAMES[name]):
        assert not set(fact.supports) & set(fact.refutes)
        assert not set(fact.evidence) & set(fact.refutes)


def bounded(text: str) -> tuple[str, float, str] | None:
    """(the words of comparison, the number, the unit) of a claim that has both in digits."""
    match = re.search(rf"\b({'|'.join(_BOUNDS)}) ([\d,]+) ([a-z]+)", text)
    return None if match is None else (match[1], float(match[2].replace(",", "")), match[3])


def test_amounts_compared_with_a_bound_are_labelled_as_arithmetic_has_it() -> None:
    checked: Counter[bool] = Counter()
    for fact in facts(amount):
        exact = re.search(r" (\d[\d,]*) [a-z°]", re.sub(r"^In \d{4}, ", "", fact.evidence[0]))
        if exact is None:
            continue
        value = float(exact[1].replace(",", ""))
        for claims, holds in ((fact.supports, True), (fact.refutes, False)):
            for claim in claims:
                if (parts := bounded(claim)) is not None and parts[0] in _BOUNDS:
                    words, bound, _ = parts
                    if "more than" in claim and "no more than" in claim:
                        words = "no more than"
                    assert _BOUNDS[words](value, bound) == holds, (fact.evidence[0], claim)
                    checked[holds] += 1
    assert min(checked[True], checked[False]) > 500


def test_a_smaller_unit_tells_the_same_amount() -> None:
    assert SMALLER_UNITS["hours"] == (60, "minutes") and SMALLER_UNITS["years"] == (12, "months")
    told = [
        fact
        for fact in facts(amount)
        if any("metres" in c and "kilo" in fact.evidence[0] for c in fact.supports)
    ]
    assert told
    for fact in told:
        value = re.search(r"([\d,]+) kilometres(?! per)", fact.evidence[0])
        smaller = [re.search(r"([\d,]+) metres", claim) for claim in fact.supports]
        if value is not None:
            exact = 1000 * int(value[1].replace(",", ""))
            assert {int(m[1].replace(",", "")) for m in smaller if m} == {exact}


def test_a_limit_is_kept_or_broken_as_the_two_numbers_say() -> None:
    kept = 0
    for fact in facts(limit):
        value, bound = re.findall(r"(\d+) ", fact.evidence[0].replace("batch 14", ""))[:2]
        holds = int(value) < int(bound)
        assert any("did not exceed" in claim for claim in fact.supports) == holds
        assert any("did not exceed" in claim for claim in fact.refutes) != holds
        kept += holds
    assert 0 < kept < DRAWS


def test_a_group_has_a_claim_of_every_label_and_the_same_seed_gives_it_again() -> None:
    groups = list(document_groups(40, seed=1))
    assert groups == list(document_groups(40, seed=1))
    assert groups != list(document_groups(40, seed=2))
    for group in groups:
        assert [e.label for e in group] == ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]
    assert len({e.claim for group in groups for e in group}) > 100


def test_grammar_of_the_wordings() -> None:
    assert form_gerund("keep dogs") == "keeping dogs"
    assert form_gerund("use a flash") == "using a flash"
    assert form_gerund("swap shifts") == "swapping shifts"
    assert spell_number(21) == "twenty-one" and spell_number(340) == "three hundred and forty"
    assert spell_number(12000) == "twelve thousand" and spell_number(1234) == "1,234"
    assert write_sentence("a  engineer , on a Monday") == "An engineer, on a Monday."
