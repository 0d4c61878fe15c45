from __future__ import annotations

from adjudge.data.behaviour import EXPECTED, cases
from adjudge.experiments.behaviour import behaviour, with_evidence
from adjudge.types import Verdict


def test_answers_are_counted_by_phenomenon():
    suite = list(cases())

    def always(label: str, abstained: bool = False):
        return lambda chosen: (
            Verdict(c.claim.id, c.claim.text, label, {label: 0.4}, abstained=abstained) for c in chosen
        )

    for label in set(EXPECTED.values()):
        for row in behaviour(suite, always(label)):
            assert row.share == float(EXPECTED[row.phenomenon] == label)
            assert row.answers == {label: row.claims}
    assert sum(row.claims for row in behaviour(suite, always("SUPPORTS"))) == len(suite)
    assert all(row.answers == {"ABSTAINED": row.claims} for row in behaviour(suite, always("REFUTES", True)))


def test_examples_carry_claim_evidence_and_label():
    suite = list(cases())[:3]
    for case, example in zip(suite, with_evidence(suite), strict=True):
        assert (example.id, example.claim, example.label) == (
            case.claim.id,
            case.claim.text,
            case.claim.label,
        )
        assert example.evidence == case.evidence()
