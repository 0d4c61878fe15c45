"""Commands that make models and use them on claims with evidence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.output import (
    DeviceOption,
    JsonOption,
    LabelOption,
    PrecisionOption,
    aliases,
    command_line,
    progress_console,
    refuse_overwrite,
    show,
    show_json,
)

if TYPE_CHECKING:
    from adjudge.types import Verdict


def train(
    train: Annotated[
        Path | None, typer.Option(help="Training claims with evidence and labels (KGAT format or the like).")
    ] = None,
    out: Annotated[Path, typer.Option(help="The run folder to make.")] = Path("runs/new"),
    dev: Annotated[
        Path | None, typer.Option(help="Claims that choose the checkpoint, by label accuracy.")
    ] = None,
    test: Annotated[Path | None, typer.Option(help="Claims to predict and score at the end.")] = None,
    gold: Annotated[
        Path | None, typer.Option(help="Gold groups of the test claims (FEVER format), for the FEVER score.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="minilm, bert-base, bert-large, roberta-large, default-model, default-model-second, "
            "default-model-third; options win."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A TOML file, such as a run folder's config.toml.")
    ] = None,
    objective: Annotated[str | None, typer.Option(help="ce, mll, srn or sr.")] = None,
    lam: Annotated[float | None, typer.Option(help="λ, the weight of the complement terms.")] = None,
    beta: Annotated[
        float | None, typer.Option(help="β of class-balanced weights; leave out for none.")
    ] = None,
    objective_variant: Annotated[
        str | None, typer.Option(help="paper, or released: what the published code computes.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="kgat, mixture or concat.")] = None,
    backbone: Annotated[
        str | None, typer.Option(help="minilm, bert-base, bert-large, roberta-large, a hub id or a folder.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the training claims.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Claims per forward pass.")] = None,
    accumulation: Annotated[int | None, typer.Option(help="Forward passes per optimizer step.")] = None,
    lr: Annotated[float | None, typer.Option(help="Highest learning rate.")] = None,
    freeze_layers: Annotated[
        int | None, typer.Option(help="Lowest backbone layers to freeze; their output is computed once.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Train on the first so many claims.")] = None,
    seed: Annotated[int | None, typer.Option(help="Decides initial weights, order and dropout.")] = None,
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

    `adjudge train --config runs/sr-1/config.toml --out runs/sr-1 --resume`

    `torchrun --nproc-per-node 4 -m adjudge train --train train.jsonl --preset bert-base --out runs/four-gpus`
    """
    from adjudge.cli.progress import RunProgress, bar
    from adjudge.config import merge, parse_overrides, read_preset, read_toml, settings_from
    from adjudge.evaluation.render import scores_view
    from adjudge.experiments.run import execute

    options: dict[str, dict[str, Any]] = {
        "data": {"train": train, "dev": dev, "test": test, "gold": gold, "limit": limit},
        "model": {"kind": model, "backbone": backbone},
        "objective": {"name": objective, "lam": lam, "beta": beta, "variant": objective_variant},
        "training": {
            "epochs": epochs,
            "batch_size": batch_size,
            "accumulation": accumulation,
            "lr": lr,
            "freeze_layers": freeze_layers,
            "seed": seed,
        },
    }
    settings = settings_from(
        merge(
            read_preset(preset) if preset else {},
            read_toml(config) if config else {},
            _given(options),
            {"data": {"aliases": aliases(label)}} if label else {},
            parse_overrides(set_ or ()),
        )
    )
    console = progress_console()
    with bar(console) as progress:
        reporter = RunProgress(progress, console).reporter()
        scores = execute(
            settings,
            out,
            resume=resume,
            cache=cache,
            command=command_line(),
            device=device,
            reporter=reporter,
        )
    if int(os.environ.get("RANK", "0")):  # torchrun: the first worker speaks for all
        return
    if json:
        show_json({"run": str(out), "scores": None if scores is None else scores.to_dict()})
    elif scores is not None:
        show(scores_view(scores))
    else:
        console.print(
            f"{out}: trained. Use it: adjudge predict {out} CLAIMS --out verdicts.jsonl", highlight=False
        )


def predict(
    run: Annotated[Path, typer.Argument(help="A run folder or its checkpoint.")],
    claims: Annotated[Path, typer.Argument(help="Claims with evidence (KGAT format or the like).")],
    out: Annotated[
        Path | None, typer.Option(help="Verdicts as JSONL: probabilities, evidence, weights.")
    ] = None,
    submission: Annotated[Path | None, typer.Option(help="The same as a FEVER submission.")] = None,
    batch_tokens: Annotated[
        int, typer.Option(min=1, help="Tokens per forward pass: more need more memory.")
    ] = 4096,
    precision: PrecisionOption = "fp32",
    label: LabelOption = None,
    force: Annotated[bool, typer.Option(help="Replace existing files.")] = False,
    device: DeviceOption = "auto",
    json: JsonOption = False,
) -> None:
    """Predict verdicts for claims whose evidence is given.

    **Examples**

    `adjudge predict runs/sr-1 dev.jsonl --out verdicts.jsonl`

    `adjudge predict runs/sr-1 test.jsonl --submission predictions.jsonl`
    """
    from collections import Counter

    from adjudge.cli.progress import bar
    from adjudge.data.fever import write_submission
    from adjudge.data.readers import read_examples_any
    from adjudge.data.verdicts import read_verdicts, write_verdicts
    from adjudge.errors import ConfigError
    from adjudge.experiments.run import pick_device
    from adjudge.training.checkpoint import load_model
    from adjudge.training.precision import set_precision
    from adjudge.training.predict import predict as predict_examples

    if out is None and submission is None:
        raise ConfigError("Say where the verdicts go: --out FILE, --submission FILE or both.")
    for path in (out, submission):
        if path is not None:
            refuse_overwrite(path, force)
    total = _count(claims)
    model = load_model(run)
    model.module.to(pick_device(device))
    set_precision(model, precision)
    read_labels = model.labels.with_aliases(aliases(label))
    console = progress_console()
    counts: Counter[str] = Counter()

    def told(verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
        with bar(console) as progress:
            task = progress.add_task("predicting", total=total, note="claims")
            for verdict in verdicts:
                counts[verdict.label] += 1
                progress.advance(task)
                yield verdict

    # One after the other, so that the verdicts are never all in memory.
    verdicts = told(predict_examples(model, read_examples_any(claims, labels=read_labels), batch_tokens))
    if out is not None:
        write_verdicts(out, verdicts)
    if submission is not None:
        write_submission(submission, verdicts if out is None else read_verdicts(out))
    if json:
        show_json({"claims": counts.total(), "labels": counts})
    else:
        said = ", ".join(f"{name} {counts[name]:,}" for name in model.labels)
        console.print(f"{counts.total():,} verdicts: {said}.", highlight=False)


def export(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    out: Annotated[Path, typer.Option(help="Where the model goes, with its figures and its card.")],
    test: Annotated[
        list[Path] | None, typer.Option(help="Claims with evidence to report on; they decide nothing.")
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace a model that is there.")] = False,
    json: JsonOption = False,
) -> None:
    """Turn a run into a model to hand out: what differs from its backbone, calibrated, with a card.

    The temperature is fitted on the claims that chose the run's checkpoint. `adjudge verify --model OUT` uses it.

    **Examples**

    `adjudge export runs/default-model --out model`

    `adjudge export runs/default-model --out model --test dev_gold.jsonl --test dev_retrieved.jsonl --json`
    """
    from dataclasses import asdict

    from adjudge.experiments.export import CARD
    from adjudge.experiments.export import export as export_run

    refuse_overwrite(out / CARD, force)
    report = export_run(run, out, test or ())
    if json:
        show_json({**asdict(report), "folder": str(out)})
        return
    console = progress_console()
    for part in (*report.tuning, *report.test):
        said = f"LA {100 * part.label_accuracy:.1f}, ECE {100 * part.ece:.1f}, {part.claims:,} claims"
        console.print(f"{part.name}: {said}", highlight=False, markup=False)
    console.print(
        f"{out}: {report.size / 1e6:.1f} MB, temperature {report.temperature:.3f}. See {out / CARD}.",
        highlight=False,
        markup=False,
    )


def _given(options: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Only what was said on the command line."""
    return {
        section: {key: value for key, value in values.items() if value is not None}
        for section, values in options.items()
    }


def _count(path: Path) -> int:
    from adjudge.data.files import read_lines

    return sum(1 for _ in read_lines(path))
