"""Commands that find evidence in documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.output import (
    JsonOption,
    LabelOption,
    labels,
    progress_console,
    show,
    show_json,
)
from adjudge.types import MAX_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.data.documents import Problem
    from adjudge.retrieval import EvidencePipeline, Index
    from adjudge.types import Claim

CorpusOption = Annotated[
    Path | None, typer.Option(help="An index, or a folder or file of documents (indexed on first use).")
]
CandidatesOption = Annotated[
    int | None, typer.Option(min=5, help="Sentences that the selector chooses from; 30 if not said.")
]
InjectGoldOption = Annotated[
    bool,
    typer.Option(
        "--inject-gold",
        help="Offer the selector the gold pages too; every output says that gold was injected.",
    ),
]
NO_CORPUS = "Say where to look: --corpus, an index or a folder or file of documents."
SELECTOR = "What chooses the sentences: lexical, fusion (with MiniLM), or a trained ranker's folder."


def index(
    documents: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Folders and files: txt, md, html, pdf, jsonl, FEVER's wiki dump (folder or zip)."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The index to make or to bring up to date.")] = None,
    remove: Annotated[
        list[Path] | None,
        typer.Option(metavar="SOURCE", help="A folder or file indexed earlier, to take out."),
    ] = None,
    strict: Annotated[
        bool, typer.Option(help="Stop at the first bad file or record; change nothing.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Index documents for searching; given again, it reads only what has changed.

    Files that cannot be read, and bad records of those that can, are reported on standard error and skipped.
    Whatever interrupts the command, the index stays as it was.

    **Examples**

    `adjudge index reports/ notes.md --out my-index`

    `adjudge index wiki-pages.zip --out wiki`

    `adjudge index --remove reports/ --out my-index`
    """
    from dataclasses import asdict

    from adjudge.cli.evidence_view import index_progress, index_summary, tell_problems
    from adjudge.errors import ConfigError, DataError
    from adjudge.retrieval import build_index

    if out is None:
        raise ConfigError("Say where the index goes: --out INDEX.")
    if not documents and not remove:
        raise ConfigError("Name the documents to index, or --remove SOURCE to take some out.")
    for path in documents or ():
        if not path.exists():
            raise DataError(
                f"{path}: no such file or folder. To take it out of an index, pass --remove {path}."
            )
    console = progress_console()
    with index_progress(console) as progress:
        report = build_index(documents or (), out, progress=progress, strict=strict, remove=remove or ())
    tell_problems(console, report.problems)
    if json:
        show_json({**asdict(report), "rate": report.rate})
    else:
        typer.echo(index_summary(report))


def search(
    query: Annotated[str | None, typer.Argument(help="A claim, or any words.")] = None,
    corpus: CorpusOption = None,
    k: Annotated[int, typer.Option(min=1, help="How many sentences to show.")] = 10,
    selector: Annotated[str, typer.Option(help=SELECTOR)] = "lexical",
    candidates: CandidatesOption = None,
    evaluate: Annotated[
        Path | None,
        typer.Option(metavar="CLAIMS", help="Claims with gold evidence: how much of it is found?"),
    ] = None,
    in_corpus: Annotated[
        bool, typer.Option("--in-corpus", help="Evaluate only claims of which a gold group is in the corpus.")
    ] = False,
    inject_gold: InjectGoldOption = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Evaluate the first so many claims.")] = None,
    label: LabelOption = None,
    json: JsonOption = False,
) -> None:
    """Find sentences about a claim, or measure how much of the gold evidence is found.

    **Examples**

    `adjudge search "Savages was directed by Oliver Stone." --corpus wiki`

    `adjudge search --evaluate dev.jsonl --corpus wiki --selector fusion`
    """
    from dataclasses import asdict

    from adjudge.cli.evidence_view import sentences_view
    from adjudge.errors import ConfigError

    if (query is None) == (evaluate is None):
        raise ConfigError("Give either words to search for or --evaluate CLAIMS.")
    if inject_gold and evaluate is None:
        raise ConfigError("--inject-gold goes with --evaluate CLAIMS: words to search for have no gold.")
    opened = open_with_progress(corpus)
    pipeline = pipeline_over(opened, selector, candidates, inject_gold)
    if evaluate is not None:
        _evaluate(opened, pipeline, evaluate, selector, in_corpus, limit, label, json)
        return
    sentences = pipeline.retrieve(query or "", k)
    if json:
        show_json([{key: v for key, v in asdict(s).items() if key != "weight"} for s in sentences])
    elif sentences:
        show(sentences_view(sentences))
    else:
        empty = not opened.manifest.sentences
        progress_console().print(
            "Nothing found: the corpus is empty." if empty else "Nothing found.", highlight=False
        )


def train_ranker(
    claims: Annotated[
        Path, typer.Argument(help="Training claims with gold evidence (FEVER format or the like).")
    ],
    corpus: CorpusOption = None,
    out: Annotated[Path, typer.Option(help="The ranker's folder.")] = Path("runs/ranker"),
    backbone: Annotated[str, typer.Option(help="minilm, bert-base, a hub id or a folder.")] = "minilm",
    epochs: Annotated[int | None, typer.Option(help="Passes over the claims.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Claims per forward pass.")] = None,
    accumulation: Annotated[int | None, typer.Option(help="Forward passes per optimizer step.")] = None,
    lr: Annotated[float | None, typer.Option(help="Highest learning rate.")] = None,
    freeze_layers: Annotated[int | None, typer.Option(help="Lowest backbone layers to freeze.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Train on at most so many claims.")] = None,
    held_out: Annotated[
        int, typer.Option(min=1, help="Claims kept aside to choose checkpoint and weight.")
    ] = 200,
    seed: Annotated[int | None, typer.Option(help="Decides initial weights, order and dropout.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on with an interrupted training.")] = False,
    label: LabelOption = None,
    json: JsonOption = False,
) -> None:
    """Train a ranker that puts gold sentences before the other sentences found.

    Its folder is a selector: `--selector FOLDER` in search and verify.

    **Example**

    `adjudge train-ranker train.jsonl --corpus wiki --out runs/ranker --limit 20000`
    """
    from dataclasses import asdict

    from adjudge.cli.evidence_view import pace, ranker_summary
    from adjudge.config import settings_from
    from adjudge.data.readers import read_claims_any
    from adjudge.errors import ConfigError
    from adjudge.training.ranking import RANKER_TRAINING, RankerSettings, RankingMetric, train_ranker_on

    if (out / "ranker.json").exists() and not resume:
        raise ConfigError(f"{out}: holds a ranker. Choose another --out, or pass --resume to go on with it.")
    options = {
        "epochs": epochs,
        "batch_size": batch_size,
        "accumulation": accumulation,
        "lr": lr,
        "freeze_layers": freeze_layers,
        "seed": seed,
    }
    given = {name: value for name, value in options.items() if value is not None}
    training = settings_from({"training": {**RANKER_TRAINING.model_dump(), **given}}).training
    opened = open_with_progress(corpus)
    console = progress_console()
    with pace(console, "training", 0, "steps") as progress:

        def tell(metric: RankingMetric) -> None:
            if metric.pair_accuracy is None:
                progress(metric.step, metric.steps)
            else:
                console.print(
                    f"step {metric.step}/{metric.steps}  loss {metric.loss:.4f}  "
                    f"pair accuracy {100 * metric.pair_accuracy:.2f}",
                    highlight=False,
                )

        report = train_ranker_on(
            read_claims_any(claims, labels=labels(label)),
            opened,
            out,
            RankerSettings(backbone=backbone),
            training,
            limit=limit,
            held_out=held_out,
            resume=resume,
            report=tell,
        )
    if json:
        show_json({"ranker": str(out), **asdict(report)})
    else:
        typer.echo(ranker_summary(out, report))


def _evaluate(
    opened: Index,
    pipeline: EvidencePipeline,
    claims: Path,
    selector: str,
    in_corpus: bool,
    limit: int | None,
    label: list[str] | None,
    json: bool,
) -> None:
    """Print how much gold evidence is found."""
    from itertools import islice

    from adjudge.cli.evidence_view import pace, retrieval_record, retrieval_view
    from adjudge.data.documents import printable
    from adjudge.data.files import read_lines
    from adjudge.data.readers import read_claims_any
    from adjudge.retrieval import evaluate_retrieval

    total = sum(1 for _ in read_lines(claims))
    wanted = islice(read_claims_any(claims, labels=labels(label)), limit)
    absent = 0

    def held() -> Iterator[Claim]:
        nonlocal absent
        for done, claim in enumerate(wanted, start=1):
            if not in_corpus or not claim.gold or any(opened.holds(group) for group in claim.gold):
                yield claim
            else:
                absent += 1
            progress(done)

    with pace(progress_console(), "searching", min(total, limit or total), "claims") as progress:
        scores = evaluate_retrieval(pipeline, held())
    files = {"claims": printable(claims), "corpus": printable(opened.path)}
    record = {**files, "selector": selector, "absent": absent}
    if json:
        show_json({**record, **retrieval_record(scores)})
    else:
        show(retrieval_view(scores, selector, absent))


def open_with_progress(corpus: Path | None) -> Index:
    """The corpus of a command, with progress where documents are indexed first."""
    from adjudge.cli.evidence_view import index_progress, tell_problems
    from adjudge.errors import ConfigError
    from adjudge.serving.corpus import open_corpus

    if corpus is None:
        raise ConfigError(NO_CORPUS)
    console = progress_console()
    problems: list[Problem] = []
    with index_progress(console) as progress:
        opened = open_corpus(corpus, progress, problems.append)
    tell_problems(console, problems)
    return opened


def pipeline_over(
    opened: Index, selector: str, candidates: int | None, inject_gold: bool = False, k: int = MAX_EVIDENCE
) -> EvidencePipeline:
    """What finds evidence in an opened corpus."""
    from adjudge.retrieval import EvidencePipeline, IndexRetriever
    from adjudge.retrieval.pipeline import CANDIDATES
    from adjudge.serving.selectors import load_selector

    retriever = IndexRetriever(opened)
    pipeline = EvidencePipeline(retriever, load_selector(selector), candidates or CANDIDATES, k)
    return pipeline.with_gold(retriever.retrieve_within) if inject_gold else pipeline
