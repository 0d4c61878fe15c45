"""The command that verifies claims against documents: a few that are typed, or a whole file of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import (
    NO_CORPUS,
    ForceOption,
    InjectGoldOption,
    JsonOption,
    RayOption,
    takes,
)
from adjudge.cli.output import note_cut, note_statements, progress_console, refuse_overwrite, show, show_json
from adjudge.serving.settings import VerifierSettings

if TYPE_CHECKING:
    from adjudge.serving.bulk import BulkJob


@takes(VerifierSettings)
def verify(
    claim: Annotated[
        list[str] | None,
        typer.Argument(
            help="A claim, or several; - reads them from standard input, one a line; or give --claims.",
            show_default=False,
        ),
    ] = None,
    *,
    settings: VerifierSettings,
    claims: Annotated[
        Path | None, typer.Option(help="Many claims: JSON lines with id and claim, such as FEVER's files.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Verdicts on --claims as JSON lines, in their order.")
    ] = None,
    submission: Annotated[Path | None, typer.Option(help="The same as a FEVER submission.")] = None,
    inject_gold: InjectGoldOption = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what the judge says of its verdict: its proof, its edges.")
    ] = False,
    prover: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Explain typed claims' verdicts by proofs of this prover, or of rules."
        ),
    ] = None,
    force: ForceOption = False,
    ray: RayOption = None,
    cpus_per_worker: Annotated[
        int, typer.Option(min=1, help="With --ray: CPUs of a worker, and its threads.")
    ] = 1,
    gpus_per_worker: Annotated[
        float, typer.Option(min=0, help="With --ray: GPUs of a worker; 0.5 lets two share one.")
    ] = 0.0,
    json: JsonOption = False,
) -> None:
    """Verify claims against documents: find the evidence, weigh it, decide.

    Where nothing is found there is no verdict, and the answer says why. With `--claims`, an interrupted command given
    again goes on where it stopped.

    **Examples**

    `adjudge verify "The bridge was opened in 1932." --corpus documents/`

    `adjudge verify "The bridge opened in 1932." "It has three arches." --corpus documents/ --min-confidence 0.6`

    `adjudge verify "The bridge was opened in 1932." --corpus documents/ --explain --prover runs/prover`

    `adjudge verify --claims test.jsonl --corpus wiki --model runs/sr-1 --out verdicts.jsonl
    --submission predictions.jsonl`

    `adjudge verify --claims test.jsonl --corpus wiki --out verdicts.jsonl --ray auto --gpus-per-worker 1`
    """
    from adjudge.errors import ConfigError

    if bool(claim) == (claims is not None):
        raise ConfigError("Give either a claim or a file of them: --claims FILE.")
    if settings.corpus is None:
        raise ConfigError(NO_CORPUS)
    if claim:
        for name, value in (
            ("out", out),
            ("submission", submission),
            ("inject-gold", inject_gold),
            ("ray", ray),
        ):
            if value:
                raise ConfigError(f"--{name} goes with --claims FILE; verdicts on typed claims are printed.")
        _verify_texts(claim, settings, json, explain or prover is not None, prover)
    elif claims is not None:
        if out is None:
            raise ConfigError("Say where the verdicts go: --out FILE.")
        if explain or prover is not None:
            raise ConfigError(
                "--explain and --prover go with typed claims; files of verdicts hold explanations."
            )
        from adjudge.serving.bulk import BulkJob

        job = BulkJob(claims, out, submission, inject_gold, restart=force)
        refuse_overwrite(out, force or job.is_done)  # killed before it could tidy up
        if submission is not None:  # a job that was interrupted after writing it may go on
            refuse_overwrite(submission, force or job.folder.exists())
        _verify_file(job, settings, ray, cpus_per_worker, gpus_per_worker, json)


def _verify_texts(
    claims: list[str], settings: VerifierSettings, json: bool, explain: bool, prover: str | None
) -> None:
    from rich.padding import Padding

    from adjudge.cli.evidence import open_with_progress
    from adjudge.cli.views.evidence import verdict_view
    from adjudge.data.verdicts import verdict_record
    from adjudge.errors import ConfigError
    from adjudge.serving.verifier import Verifier

    texts = list(_typed_texts(claims))
    if not all(text.strip() for text in texts):
        raise ConfigError("The claim is empty.")
    verifier = Verifier(settings)
    index = open_with_progress(settings.corpus, settings.selector)
    verdicts = list(verifier.verify_many(texts, verifier.search(index)))
    note_statements(texts)
    if prover is not None:
        from adjudge.judges.proof.prover import load_prover

        verdicts = list(load_prover(prover).explain(verdicts))
    if json:
        note_cut(verdicts)
        records = [verdict_record(verdict) for verdict in verdicts]
        show_json(records if len(records) > 1 else records[0])
        return
    for position, verdict in enumerate(verdicts):
        show(Padding(verdict_view(verdict, explain), (min(position, 1), 0, 0, 0)))
    note_cut(verdicts)


def _typed_texts(claims: list[str]) -> Iterator[str]:
    """The claims of the command line; in the place of - those of standard input, a line each."""
    from adjudge.data.documents.text import decode
    from adjudge.errors import DataError
    from adjudge.io.files import read_bounded

    for claim in claims:
        if claim != "-":
            # Bytes of the command line that are not UTF-8 cannot be printed.
            yield claim.encode("utf-8", "replace").decode()
            continue
        if sys.stdin is None:
            raise DataError("standard input: is closed, expected claims, one a line.")
        text = decode(
            read_bounded(sys.stdin.buffer, "standard input", "Give a file of claims: --claims FILE.")
        )
        lines = [line.strip() for line in text.replace("\r", "\n").split("\n") if line.strip()]
        if not lines:
            raise DataError("standard input: is empty, expected claims, one a line.")
        yield from lines


def _verify_file(
    job: BulkJob, settings: VerifierSettings, ray: str | None, cpus: int, gpus: float, json: bool
) -> None:
    from dataclasses import asdict
    from functools import partial

    from adjudge.cli.evidence import open_with_progress
    from adjudge.cli.progress import pace
    from adjudge.cli.views.evidence import bulk_summary
    from adjudge.io.jsonl import read_lines
    from adjudge.serving.bulk import verify_file
    from adjudge.serving.verifier import Verifier

    claims = Path(job.claims)
    # A pipe can be read only once; its length shows when it ends.
    total = 0 if claims.is_fifo() else sum(1 for _ in read_lines(claims))
    if ray is None:
        verifier = Verifier(settings)
        index = open_with_progress(settings.corpus, settings.selector)
        work = partial(verify_file, verifier, job, verifier.search(index))
    else:
        from adjudge.cluster.bulk import verify_file_on
        from adjudge.cluster.connection import WorkerResources

        settings = settings.with_(corpus=open_with_progress(settings.corpus, settings.selector).path)
        work = partial(verify_file_on, ray, settings, job, resources=WorkerResources(cpus, gpus))
    console = progress_console()
    with pace(console, "verifying", total, "claims") as progress:
        report = work(progress=progress)
    if json:
        show_json(asdict(report))
    else:
        console.print(bulk_summary(Path(job.out), report), highlight=False, markup=False)
