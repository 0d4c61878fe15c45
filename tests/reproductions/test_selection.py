from __future__ import annotations

from adjudge.types import Claim, Evidence, SentenceRef
from selection import finds_gold, name_page, named_claims

PAGES = {7: ("Fargo_-LRB-7-RRB-", ["Fargo is a series .", "It is dark .", "It premiered on FX ."])}


def test_a_page_is_called_what_its_first_sentence_begins_with():
    assert name_page(7, "Fargo is an American series .") == "Fargo_-LRB-7-RRB-"
    assert name_page(1, "Martin , who wrote it , was born in 1948 .") == "Martin_-LRB-1-RRB-"
    assert name_page(2, "one two three four five six seven eight nine ten") == (
        "one_two_three_four_five_six_seven_eight_-LRB-2-RRB-"
    )


def test_gold_is_where_its_text_stands_on_the_page_and_each_sentence_is_enough():
    evidence = [
        ["", -1, "It premiered on FX.", 1.0],
        ["", -1, "Fargo is a series .", 1.0],
        ["", -1, "It is dark .", 0.0],
        ["", -1, "Elsewhere .", 1.0],
    ]
    record = {"id": 1, "claim": "c", "label": "SUPPORTS", "page": 7, "evidence": evidence}
    [claim] = named_claims([record], PAGES)
    name = PAGES[7][0]
    assert claim["evidence"] == [[[0, 0, name, 0]], [[0, 0, name, 2]]]
    left_out = [
        {**record, "page": 8},
        {**record, "label": "NOT ENOUGH INFO"},
        {**record, "evidence": evidence[2:]},
        {key: value for key, value in record.items() if key != "page"},
    ]
    assert named_claims(left_out, PAGES) == []


def test_gold_is_found_where_a_whole_group_is():
    group = (SentenceRef("A", 0), SentenceRef("B", 1))
    a, b = Evidence("a", "A", 0), Evidence("b", "B", 1)
    assert finds_gold(Claim(1, "c", gold=(group,)), [a, b])
    assert not finds_gold(Claim(1, "c", gold=(group,)), [a])
