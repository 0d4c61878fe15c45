"""The command that brings claims and their evidence together in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.evidence import SEARCHING, open_with_progress, pipeline_over
from adjudge.cli.options import (
    InjectGoldOption,
    JsonOption,
    LabelOption,
    aliases,
    takes,
)
from adjudge.cli.output import progress_console, refuse_overwrite, show_json
from adjudge.serving.settings import VerifierSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.types import Example


@takes(VerifierSettings, *SEARCHING, "k")
def assemble(
    claims: Annotated[
        Path, typer.Argument(help="Claims in any format; with gold (FEVER, SciFact) for --training.")
    ],
    *,
    settings: VerifierSettings,
    out: Annotated[Path | None, typer.Option(help="Claims with evidence, in KGAT's format.")] = None,
    training: Annotated[
        bool, typer.Option("--training", help="Put the gold sentences first, as training files have them.")
    ] = False,
    inject_gold: InjectGoldOption = False,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many claims.")] = None,
    force: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
    label: LabelOption = None,
    json: JsonOption = False,
) -> None:
    """Find evidence for claims and write both to a file that train and predict read.

    What is found is all there is: no gold, unless `--training` or `--inject-gold` asks for it. Then every record
    says so (`gold_injected`), and so do verdicts and scores that are made from it.

    **Examples**

    `adjudge assemble dev.jsonl --corpus wiki --out dev-evidence.jsonl`

    `adjudge assemble train.jsonl --corpus wiki --training --out train-evidence.jsonl`
    """
    from itertools import islice

    from adjudge.cli.progress import pace
    from adjudge.data.formats import read_claims
    from adjudge.data.kgat import write_examples
    from adjudge.errors import ConfigError
    from adjudge.io.chunks import chunks
    from adjudge.io.files import refuse_replacing
    from adjudge.io.jsonl import read_lines
    from adjudge.retrieval.pipeline import WINDOW, sentence_in

    if out is None:
        raise ConfigError("Say where the claims with evidence go: --out FILE.")
    if training and inject_gold:
        raise ConfigError(
            "--training puts gold first by itself: leave out one of --training and --inject-gold."
        )
    refuse_overwrite(out, force)
    refuse_replacing(claims, out)
    total = sum(1 for _ in read_lines(claims))
    needs_gold = training or inject_gold
    wanted = islice(read_claims(claims, require_gold=needs_gold, aliases=aliases(label)), limit)
    opened = open_with_progress(settings.corpus, settings.selector)
    pipeline = pipeline_over(opened, settings, inject_gold)
    look_up = sentence_in(opened)
    without = 0

    def examples() -> Iterator[Example]:
        nonlocal without
        done = 0
        for window in chunks(wanted, WINDOW):
            made = pipeline.training_examples(window, look_up) if training else pipeline.examples(window)
            done += len(window)
            without += sum(not example.evidence for example in made)
            yield from made
            progress(done)

    console = progress_console()
    with pace(console, "searching", min(total, limit or total), "claims") as progress:
        written = write_examples(out, examples())
    if json:
        show_json({"claims": written, "without_evidence": without, "gold_injected": needs_gold})
        return
    gold = (
        "gold sentences first"
        if training
        else "gold pages offered to the selector"
        if inject_gold
        else "no gold"
    )
    console.print(
        f"{out}: {written:,} claims, {without:,} of them without evidence; {gold}.",
        highlight=False,
        markup=False,
    )
