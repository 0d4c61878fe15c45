from __future__ import annotations

from adjudge.types import Verdict
from behaviour import examples_of, measure
from behaviour_suite import EXPECTED, cases


def test_answers_are_counted_by_phenomenon():
    suite = list(cases())

    def always(label: str, abstained: bool = False):
        return lambda suite: (
            Verdict(c.claim.id, c.claim.text, label, {label: 0.4}, abstained=abstained) for c in suite
        )

    for label in set(EXPECTED.values()):
        for row in measure(suite, always(label)):
            assert row.share == float(EXPECTED[row.phenomenon] == label)
            assert row.answers == {label: row.claims}
    assert sum(row.claims for row in measure(suite, always("SUPPORTS"))) == len(suite)
    assert all(row.answers == {"ABSTAINED": row.claims} for row in measure(suite, always("REFUTES", True)))


def test_finding_nothing_counts_as_not_enough_info():
    rows = measure(list(cases()), lambda suite: (Verdict(c.claim.id, c.claim.text, None, {}) for c in suite))
    assert [row.share for row in rows] == [
        float(EXPECTED[row.phenomenon] == "NOT ENOUGH INFO") for row in rows
    ]


def test_examples_carry_claim_evidence_and_label():
    suite = list(cases())[:3]
    for case, example in zip(suite, examples_of(suite), strict=True):
        assert (example.id, example.claim, example.label) == (
            case.claim.id,
            case.claim.text,
            case.claim.label,
        )
        assert example.evidence == case.evidence()
