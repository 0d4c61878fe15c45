from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import etree

from adjudge.experiments.report import plots
from adjudge.experiments.report.content import Content
from adjudge.experiments.report.drawing import VARIABLES
from adjudge.experiments.report.lambda_curve import read_lambda_curve


@pytest.fixture(scope="module")
def drawn(content: Content) -> dict[str, str]:
    return draw(content)


def draw(content: Content) -> dict[str, str]:
    rows = content.summary.arms
    measured = [(row.arm.name, row.calibration) for row in rows if row.calibration is not None]
    return {
        "seeds": plots.seeds_plot(rows, "seeds"),
        "differences": plots.difference_plot(rows, "differences"),
        "contradictions": plots.contradiction_plot(rows, "contradictions"),
        "curves": plots.curves_plot(content.training_curves, "curves"),
        "calibration": plots.calibration_plot(measured, "calibration"),
        "lambda": plots.lambda_plot(content.lambda_curves[0], "lambda"),
    }


def words(svg: str) -> list[str]:
    return [found.text or "" for found in etree.fromstring(svg).iter("text")]


def test_they_are_whole_and_carry_no_date_name_or_address(drawn: dict[str, str]) -> None:
    for svg in drawn.values():
        etree.fromstring(svg)
        assert not re.search(r"http|20\d\d-|[Mm]atplotlib|<metadata|<style|xmlns", svg)


def test_the_same_figures_give_the_same_bytes_whatever_matplotlib_is_set_to(
    drawn: dict[str, str], content: Content
) -> None:
    import matplotlib

    with matplotlib.rc_context({"font.size": 30, "axes.grid": False, "svg.fonttype": "path"}):
        assert draw(content) == drawn


def test_every_colour_is_a_variable_of_the_page(drawn: dict[str, str]) -> None:
    for svg in drawn.values():
        free = re.sub(r"var\((--\w+), #[0-9a-f]{6}\)", "", svg)
        assert not re.findall(r"(?:fill|stroke): #[0-9a-f]{6}", free)
        assert set(re.findall(r"var\((--\w+)", svg)) <= set(VARIABLES.values())


def test_the_page_gives_every_variable_a_colour_in_light_and_dark() -> None:
    page = (Path(plots.__file__).parent / "page.html").read_text("utf-8")
    for variable in VARIABLES.values():
        assert len(re.findall(rf"{variable}:#[0-9a-f]{{3,6}}", page)) == 3  # light, dark, print


def test_arms_are_named_in_words(drawn: dict[str, str]) -> None:
    for name in ("seeds", "contradictions", "calibration"):
        assert {"CE", "SR", "SR + weighting"} <= set(words(drawn[name]))
    assert {"SR", "SR + weighting"} <= set(words(drawn["differences"]))


def test_figures_in_a_plot_are_not_rounded_with_its_coordinates(
    drawn: dict[str, str], content: Content, tuning: Path
) -> None:
    assert {"0.03125", "0.25", "1", "β = 0.9999", "selected"} <= set(words(drawn["lambda"]))
    found = content.summary.arms[0].calibration
    assert found is not None
    assert f"ECE {found.ece:.3f} → {found.ece_tempered:.3f}" in words(drawn["calibration"])
    assert read_lambda_curve(tuning) == content.lambda_curves[0]


def test_a_seed_is_drawn_where_its_figure_is(drawn: dict[str, str], content: Content) -> None:
    """With two seeds of CE at 41.67 and 50 and one of SR at 100, distances on paper keep the proportion."""
    marks = re.findall(r'<use href="#seeds-\w+" x="([\d.]+)" y="([\d.]+)"', drawn["seeds"])
    rows = sorted({y for _, y in marks}, key=float)
    first_row = sorted({float(x) for x, y in marks if y == rows[0]})
    second_row = sorted({float(x) for x, y in marks if y == rows[1]})
    # LA is the left half: CE 41.67 and 50.00 with their mean 45.83, SR 25 and 100 with their mean 62.5.
    ce, sr = first_row[:3], second_row[:3]
    scale = (sr[2] - sr[0]) / 75
    assert ce[2] - ce[0] == pytest.approx(8.33 * scale, abs=0.05)
    assert ce[0] - sr[0] == pytest.approx((41.67 - 25) * scale, abs=0.05)
