"""The command that brings claims and their evidence together in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.evidence import (
    SELECTOR,
    CandidatesOption,
    CorpusOption,
    InjectGoldOption,
    open_with_progress,
    pipeline_over,
)
from adjudge.cli.output import (
    JsonOption,
    LabelOption,
    labels,
    progress_console,
    refuse_overwrite,
    show_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.types import Example


def assemble(
    claims: Annotated[Path, typer.Argument(help="Claims in FEVER's or SciFact's format.")],
    corpus: CorpusOption = None,
    out: Annotated[Path | None, typer.Option(help="Claims with evidence, in KGAT's format.")] = None,
    training: Annotated[
        bool, typer.Option("--training", help="Put the gold sentences first, as training files have them.")
    ] = False,
    inject_gold: InjectGoldOption = False,
    selector: Annotated[str, typer.Option(help=SELECTOR)] = "fusion",
    k: Annotated[int, typer.Option(min=1, max=5, help="Most sentences of a claim.")] = 5,
    candidates: CandidatesOption = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many claims.")] = None,
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

    from adjudge.cli.evidence_view import pace
    from adjudge.data.files import read_lines
    from adjudge.data.kgat import write_examples
    from adjudge.data.readers import read_claims_any
    from adjudge.errors import ConfigError
    from adjudge.retrieval.pipeline import sentence_in

    if out is None:
        raise ConfigError("Say where the claims with evidence go: --out FILE.")
    if training and inject_gold:
        raise ConfigError(
            "--training puts gold first by itself: leave out one of --training and --inject-gold."
        )
    refuse_overwrite(out, force)
    total = sum(1 for _ in read_lines(claims))
    wanted = islice(read_claims_any(claims, labels=labels(label)), limit)
    opened = open_with_progress(corpus)
    pipeline = pipeline_over(opened, selector, candidates, inject_gold, k)
    look_up = sentence_in(opened)
    without = 0

    def examples() -> Iterator[Example]:
        nonlocal without
        for done, claim in enumerate(wanted, start=1):
            example = pipeline.training_example(claim, look_up) if training else pipeline.example(claim)
            without += not example.evidence
            yield example
            progress(done)

    console = progress_console()
    with pace(console, "searching", min(total, limit or total), "claims") as progress:
        written = write_examples(out, examples())
    injected = training or inject_gold
    if json:
        show_json({"claims": written, "without_evidence": without, "gold_injected": injected})
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
