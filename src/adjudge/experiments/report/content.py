"""What a report is made from, read once for every format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from adjudge.experiments.models import display_name
from adjudge.experiments.plan import Arm
from adjudge.experiments.report.changes import Changes, find_changes, pick_pair
from adjudge.experiments.report.formatting import backbone_name, settings_text
from adjudge.experiments.report.lambda_curve import LambdaCurve, read_lambda_curve
from adjudge.experiments.summary import ArmResult, Summary, is_judged, read_record, summarise
from adjudge.io.jsonl import read_json_lines


class TrainingCurve(NamedTuple):
    """A training: (step, loss) on training claims and (step, LA) on tuning claims."""

    seed: int
    selected: bool
    loss: tuple[tuple[int, float], ...]
    accuracy: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Content:
    """Everything a report shows; ``unfinished`` names the runs that are not in it."""

    title: str
    summary: Summary
    unfinished: tuple[str, ...]
    training_curves: Mapping[Arm, tuple[TrainingCurve, ...]]
    lambda_curves: tuple[LambdaCurve, ...] = ()
    changes: Changes | None = None


def gather(
    source: Path | Summary,
    *,
    tuning: Sequence[Path] = (),
    between: tuple[str, str] | None = None,
    title: str | None = None,
    with_changes: bool = True,
) -> Content:
    """Read a comparison's folder, and tunings beside it, into what a report is made from.

    Args:
        source: a comparison's folder, or its summary where there is one already.
        tuning: folders with a ``tuning.json``.
        between: two arms whose changed predictions are shown; the baseline and the best other by default.
        title: the comparison's own by default.
        with_changes: whether to read the predictions of these two arms.

    Raises:
        DataError: a folder holds no comparison or tuning, or the baseline is not finished.
        ConfigError: ``between`` names an arm that is not there.
    """
    lambda_curves = tuple(read_lambda_curve(path) for path in tuning)
    summary = source if isinstance(source, Summary) else summarise(source)
    pair = pick_pair(summary, between) if with_changes else None
    return Content(
        title or summary.title or summary.folder.resolve().name,
        summary,
        tuple(_list_unfinished(summary.folder)),
        {row.arm: tuple(_training_curves(summary, row)) for row in summary.arms},
        lambda_curves,
        None if pair is None else find_changes(summary, *pair),
    )


def _list_unfinished(folder: Path) -> Iterator[str]:
    """Such as ``MiniLM, SR + weighting: seeds 1, 2``."""
    seeds: dict[Arm, list[str]] = {}
    record = read_record(folder)
    for run in record["runs"]:
        if not is_judged(folder, record, run):
            seeds.setdefault(Arm(**run["arm"]), []).append(str(run["seed"]))
    for arm, missing in seeds.items():
        many = "s" if len(missing) > 1 else ""
        model = "" if arm.model == "kgat" else f"{display_name(arm.model)}, "
        yield f"{backbone_name(arm.backbone)}, {model}{arm.name}: seed{many} {', '.join(missing)}"


def _training_curves(summary: Summary, row: ArmResult) -> Iterator[TrainingCurve]:
    for run in row.runs:
        path = summary.folder / run.folder / "metrics.jsonl"
        if not path.exists():
            continue
        # An interrupted run writes the steps after its last checkpoint twice; the later ones count.
        loss: dict[int, float] = {}
        accuracy: dict[int, float] = {}
        for _, metric in read_json_lines(path):
            if metric["split"] == "train":
                loss[metric["step"]] = metric["loss"]
            else:
                accuracy[metric["step"]] = metric["accuracy"]
        curves = tuple(sorted(loss.items())), tuple(sorted(accuracy.items()))
        yield TrainingCurve(run.seed, run == row.selected, *curves)


def protocol_facts(summary: Summary) -> Iterator[tuple[str, str]]:
    """What a reader must know to trust the figures and to make them again."""
    values = summary.protocol
    yield "Test claims", f"{summary.n:,}"
    yield "Selection", values["selection"]
    injected = "yes: gold sentences were put among the retrieved ones of the claims judged"
    yield (
        "Gold injected",
        injected if values["gold_injected"] else "no: the files of the claims judged do not say so",
    )
    yield "Seeds", ", ".join(map(str, values["seeds"]))
    for name, file in values["data"].items():
        yield f"Data, {name}", f"{file['path']} (SHA-256 {file['sha256']})"
    for name in ("limits", "model", "training"):
        if values[name]:
            yield name.capitalize(), settings_text(values[name])
    yield (
        "Statistics",
        "McNemar (exact below 25 discordant claims, else χ²), Holm, 10,000 bootstrap resamples",
    )
    yield "Machine", settings_text(values["machine"])
    yield "Versions", settings_text(values["versions"])
    yield "Time", f"{values['seconds']:,.0f} seconds over all finished runs"
    yield "Command", summary.command or "not recorded"
    yield "Commit", values["git_commit"] or "not recorded"
