from __future__ import annotations

from systems import split_claims, with_lines


def test_parts_share_no_claim_and_have_about_the_sizes_asked_for():
    records = [{"id": n, "claim": f"claim {n // 2}"} for n in range(40)]
    first, second = split_claims(records, (10, 15))
    assert len(first) == 10 and len(second) == 16
    assert not {r["claim"] for r in first} & {r["claim"] for r in second}
    assert split_claims(records, (10, 15)) == [first, second]
    assert split_claims(records, (10, 15), seed=1) != [first, second]


def test_lines_are_found_again_by_the_letters_of_the_text():
    pages = [{"id": "A", "lines": "0\tOne -LRB- two -RRB- .\tlink\n1\t\n2\tThree .\n3\tThree ."}]
    record = {
        "id": 1,
        "evidence": [["A", -1, "One (two).", 0.5], ["A", -1, "Three.", 0.0], ["B", -1, "x", 0.0]],
    }
    [found] = with_lines([record], pages)
    assert found["evidence"] == [["A", 0, "One (two).", 0.5], ["A", 2, "Three.", 0.0], ["B", -1, "x", 0.0]]
