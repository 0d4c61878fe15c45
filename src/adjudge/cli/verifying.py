"""The command that verifies claims against documents."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.evidence import (
    NO_CORPUS,
    SELECTOR,
    CandidatesOption,
    CorpusOption,
    InjectGoldOption,
    open_with_progress,
)
from adjudge.cli.output import (
    DeviceOption,
    JsonOption,
    PrecisionOption,
    RayOption,
    progress_console,
    refuse_overwrite,
    show,
    show_json,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.serving.bulk import BulkReport


def verify(
    claim: Annotated[
        list[str] | None, typer.Argument(help="A claim, or several; or give --claims.", show_default=False)
    ] = None,
    corpus: CorpusOption = None,
    model: Annotated[
        Path | None, typer.Option(help="A run folder; by default the model that comes with adjudge.")
    ] = None,
    selector: Annotated[str, typer.Option(help=SELECTOR)] = "fusion",
    k: Annotated[int, typer.Option(min=1, max=5, help="Sentences that a verdict rests on.")] = 5,
    candidates: CandidatesOption = None,
    min_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Abstain from verdicts less probable than this.")
    ] = 0.0,
    claims: Annotated[
        Path | None, typer.Option(help="Many claims: JSON lines with id and claim, such as FEVER's files.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Verdicts on --claims as JSON lines, in their order.")
    ] = None,
    submission: Annotated[Path | None, typer.Option(help="The same as a FEVER submission.")] = None,
    inject_gold: InjectGoldOption = False,
    force: Annotated[bool, typer.Option(help="Replace existing files and begin again.")] = False,
    ray: RayOption = None,
    cpus_per_worker: Annotated[
        int, typer.Option(min=1, help="With --ray: CPUs of a worker, and its threads.")
    ] = 1,
    gpus_per_worker: Annotated[
        float, typer.Option(min=0, help="With --ray: GPUs of a worker; 0.5 lets two share one.")
    ] = 0.0,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    json: JsonOption = False,
) -> None:
    """Verify claims against documents: find the evidence, weigh it, decide.

    Where nothing is found the verdict is NOT ENOUGH INFO, and says so. With `--claims`, an interrupted command
    given again goes on where it stopped.

    **Examples**

    `adjudge verify "The bridge was opened in 1932." --corpus documents/`

    `adjudge verify "The bridge opened in 1932." "It has three arches." --corpus documents/ --min-confidence 0.6`

    `adjudge verify --claims test.jsonl --corpus wiki --model runs/sr-1 --out verdicts.jsonl
    --submission predictions.jsonl`

    `adjudge verify --claims test.jsonl --corpus wiki --out verdicts.jsonl --ray auto --gpus-per-worker 1`
    """
    from rich.padding import Padding

    from adjudge.cli.evidence_view import verdict_view
    from adjudge.data.files import read_lines
    from adjudge.data.verdicts import verdict_record
    from adjudge.errors import ConfigError
    from adjudge.experiments.run import pick_device
    from adjudge.retrieval import IndexRetriever
    from adjudge.retrieval.pipeline import CANDIDATES

    # Bytes of the command line that are no UTF-8 cannot be written again.
    said = [text.encode("utf-8", "replace").decode() for text in claim or ()]
    if bool(said) == (claims is not None):
        raise ConfigError("Give either a claim or a file of them: --claims FILE.")
    if not all(text.strip() for text in said):
        raise ConfigError("The claim is empty.")
    if claims is not None and out is None:
        raise ConfigError("Say where the verdicts go: --out FILE.")
    if claims is None and (out is not None or submission is not None):
        raise ConfigError("--out and --submission go with --claims FILE; a single verdict is printed.")
    if claims is None and inject_gold:
        raise ConfigError("--inject-gold goes with --claims FILE, claims with gold evidence.")
    if claims is None and ray is not None:
        raise ConfigError("--ray goes with --claims FILE; a single claim is verified here.")
    if submission is not None and inject_gold:
        raise ConfigError("A submission cannot say that gold was injected: leave out one of the two.")
    if corpus is None:
        raise ConfigError(NO_CORPUS)
    for path in (out, submission):
        if path is not None:
            refuse_overwrite(path, force)
    from adjudge.serving.verifier import Verifier

    # A pipe can be read only once; its length shows when it ends.
    total = 0 if claims is None or claims.is_fifo() else sum(1 for _ in read_lines(claims))
    if ray is not None and claims is not None and out is not None:
        from adjudge.experiments.cluster import Share
        from adjudge.serving.cluster import Recipe, verify_file_on

        index = open_with_progress(corpus).path
        recipe = Recipe(
            index, model, selector, k, candidates or CANDIDATES, min_confidence, inject_gold, precision
        )
        share = Share(cpus_per_worker, gpus_per_worker)
        work = partial(
            verify_file_on, ray, recipe, claims, out, share=share, submission=submission, restart=force
        )
        _verify_file(work, total, out, json)
        return
    where = pick_device(device)
    number = candidates or CANDIDATES
    verifier = Verifier.load(model, None, selector, k, number, where, min_confidence, precision)
    verifier.corpus = IndexRetriever(open_with_progress(corpus))
    if said:
        verdicts = list(verifier.verify_many(said))
        if json:
            records = [verdict_record(verdict) for verdict in verdicts]
            show_json(records if len(records) > 1 else records[0])
        else:
            for number, verdict in enumerate(verdicts):
                show(verdict_view(verdict) if number == 0 else Padding(verdict_view(verdict), (1, 0, 0, 0)))
    elif claims is not None and out is not None:
        from adjudge.serving.bulk import verify_file

        work = partial(
            verify_file, verifier, claims, out, submission=submission, restart=force, inject_gold=inject_gold
        )
        _verify_file(work, total, out, json)


def _verify_file(work: Callable[..., BulkReport], total: int, out: Path, json: bool) -> None:
    from dataclasses import asdict

    from adjudge.cli.evidence_view import INJECTED, pace

    console = progress_console()
    with pace(console, "verifying", total, "claims") as progress:
        report = work(progress=progress)
    if json:
        show_json(asdict(report))
        return
    said = ", ".join(f"{label} {number:,}" for label, number in sorted(report.labels.items()))
    earlier = f" ({report.resumed:,} from an interrupted job)" if report.resumed else ""
    console.print(f"{out}: {report.claims:,} verdicts{earlier}: {said}.", highlight=False, markup=False)
    if report.gold_injected:
        console.print(INJECTED, highlight=False)
