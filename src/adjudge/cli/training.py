"""Commands that make models and use them on claims with evidence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.options import (
    DeviceOption,
    ForceOption,
    JsonOption,
    LabelOption,
    PrecisionOption,
    aliases,
    as_sentence,
    takes_given,
)
from adjudge.cli.output import command_line, cut_note, progress_console, refuse_overwrite, show, show_json
from adjudge.config import RunSettings, preset_names
from adjudge.serving.settings import VerifierSettings

if TYPE_CHECKING:
    from adjudge.types import Verdict

MODEL_HELP = as_sentence(VerifierSettings.model_fields["model"].description or "")


@takes_given(
    RunSettings,
    train="data.train",
    dev="data.dev",
    test="data.test",
    gold="data.gold",
    limit="data.limit",
    model="model.kind",
    backbone="model.backbone",
    objective="objective.name",
    complement="objective.complement",
    lam="objective.lam",
    beta="objective.beta",
    objective_variant="objective.variant",
    epochs="training.epochs",
    batch_size="training.batch_size",
    accumulation="training.accumulation",
    lr="training.lr",
    freeze_layers="training.freeze_layers",
    seed="training.seed",
)
def train(
    settings: dict[str, Any],
    out: Annotated[Path, typer.Option(help="The run folder to make.")] = Path("runs/new"),
    preset: Annotated[
        str | None, typer.Option(help=f"{', '.join(preset_names())}; options win.", metavar="NAME")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A TOML file, such as a run folder's config.toml.")
    ] = None,
    label: LabelOption = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Any other setting.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on with an interrupted run, to the same weights.")] = False,
    cache: Annotated[Path | None, typer.Option(help="Where outputs of frozen layers are kept.")] = None,
    device: DeviceOption = "auto",
    json: JsonOption = False,
) -> None:
    """Train a verdict predictor under one of the paper's objectives.

    Leaves a run folder: config.toml, metrics.jsonl, checkpoint/, predictions.jsonl, scores.json, manifest.json.

    **Examples**

    `adjudge train --train train.jsonl --dev dev.jsonl --out runs/ce`

    `adjudge train --train train.jsonl.gz --dev dev.jsonl --test test.jsonl --preset minilm --objective sr --lam 0.25
    --beta 0.999999 --seed 1 --out runs/sr-1`

    `adjudge train --train train.jsonl --complement "SUPPORTS=REFUTES;REFUTES=SUPPORTS" --lam 0.1 --out runs/own-table`

    `adjudge train --config runs/sr-1/config.toml --out runs/sr-1 --resume`

    `torchrun --nproc-per-node 4 -m adjudge train --train train.jsonl --preset bert-base --out runs/four-gpus`
    """
    from adjudge.cli.progress import bar
    from adjudge.cli.views.runs import RunProgress
    from adjudge.config import merge, parse_overrides, read_preset, read_toml, settings_from
    from adjudge.evaluation.render import scores_view
    from adjudge.objectives.tables import CUSTOM
    from adjudge.runs.execute import execute
    from adjudge.runs.folder import RunFolder

    if "complement" in settings.get("objective", {}):
        settings["objective"].setdefault("name", CUSTOM)
    spellings = {"data": {"aliases": aliases(label)}} if label else {}
    run_settings = settings_from(
        merge(
            read_preset(preset) if preset else {},
            read_toml(config) if config else {},
            settings,
            spellings,
            parse_overrides(set_ or ()),
        )
    )
    console = progress_console()
    with bar(console) as progress:
        reporter = RunProgress(progress, console).reporter()
        scores = execute(
            run_settings,
            out,
            resume=resume,
            cache=cache,
            command=command_line(),
            device=device,
            reporter=reporter,
        )
    if int(os.environ.get("RANK", "0")):  # torchrun: only the first worker prints
        return
    if scores is not None:
        RunFolder(out).show(run_settings.data)
    if json:
        show_json({"run": str(out), "scores": None if scores is None else scores.to_dict()})
    elif scores is not None:
        show(scores_view(scores))
    else:
        console.print(
            f"{out}: trained. Use it: adjudge predict {out} CLAIMS --out verdicts.jsonl", highlight=False
        )


def predict(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    claims: Annotated[Path, typer.Argument(help="Claims with evidence (KGAT format or the like).")],
    out: Annotated[
        Path | None, typer.Option(help="Verdicts as JSONL: probabilities, evidence, weights.")
    ] = None,
    submission: Annotated[Path | None, typer.Option(help="The same as a FEVER submission.")] = None,
    batch_tokens: Annotated[
        int, typer.Option(min=1, help="Tokens per forward pass of a row model: more need more memory.")
    ] = 4096,
    precision: PrecisionOption = "fp32",
    force: ForceOption = False,
    device: DeviceOption = "auto",
    json: JsonOption = False,
) -> None:
    """Predict verdicts for claims whose evidence is given.

    **Examples**

    `adjudge predict runs/sr-1 dev.jsonl --out verdicts.jsonl`

    `adjudge predict runs/sr-1 test.jsonl --submission predictions.jsonl`
    """
    from collections import Counter
    from dataclasses import replace

    from adjudge.cli.progress import bar
    from adjudge.data.formats import read_examples
    from adjudge.data.submissions import write_submission
    from adjudge.data.verdicts import read_verdicts, write_verdicts
    from adjudge.encoders.device import pick_device
    from adjudge.judges.folder import load_judge
    from adjudge.judges.row_model import RowJudge

    _check_outputs(claims, out, submission, force)
    total = _count(claims)
    judge = load_judge(model, pick_device(device), precision, runtime="torch")
    if isinstance(judge, RowJudge):
        judge = replace(judge, batch_tokens=batch_tokens)
    console = progress_console()
    counts: Counter[str] = Counter()
    cut: Counter[bool] = Counter()

    def count(verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
        with bar(console) as progress:
            task = progress.add_task("predicting", total=total, note="claims")
            for verdict in verdicts:
                counts[verdict.answer] += 1
                cut[verdict.cut] += 1
                progress.advance(task)
                yield verdict

    # One after the other, so that the verdicts are never all in memory.
    verdicts = count(judge.judge(read_examples(claims, with_labels=False)))
    if out is not None:
        write_verdicts(out, verdicts)
    if submission is not None:
        write_submission(submission, verdicts if out is None else read_verdicts(out))
    if cut[True]:
        console.print(cut_note(cut[True], counts.total()), highlight=False)
    if json:
        show_json({"claims": counts.total(), "labels": counts, "cut": cut[True]})
    else:
        figures = ", ".join(f"{name} {counts[name]:,}" for name in judge.labels)
        console.print(f"{counts.total():,} verdicts: {figures}.", highlight=False)


def _check_outputs(claims: Path, out: Path | None, submission: Path | None, force: bool) -> None:
    """Refuse a prediction that would go nowhere, or replace what is there."""
    from adjudge.errors import ConfigError
    from adjudge.io.files import refuse_replacing

    if out is None and submission is None:
        raise ConfigError("Say where the verdicts go: --out FILE, --submission FILE or both.")
    for path in (out, submission):
        if path is not None:
            refuse_overwrite(path, force)
    refuse_replacing(claims, out, submission)


def export(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    out: Annotated[Path, typer.Option(help="Where the model goes, with its figures and its card.")],
    test: Annotated[
        list[Path] | None, typer.Option(help="Claims with evidence to report on; they decide nothing.")
    ] = None,
    soften: Annotated[
        float,
        typer.Option(
            min=1.0, help="Multiply the temperature: for claims of other kinds than the training's."
        ),
    ] = 1.0,
    precision: PrecisionOption = "fp32",
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Turn a run into a model to hand out: what differs from its backbone, calibrated, with a card.

    The temperature is fitted on the claims that chose the run's checkpoint. `adjudge verify --model OUT` uses it.

    **Examples**

    `adjudge export runs/default-model --out model`

    `adjudge export runs/default-model --out model --test dev_gold.jsonl --test dev_retrieved.jsonl --json`
    """
    from dataclasses import asdict

    from adjudge.runs.export import CARD
    from adjudge.runs.export import export as export_run

    refuse_overwrite(out / CARD, force)
    report = export_run(run, out, test or (), soften=soften, precision=precision)
    if json:
        show_json({**asdict(report), "folder": str(out)})
        return
    console = progress_console()
    for part in (*report.tuning, *report.test):
        figures = f"LA {100 * part.label_accuracy:.1f}, ECE {100 * part.ece:.1f}, {part.claims:,} claims"
        console.print(f"{part.name}: {figures}", highlight=False, markup=False)
    console.print(
        f"{out}: {report.size / 1e6:.1f} MB, temperature {report.temperature:.3f}. See {out / CARD}.",
        highlight=False,
        markup=False,
    )


def _count(path: Path) -> int:
    from adjudge.io.jsonl import read_lines

    return sum(1 for _ in read_lines(path))
