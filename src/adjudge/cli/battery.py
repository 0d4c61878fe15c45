"""The command that judges a model on many data sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.options import DeviceOption, JsonOption, LabelOption, PrecisionOption, aliases
from adjudge.cli.output import progress_console, show, show_json

if TYPE_CHECKING:
    from rich.table import Table

    from adjudge.evaluation.battery import SetFigures
    from adjudge.types import Verdict


def battery(
    sets: Annotated[
        list[Path], typer.Argument(help="Files of labelled claims with evidence, or folders of such files.")
    ],
    model: Annotated[
        str, typer.Option(help="small, hf:ID-or-folder, a run folder or an exported model.")
    ] = "small",
    limit: Annotated[int | None, typer.Option(min=1, help="Judge at most this many claims of a set.")] = None,
    titles: Annotated[bool, typer.Option(help="Show the model the titles of pages.")] = True,
    out: Annotated[Path | None, typer.Option(help="Write the figures as JSON, set by set.")] = None,
    precision: PrecisionOption = "auto",
    device: DeviceOption = "auto",
    label: LabelOption = None,
    json: JsonOption = False,
) -> None:
    """Judge a model on many data sets, evidence given: one line a set, and the mean.

    Any file with labels and sentences will do: FEVER's in KGAT's form, Climate-FEVER, VitaminC, pairs. Balanced
    accuracy is the mean recall of the labels that a set has; S or R alone is how often the right one of SUPPORTS and
    REFUTES is the likelier; turned round is how often the opposite verdict was given.

    **Examples**

    `adjudge battery pairs/dev fever/dev_gold.jsonl.gz --out small.json`

    `adjudge battery pairs/dev --model hf:cross-encoder/nli-deberta-v3-small --limit 300`

    `adjudge battery mine.jsonl --model runs/mine --no-titles --json`
    """
    from adjudge.cli.progress import bar
    from adjudge.encoders.device import device_name
    from adjudge.io.files import write_json
    from adjudge.judges.battery import judge_sets, set_files
    from adjudge.judges.folder import load_judge

    files = set_files(sets)
    judge = load_judge(model, device_name(device), precision, aliases(label))
    figures: list[SetFigures] = []
    with bar(progress_console()) as progress:
        task = progress.add_task(files[0].name, total=None, note="claims")

        def watch(verdicts: Iterable[Verdict], path: Path, claims: int) -> Iterator[Verdict]:
            progress.reset(task, description=path.name, total=claims, note="claims")
            for verdict in verdicts:
                progress.advance(task)
                yield verdict

        for set_figures in judge_sets(files, judge, limit, titles, watch):
            figures.append(set_figures)
            if out is not None:
                write_json(out, _record(model, figures))
    if json:
        show_json(_record(model, figures))
    else:
        show(_table(model, figures))


def _record(model: str, figures: Sequence[SetFigures]) -> dict[str, Any]:
    from adjudge.evaluation.battery import means

    sets = [set_figures.to_dict() for set_figures in figures]
    return {"model": model, "sets": sets, "means": means(figures)}


def _table(model: str, figures: Sequence[SetFigures]) -> Table:
    from rich.table import Table

    from adjudge.evaluation.battery import means

    labels = sorted({label for set_figures in figures for label in set_figures.recall}, key=_label_order)
    table = Table(title=f"{model}: evidence given, figures in percent")
    for heading in ("set", "claims", "balanced", *labels, "S or R alone", "turned round", "ECE", "claims/s"):
        table.add_column(heading, justify="left" if heading == "set" else "right")
    for set_figures in figures:
        table.add_row(
            set_figures.name,
            f"{set_figures.claims:,}",
            _percent(set_figures.balanced_accuracy),
            *(_percent(set_figures.recall.get(label)) for label in labels),
            _percent(set_figures.opposites_accuracy),
            _percent(set_figures.contradiction_rate),
            _percent(set_figures.ece),
            _rate(set_figures.claims_per_second),
        )
    table.add_section()
    for group, averages in means(figures).items():
        table.add_row(
            f"mean of {group}",
            "",
            _percent(averages["balanced_accuracy"]),
            *("" for _ in labels),
            _percent(averages.get("opposites_accuracy")),
            _percent(averages.get("contradiction_rate")),
            _percent(averages.get("ece")),
            _rate(averages.get("claims_per_second")),
        )
    return table


def _label_order(label: str) -> tuple[int, str]:
    from adjudge.types import FEVER_LABELS

    return (FEVER_LABELS.names.index(label) if label in FEVER_LABELS.names else len(FEVER_LABELS), label)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _rate(claims_per_second: float | None) -> str:
    return "–" if claims_per_second is None else f"{claims_per_second:.0f}"
