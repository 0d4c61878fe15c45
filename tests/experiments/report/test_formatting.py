from __future__ import annotations

import pytest

from adjudge.evaluation.statistics import Interval
from adjudge.experiments.report.content import Content
from adjudge.experiments.report.findings import findings
from adjudge.experiments.report.formatting import difference, format_signed, probability, spread
from adjudge.experiments.summary import Spread


@pytest.mark.parametrize(
    ("value", "text"), [(0.0048, "+0.48"), (-0.001, "−0.10"), (0.0, "+0.00"), (-0.00001, "+0.00")]
)
def test_differences_carry_a_sign_and_zero_is_never_negative(value: float, text: str) -> None:
    assert format_signed(value) == text


def test_intervals_and_spreads_read_as_in_print() -> None:
    assert difference(Interval(-0.012, 0.028, 0.008)) == "+0.80 [−1.20,\u00a0+2.80]"
    assert difference(None) == "–"
    assert spread(Spread(0.63, 0.0101)) == "63.00 ± 1.01"
    assert spread(Spread(0.63, None)) == "63.00"


def test_a_p_value_is_never_zero() -> None:
    assert [probability(p) for p in (0.0, 0.00099, 0.0156, 1.0)] == ["< 0.001", "< 0.001", "0.016", "1.000"]


def test_the_findings_say_what_the_figures_say(content: Content) -> None:
    many, best, mean, contradictions = findings(content.summary)
    # CE is right on claims 0–4, SR on all: 7 claims speak for SR, none against: p = 2 / 2⁷ = 0.0156, Holm 0.031.
    # Weighted SR is right on 0–3: one claim against it, p = 1.
    assert many == "1 of 2 arms differs significantly from CE in label accuracy (Holm p < 0.05): SR higher."
    assert best.startswith("Best of them, SR: LA 100.0 (+58.3, 95% interval +")
    assert best.endswith(", Holm p 0.031): higher than CE.")
    # Means over seeds: SR (3 + 12) / 24, CE (5 + 6) / 24: 4 / 24 = 16.7 points.
    assert mean.startswith("Averaged over its 2 seeds, the LA of SR differs by +16.7 points, 95% interval ")
    # CE takes claims 6, 7, 9 and 10 of the 8 with an opposite for it: 50 %.
    assert "SR 0.0% (95% interval 0.0 to 0.0), CE 50.0% (95% interval " in contradictions
