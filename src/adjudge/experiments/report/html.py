"""A report as one HTML page that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge import __version__
from adjudge.errors import MissingExtra
from adjudge.evaluation.render import SHORT, percent
from adjudge.experiments.report import plots
from adjudge.experiments.report.content import Backbone, Content
from adjudge.experiments.report.effect import Effect
from adjudge.experiments.report.table import LEVEL, backbone_name
from adjudge.experiments.report.tables import (
    Table,
    calibration_table,
    class_table,
    difference_table,
    effect_table,
    spread_table,
)
from adjudge.experiments.report.words import NOTHING
from adjudge.experiments.summary import ArmResult

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATE = "page.html"


@dataclass(frozen=True)
class Plot:
    """A drawing, what it shows in words for those who do not see it, and how to read it."""

    svg: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Section:
    """A plot, a table or both, under a heading."""

    heading: str
    plot: Plot | None = None
    table: Table | None = None


def to_html(content: Content) -> str:
    """The whole page.

    Raises:
        MissingExtra: matplotlib or Jinja2 is not installed.
    """
    page = _environment().get_template(TEMPLATE)
    rendered = page.render(
        content=content,
        sections=[
            (backbone, list(_sections(content, backbone, place)))
            for place, backbone in enumerate(content.backbones)
        ],
        effects=[(effect, _effect(effect, place)) for place, effect in enumerate(content.effects)],
        version=__version__,
        level=LEVEL,
    )
    return rendered.lstrip() + "\n"


def _environment() -> Environment:
    try:
        import matplotlib  # noqa: F401  (found missing before anything is drawn)
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise MissingExtra(
            "The HTML report needs matplotlib and Jinja2 (--format md,tex does not)", "report"
        ) from None
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "short": lambda label: SHORT.get(label, label),
        "backbone": backbone_name,
        "drawn": Markup,  # our own drawings, the only text that is not escaped
        "percent": percent,
        "weight": lambda weight: NOTHING if weight is None else f"{weight:.2f}",
        "heat": _heat,
    }
    return environment


def _sections(content: Content, backbone: Backbone, place: int) -> Iterator[Section]:
    rows = backbone.rows
    arms = ", ".join(row.arm.name for row in rows)
    yield Section(
        "Over seeds",
        Plot(
            plots.seeds_plot(rows, f"seeds{place}"),
            f"Label accuracy and FEVER score of each seed of {arms}; the table below holds means and deviations.",
            "Each mark is a seed, the filled one the run chosen by its LA on the tuning claims; the tick is the mean, "
            "the band one standard deviation to each side.",
        ),
        spread_table(rows),
    )
    if len(rows) > 1:
        yield Section(
            "Differences from the baseline",
            Plot(
                plots.difference_plot(rows, f"differences{place}"),
                "Differences from CE in label accuracy and FEVER score with 95% intervals; the table below holds them.",
                "Filled: the chosen run against CE's chosen run. Hollow: the mean over seeds, which no choice of a "
                "run has touched. Lines are 95% intervals from a paired bootstrap over claims.",
            ),
            difference_table(rows),
        )
    yield from _classes(rows, place)
    yield from _trainings(content, backbone, place)
    if (calibration := calibration_table(rows)) is not None:
        yield Section(
            "Calibration",
            Plot(
                plots.calibration_plot(rows, f"calibration{place}"),
                "Accuracy against confidence before and after temperature scaling; the table below holds the errors.",
                "On the dotted line a verdict given with 80% confidence is right 80 times in a hundred. The larger "
                "the mark, the more claims it stands for.",
            ),
            calibration,
        )


def _classes(rows: tuple[ArmResult, ...], place: int) -> Iterator[Section]:
    plot = None
    if all(row.contradiction is not None for row in rows):
        plot = Plot(
            plots.contradiction_plot(rows, f"contradictions{place}"),
            "Contradiction rate of every arm with its 95% interval; the table below holds them.",
            "How often a SUPPORTS claim was called REFUTES or the reverse. Lines are 95% bootstrap intervals.",
        )
    yield Section("Contradictions and recall", plot, class_table(rows))


def _trainings(content: Content, backbone: Backbone, place: int) -> Iterator[Section]:
    curves = {row.arm: content.curves[row.arm] for row in backbone.rows if content.curves[row.arm]}
    if curves:
        plot = Plot(
            plots.curves_plot(curves, f"curves{place}"),
            "Training loss and label accuracy on the tuning claims over the steps, a column for each objective.",
            "Thick: the chosen run; thin: the other seeds; dotted: CE. Losses of different objectives are sums of "
            "different terms and do not compare in height.",
        )
        yield Section("Training", plot)


def _effect(effect: Effect, place: int) -> Section:
    plot = Plot(
        plots.effect_plot(effect, f"effect{place}"),
        "Label accuracy on the tuning claims over λ, a line for each β; the table below holds the best β of each λ.",
        "Lines join the means of seeds trained to the end. Dots are seeds, crosses runs that were stopped early and "
        "are in no mean.",
    )
    return Section(effect.name, plot, effect_table(effect))


def _heat(row: ArmResult) -> list[tuple[str, list[tuple[int, float]]]]:
    """A confusion matrix by gold label: each cell's count and its share of the gold class."""
    scores = row.chosen.scores
    return [
        (label, [(count, round(count / max(sum(counts), 1), 3)) for count in counts])
        for label, counts in zip(scores.labels, scores.confusion, strict=True)
    ]
