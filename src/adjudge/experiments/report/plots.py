"""The plots of a report, as SVG to be put into a page; ``name`` begins the ids, so that no two plots share one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adjudge.experiments.plan import Arm
from adjudge.experiments.report.drawing import BLUE, GREEN, INK, ORANGE, PINK, QUIET, SKY, drawing
from adjudge.experiments.report.lambda_curve import LambdaCurve, means
from adjudge.experiments.summary import ArmResult, Calibration
from adjudge.objectives.tables import OBJECTIVES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from adjudge.evaluation.statistics import Interval
    from adjudge.experiments.report.content import TrainingCurve

_SMOOTHED = 25  # at most this many points of a loss curve
_MARKERS = dict(zip(OBJECTIVES, "os^DvPX*<>", strict=False))


def style_of(arm: Arm) -> tuple[str, str]:
    """Colour by weighting and variant, dashes for weighting."""
    if arm.variant == "released":
        return (PINK, "--") if arm.weighted else (SKY, "-")
    return (ORANGE, "--") if arm.weighted else (BLUE, "-")


def seeds_plot(rows: Sequence[ArmResult], name: str) -> str:
    """Every seed a dot, the selected one filled; mean and standard deviation as a bar: LA, and FS where it is known."""
    with_fever = all(row.fever_score is not None for row in rows)
    with drawing(len(rows) * 0.32 + 0.9, columns=2 if with_fever else 1, sharey=True) as canvas:
        for axes, fever in zip(canvas.axes, (False, True), strict=False):
            for y, row in enumerate(rows):
                _seeds(axes, y, row, fever)
            axes.set_xlabel("FEVER score, %" if fever else "label accuracy, %")
            _name_rows(axes, rows)
        return canvas.svg(name)


def _seeds(axes: Axes, y: int, row: ArmResult, fever: bool) -> None:
    colour, _ = style_of(row.arm)
    spread = row.fever_score if fever else row.label_accuracy
    if spread is not None and spread.sd is not None:
        bar = [100 * (spread.mean - spread.sd), 100 * (spread.mean + spread.sd)]
        axes.plot(bar, [y, y], color=colour, linewidth=5, alpha=0.25, solid_capstyle="butt")
        tick: dict[str, Any] = {"marker": "|", "markersize": 11, "markeredgewidth": 2}
        axes.plot([100 * spread.mean], [y], linestyle="", color=colour, **tick)
    for run in row.runs:
        value = run.scores.fever_score if fever else run.scores.label_accuracy
        _mark(axes, 100 * (value or 0.0), y, row.arm, filled=run == row.selected)


def difference_plot(rows: Sequence[ArmResult], name: str) -> str:
    """Differences from the baseline with their intervals: the selected run filled, the mean of seeds hollow below."""
    others = [(row, row.baseline_comparison) for row in rows if row.baseline_comparison is not None]
    with_fever = all(comparison.fever_score is not None for _, comparison in others)
    with drawing(len(others) * 0.4 + 0.9, columns=2 if with_fever else 1, sharey=True) as canvas:
        for axes, fever in zip(canvas.axes, (False, True), strict=False):
            axes.axvline(0, color=QUIET, linewidth=1)
            for y, (row, comparison) in enumerate(others):
                if fever:
                    _whisker(axes, y, comparison.fever_score, row.arm)
                else:
                    _whisker(axes, y - 0.12, comparison.label_accuracy, row.arm)
                    _whisker(axes, y + 0.16, comparison.mean_label_accuracy, row.arm, filled=False)
            axes.set_xlabel(f"Δ {'FEVER score' if fever else 'label accuracy'} against CE, points")
            _name_rows(axes, [row for row, _ in others])
        return canvas.svg(name)


def contradiction_plot(rows: Sequence[ArmResult], name: str) -> str:
    """The contradiction rate of every arm with its interval."""
    with drawing(len(rows) * 0.32 + 0.9) as canvas:
        (axes,) = canvas.axes
        for y, row in enumerate(rows):
            _whisker(axes, y, row.contradiction, row.arm)
        axes.set_xlabel("contradiction rate, % of SUPPORTS and REFUTES claims")
        axes.set_xlim(left=0)
        _name_rows(axes, rows)
        return canvas.svg(name)


def _whisker(axes: Axes, y: float, interval: Interval | None, arm: Arm, filled: bool = True) -> None:
    if interval is not None:
        ends = [100 * interval.low, 100 * interval.high]
        axes.plot(ends, [y, y], color=style_of(arm)[0], linewidth=1.8 if filled else 1.0)
        _mark(axes, 100 * interval.estimate, y, arm, filled, size=6 if filled else 5)


def _mark(axes: Axes, x: float, y: float, arm: Arm, filled: bool, size: int = 6) -> None:
    colour, marker = style_of(arm)[0], _MARKERS.get(arm.objective, "o")
    face = colour if filled else "none"
    axes.plot(
        [x], [y], linestyle="", marker=marker, markersize=size, markerfacecolor=face, markeredgecolor=colour
    )


def curves_plot(curves: Mapping[Arm, Sequence[TrainingCurve]], name: str) -> str:
    """Training loss above and LA on tuning claims below, a column for each objective; the baseline grey behind."""
    objectives = list(dict.fromkeys(arm.objective for arm in curves))
    base = next((runs for arm, runs in curves.items() if arm.is_baseline), ())
    with drawing(4.3, rows=2, columns=len(objectives), sharex=True, sharey="row") as canvas:
        for column, objective in enumerate(objectives):
            upper, lower = canvas.axes[column], canvas.axes[column + len(objectives)]
            if objective != "ce":
                _lines(upper, lower, base, QUIET, ":", "CE")
            for arm, runs in curves.items():
                if arm.objective == objective:
                    _lines(upper, lower, runs, *style_of(arm), arm.name)
            upper.set_title(objective.upper(), loc="left", fontweight="bold")
            lower.set_xlabel("step")
            lower.legend(loc="lower right", fontsize=7.5, handlelength=2.2)
        canvas.axes[0].set_ylabel("training loss")
        canvas.axes[len(objectives)].set_ylabel("LA on tuning claims, %")
        return canvas.svg(name)


def _lines(
    upper: Axes, lower: Axes, runs: Sequence[TrainingCurve], colour: str, dash: str, name: str
) -> None:
    for run in runs:
        width, alpha = (1.6, 1.0) if run.selected else (0.8, 0.45)
        look: dict[str, Any] = {"color": colour, "linestyle": dash, "linewidth": width, "alpha": alpha}
        upper.plot(*smooth(run.loss), **look)
        steps, shares = [step for step, _ in run.accuracy], [100 * value for _, value in run.accuracy]
        lower.plot(steps, shares, label=name if run.selected else None, **look)


def smooth(points: Sequence[tuple[int, float]]) -> tuple[list[float], list[float]]:
    """Means of neighbouring steps: the loss of single batches hides the course."""
    size = max(1, -(-len(points) // _SMOOTHED))
    blocks = [points[start : start + size] for start in range(0, len(points), size)]
    return (
        [sum(step for step, _ in block) / len(block) for block in blocks],
        [sum(value for _, value in block) / len(block) for block in blocks],
    )


def calibration_plot(measured: Sequence[tuple[str, Calibration]], name: str) -> str:
    """Accuracy against confidence, before and after the temperature; a dot's area is its share of the claims."""
    columns = min(4, len(measured))
    lines = -(-len(measured) // columns)
    with drawing(2.35 * lines + 0.5, rows=lines, columns=columns, sharex=True, sharey=True) as canvas:
        for axes, (arm, item) in zip(canvas.axes, measured, strict=False):
            axes.plot([0, 100], [0, 100], color=QUIET, linewidth=1, linestyle=":")
            _reliability(axes, item, tempered=False)
            _reliability(axes, item, tempered=True)
            axes.set_title(arm, loc="left")
            axes.text(98, 4, f"ECE {item.ece:.3f} → {item.ece_tempered:.3f}", ha="right", fontsize=8)
            axes.set_xlim(25, 101)
            axes.set_ylim(0, 101)
        for axes in canvas.axes[len(measured) :]:
            axes.set_visible(False)
        for axes in canvas.axes[::columns]:
            axes.set_ylabel("accuracy, %")
        for axes in canvas.axes[len(measured) - columns : len(measured)]:  # nothing stands below these
            axes.set_xlabel("confidence, %")
            axes.tick_params(labelbottom=True)
        handles, labels = canvas.axes[0].get_legend_handles_labels()
        canvas.figure.legend(handles, labels, loc="outside lower center", ncols=2)
        return canvas.svg(name)


def _reliability(axes: Axes, item: Calibration, *, tempered: bool) -> None:
    colour, marker = (GREEN, "D") if tempered else (BLUE, "o")
    bins = item.bins_tempered if tempered else item.bins
    known = [
        (b.confidence, b.accuracy, b.n) for b in bins if b.confidence is not None and b.accuracy is not None
    ]
    total = sum(n for _, _, n in known)
    x, y = [100 * c for c, _, _ in known], [100 * a for _, a, _ in known]
    axes.plot(x, y, color=colour, linewidth=1, linestyle="--" if tempered else "-")
    look: dict[str, Any] = {"edgecolors": colour, "facecolors": "none" if tempered else colour}
    label = "after temperature" if tempered else "as predicted"
    axes.scatter(x, y, s=[6 + 160 * n / total for _, _, n in known], marker=marker, label=label, **look)


def lambda_plot(curve: LambdaCurve, name: str) -> str:
    """LA on tuning claims over λ, a line for each β through the means; dots are seeds, crosses runs stopped early."""
    looks = list(zip((BLUE, ORANGE, GREEN, PINK, SKY), ("-", "--", "-.", ":", (0, (5, 1))), strict=True))
    betas = sorted({point.beta for point in curve.points}, key=lambda beta: -1.0 if beta is None else beta)
    with drawing(3.2) as canvas:
        (axes,) = canvas.axes
        for index, beta in enumerate(betas):
            _lambda_line(axes, curve, beta, *looks[index % len(looks)])
        for mean in filter(curve.is_selected, means(curve)):
            at = (mean.lam, 100 * mean.label_accuracy)
            ring: dict[str, Any] = {"marker": "o", "markersize": 13, "markerfacecolor": "none"}
            axes.plot([at[0]], [at[1]], color=INK, linestyle="", **ring)
            axes.annotate("selected", at, xytext=(9, 9), textcoords="offset points")
        lams = sorted({point.lam for point in curve.points if point.lam is not None})
        if lams[0] > 0:
            axes.set_xscale("log", base=2)
        axes.set_xticks(lams, [f"{lam:g}" for lam in lams])
        axes.minorticks_off()
        axes.set_xlabel("λ")
        axes.set_ylabel("LA on tuning claims, %")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
        return canvas.svg(name)


def _lambda_line(axes: Axes, curve: LambdaCurve, beta: float | None, colour: str, dash: Any) -> None:
    for state, marker in (("finished", "o"), ("stopped", "x")):
        points = [
            (point.lam, 100 * point.dev_label_accuracy)
            for point in curve.points
            if (point.beta, point.state) == (beta, state)
            and point.lam is not None
            and point.dev_label_accuracy is not None
        ]
        x, y = [lam for lam, _ in points], [accuracy for _, accuracy in points]
        axes.plot(x, y, linestyle="", marker=marker, markersize=4, color=colour, alpha=0.5)
    rows = [mean for mean in means(curve) if mean.beta == beta]
    label = "no weighting" if beta is None else f"β = {beta:g}"
    x, y = [mean.lam for mean in rows], [100 * mean.label_accuracy for mean in rows]
    axes.plot(x, y, color=colour, linestyle=dash, linewidth=1.6, label=label)


def _name_rows(axes: Axes, rows: Sequence[ArmResult]) -> None:
    axes.set_yticks(range(len(rows)), [row.arm.name for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)  # the first row on top
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
