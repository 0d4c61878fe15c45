"""Commands that find evidence in documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.options import (
    NO_CORPUS,
    CorpusOption,
    InjectGoldOption,
    JsonOption,
    LabelOption,
    aliases,
    takes,
    takes_given,
)
from adjudge.cli.output import progress_console, show, show_json
from adjudge.config import TrainingSettings
from adjudge.serving.settings import VerifierSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.data.documents import Problem
    from adjudge.retrieval import EvidencePipeline, Index
    from adjudge.retrieval.embedding import Vectors
    from adjudge.types import Claim, Evidence


SEARCHING = ("corpus", "selector", "candidates", "device", "precision")
"""The settings of a verifier that commands without a model take."""


def index(
    documents: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Folders and files: txt, md, html, pdf, docx, xlsx, pptx, epub, csv, tsv, eml, jsonl, "
            "FEVER's wiki dump (folder or zip)."
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
    vectors: Annotated[
        bool | None,
        typer.Option(
            "--vectors/--no-vectors",
            help="Sentence vectors, to find sentences by meaning. Default: as the index has them; a new one gets them "
            "if it has at most 100,000 sentences.",
        ),
    ] = None,
    embedder: Annotated[
        str | None, typer.Option(help="What makes the vectors: minilm, a hub id or a folder.")
    ] = None,
    context: Annotated[
        bool,
        typer.Option(
            "--context", help="Embed a sentence that begins with a pronoun with the sentence it refers to."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Index documents for searching; given again, it reads only what has changed.

    Files that cannot be read, and bad records of those that can, are reported on standard error and skipped.
    Whatever interrupts the command, the index stays as it was; vectors that were made are kept for the next call.

    **Examples**

    `adjudge index reports/ notes.md --out my-index`

    `adjudge index wiki-pages.zip --out wiki --vectors`

    `adjudge index --remove reports/ --out my-index`
    """
    from dataclasses import asdict

    from adjudge.cli.progress import index_progress, print_problems
    from adjudge.cli.views.evidence import index_summary
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
        report = build_index(
            documents or (),
            out,
            progress,
            strict=strict,
            remove=remove or (),
            vectors=_vectors(out, vectors, embedder, context),
        )
    print_problems(console, report.problems)
    if json:
        show_json({**asdict(report), "rate": report.rate})
    else:
        typer.echo(index_summary(report))


def _vectors(out: Path, wanted: bool | None, embedder: str | None, context: bool) -> Vectors:
    """The vectors that the options of ``index`` ask for."""
    from adjudge.errors import ConfigError
    from adjudge.retrieval.embedding import VectorSettings, automatic_vectors
    from adjudge.retrieval.storage import MANIFEST

    if wanted is False:
        if embedder or context:
            raise ConfigError("--no-vectors leaves nothing to embed: leave out --embedder and --context.")
        return "drop"
    if wanted or embedder or context:
        return VectorSettings(embedder or "minilm", context)
    return "keep" if (out / MANIFEST).exists() else automatic_vectors()


@takes(VerifierSettings, *SEARCHING)
def search(
    query: Annotated[str | None, typer.Argument(help="A claim, or any words.")] = None,
    *,
    settings: VerifierSettings,
    k: Annotated[int, typer.Option(min=1, help="How many sentences to show.")] = 10,
    evaluate: Annotated[
        Path | None,
        typer.Option(metavar="CLAIMS", help="Claims with gold evidence: how much of it is found?"),
    ] = None,
    in_corpus: Annotated[
        bool, typer.Option("--in-corpus", help="Evaluate only claims of which a gold group is in the corpus.")
    ] = False,
    inject_gold: InjectGoldOption = False,
    fuzzy_titles: Annotated[
        bool, typer.Option("--fuzzy-titles", help="Also pages whose title resembles a name of the claim.")
    ] = False,
    follow: Annotated[
        float | None,
        typer.Option(
            "--follow-links",
            metavar="DISCOUNT",
            help="Select again among the pages that the best sentences link to, their scores times this (0.95).",
        ),
    ] = None,
    whole_pages: Annotated[
        int | None, typer.Option(min=1, help="Let the selector read so many of the pages found whole.")
    ] = None,
    second_hop: Annotated[
        bool,
        typer.Option(
            "--second-hop",
            help="Read the pages that the best sentence links to with it after the claim (rankers of pages or lists).",
        ),
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Evaluate at most this many claims.")] = None,
    label: LabelOption = None,
    json: JsonOption = False,
) -> None:
    """Find sentences about a claim, or measure how much of the gold evidence is found.

    **Examples**

    `adjudge search "Savages was directed by Oliver Stone." --corpus wiki`

    `adjudge search --evaluate dev.jsonl --corpus wiki --selector fusion`

    `adjudge search --evaluate dev.jsonl --corpus wiki --fuzzy-titles --follow-links 0.95`
    """
    from dataclasses import asdict
    from itertools import islice

    from adjudge.cli.views.evidence import sentences_view
    from adjudge.data.formats import read_claims
    from adjudge.errors import ConfigError

    if (query is None) == (evaluate is None):
        raise ConfigError("Give either words to search for or --evaluate CLAIMS.")
    if inject_gold and evaluate is None:
        raise ConfigError("--inject-gold goes with --evaluate CLAIMS: words to search for have no gold.")
    opened = open_with_progress(settings.corpus, settings.selector)
    pipeline = pipeline_over(opened, settings, inject_gold, fuzzy_titles, follow, whole_pages, second_hop)
    if evaluate is not None:
        claims = islice(read_claims(evaluate, require_gold=True, aliases=aliases(label)), limit)
        _evaluate(opened, pipeline, evaluate, claims, in_corpus, settings.selector, json)
        return
    sentences = pipeline.retrieve(query or "", k)
    if json:
        show_json(
            [
                {key: v for key, v in asdict(s).items() if key not in ("weight", "links", "cut")}
                for s in sentences
            ]
        )
    elif sentences:
        show(sentences_view(sentences))
    else:
        empty = not opened.manifest.sentences
        progress_console().print(
            "Nothing found: the corpus is empty." if empty else "Nothing found.", highlight=False
        )


@takes_given(
    TrainingSettings, "epochs", "batch_size", "accumulation", "lr", "freeze_layers", "precision", "seed"
)
def train_ranker(
    claims: Annotated[
        Path, typer.Argument(help="Training claims with gold evidence (FEVER format or the like).")
    ],
    *,
    corpus: CorpusOption = None,
    out: Annotated[Path, typer.Option(help="The ranker's folder.")] = Path("runs/ranker"),
    kind: Annotated[
        str,
        typer.Option(
            help="What a row holds beside the claim: pair (a sentence), page, or list (all candidates)."
        ),
    ] = "pair",
    max_length: Annotated[int, typer.Option(min=16, max=512, help="Tokens of a row.")] = 130,
    backbone: Annotated[str, typer.Option(help="minilm, bert-base, a hub id or a folder.")] = "minilm",
    settings: dict[str, Any],
    limit: Annotated[int | None, typer.Option(min=1, help="Train on at most this many claims.")] = None,
    held_out: Annotated[
        int, typer.Option(min=1, help="Claims kept aside to choose checkpoint and weight.")
    ] = 200,
    resume: Annotated[bool, typer.Option(help="Go on with an interrupted training.")] = False,
    label: LabelOption = None,
    json: JsonOption = False,
) -> None:
    """Train a ranker that puts gold sentences before the other sentences found.

    Its folder is a selector: `--selector FOLDER` in search and verify.

    **Examples**

    `adjudge train-ranker train.jsonl --corpus wiki --out runs/ranker --limit 20000`

    `adjudge train-ranker train.jsonl --corpus wiki --out runs/list-ranker --kind list --max-length 512`
    """
    from dataclasses import asdict

    import torch
    from pydantic import ValidationError

    from adjudge.cli.progress import pace
    from adjudge.cli.views.evidence import ranker_summary
    from adjudge.config import problems_in, settings_from
    from adjudge.data.formats import read_claims
    from adjudge.errors import ConfigError
    from adjudge.retrieval.ranker import RankerSettings
    from adjudge.training.distributed import workers
    from adjudge.training.loop import Metric
    from adjudge.training.ranker import RANKER_TRAINING, train_ranker_on

    try:
        ranker_settings = RankerSettings.model_validate(
            {"kind": kind, "backbone": backbone, "max_length": max_length}
        )
    except ValidationError as error:
        raise ConfigError("; ".join(problems_in(error)) + ".") from None
    training = settings_from({"training": {**RANKER_TRAINING.model_dump(), **settings}}).training
    opened = open_with_progress(corpus)
    console = progress_console()
    with workers(torch.device("cpu")) as team, pace(console, "training", 0, "steps") as progress:

        def show_metric(metric: Metric, steps: int) -> None:
            if not team.is_first:
                return
            if metric.split == "train":
                progress(metric.step, steps)
            else:
                console.print(
                    f"step {metric.step}/{steps}  held-out loss {metric.loss:.4f}  "
                    f"pair accuracy {100 * metric.accuracy:.2f}",
                    highlight=False,
                )

        report = train_ranker_on(
            read_claims(claims, require_gold=True, aliases=aliases(label)),
            opened,
            out,
            ranker_settings,
            training,
            limit=limit,
            held_out=held_out,
            resume=resume,
            workers=team,
            report=show_metric,
        )
    if not team.is_first:
        return
    if json:
        show_json({"ranker": str(out), **asdict(report)})
    else:
        typer.echo(ranker_summary(out, report))


def _evaluate(
    opened: Index,
    pipeline: EvidencePipeline,
    file: Path,
    claims: Iterator[Claim],
    in_corpus: bool,
    selector: str,
    json: bool,
) -> None:
    """Print how much gold evidence is retrieved."""
    from adjudge.cli.progress import pace
    from adjudge.cli.views.evidence import retrieval_record, retrieval_view
    from adjudge.data.documents import printable
    from adjudge.retrieval import evaluate_retrieval

    claims_read = list(claims)
    absent = 0

    def usable_claims() -> Iterator[Claim]:
        nonlocal absent
        for done, claim in enumerate(claims_read, start=1):
            if not in_corpus or not claim.gold or any(opened.holds(group) for group in claim.gold):
                yield claim
            else:
                absent += 1
            progress(done)

    with pace(progress_console(), "searching", len(claims_read), "claims") as progress:
        scores = evaluate_retrieval(pipeline, usable_claims())
    if json:
        files = {"claims": printable(file), "corpus": printable(opened.path)}
        show_json({**files, "selector": selector, "absent": absent, **retrieval_record(scores)})
    else:
        show(retrieval_view(scores, selector, absent))


def open_with_progress(corpus: Path | None, selector: str = "fusion") -> Index:
    """The corpus of a command, with progress where documents are indexed first, for what the selector needs."""
    from adjudge.cli.progress import index_progress, print_problems
    from adjudge.errors import ConfigError
    from adjudge.retrieval.corpus import open_corpus
    from adjudge.retrieval.retriever import searches_by_meaning

    if corpus is None:
        raise ConfigError(NO_CORPUS)
    console = progress_console()
    problems: list[Problem] = []
    with index_progress(console) as progress:
        opened = open_corpus(corpus, progress, problems.append, searches_by_meaning(selector))
    print_problems(console, problems)
    return opened


def pipeline_over(
    opened: Index,
    settings: VerifierSettings,
    inject_gold: bool = False,
    fuzzy_titles: bool = False,
    discount: float | None = None,
    whole_pages: int | None = None,
    second_hop: bool = False,
) -> EvidencePipeline:
    """What retrieves evidence from an opened corpus; with a discount it follows the links of what it selects."""
    from adjudge.encoders.device import device_name
    from adjudge.errors import ConfigError
    from adjudge.retrieval import EvidencePipeline, open_retriever
    from adjudge.retrieval.links import follow_links
    from adjudge.retrieval.second_hop import hop_twice
    from adjudge.retrieval.selectors import load_selector
    from adjudge.retrieval.titles import FuzzyTitles
    from adjudge.retrieval.whole_pages import WholePages

    device, precision, runtime = device_name(settings.device), settings.precision, settings.runtime
    retriever = open_retriever(opened, settings.selector, device, precision, runtime)
    selector = load_selector(settings.selector, device=device, precision=precision, runtime=runtime)

    def page_sentences(page: str) -> list[Evidence]:
        return [sentence.evidence(0.0) for sentence in opened.page_sentences(page)]

    if discount is not None and second_hop:
        raise ConfigError("--follow-links and --second-hop both follow links: use one of the two.")
    if second_hop:
        selector = hop_twice(selector, page_sentences)
    if discount is not None:
        selector = follow_links(selector, page_sentences, discount)
    if whole_pages is not None:
        selector = WholePages(selector, page_sentences, whole_pages)
    searched = FuzzyTitles(retriever) if fuzzy_titles else retriever
    pipeline = EvidencePipeline(searched, selector, settings.candidates, settings.k)
    return pipeline.with_gold(retriever.retrieve_within) if inject_gold else pipeline
