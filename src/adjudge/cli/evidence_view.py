"""How evidence and verdicts look on a terminal, and the progress of finding them."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from adjudge.cli.progress import bar
from adjudge.types import Label

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from adjudge.data.documents import Problem
    from adjudge.retrieval import IndexReport, Progress, RetrievalFigures, RetrievalScores
    from adjudge.training.ranking import RankerReport
    from adjudge.types import Evidence, Verdict

INJECTED = "Gold pages were offered to the selector (--inject-gold): these are no figures of a search."
SHOWN_PROBLEMS = 20
LOG_SECONDS = 10.0
BAR = 12
COLOURS = {
    Label.SUPPORTS.value: "green",
    Label.REFUTES.value: "red",
    Label.NOT_ENOUGH_INFO.value: "yellow",
}


def printed(text: str) -> str:
    """Text of unknown origin on one line, without characters that could steer the terminal."""
    spaced = " ".join(text.split())
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") else c for c in spaced)


def verdict_view(verdict: Verdict) -> RenderableType:
    """A verdict: the label, the distribution, and every sentence with its weight and place."""
    colour = COLOURS.get(verdict.label, "cyan")
    parts: list[RenderableType] = [
        _answer(verdict, colour),
        Text(printed(verdict.claim), style="italic"),
    ]
    if verdict.reason:
        parts.append(Text(f"because {verdict.reason}."))
        return Group(*parts)
    shares = Table(box=None, show_header=False, pad_edge=False)
    for label, share in verdict.probabilities.items():
        shares.add_row(Text(label), f"{share:.3f}", _bar(share, COLOURS.get(label, "cyan")))
    parts += [Text(), shares, Text()]
    sentences = Table(box=None, show_header=False, pad_edge=False)
    sentences.add_column()
    sentences.add_column()
    sentences.add_column(overflow="fold")
    for sentence in verdict.evidence:
        weight = sentence.weight
        number = "" if weight is None else f"{weight:.2f}"
        sentences.add_row(number, _bar(weight or 0.0, colour), _sentence(sentence))
    parts.append(sentences)
    return Group(*parts)


def _answer(verdict: Verdict, colour: str) -> Text:
    if not verdict.abstained:
        return Text.assemble((verdict.label, f"bold {colour}"), f"  {verdict.confidence:.2f}")
    return Text.assemble(
        (verdict.answer, "bold magenta"),
        f"  too unsure; likeliest is {verdict.label}  {verdict.confidence:.2f}",
    )


def sentences_view(sentences: Sequence[Evidence]) -> RenderableType:
    """Sentences found, best first, with score and place."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    for sentence in sentences:
        table.add_row(f"{sentence.score:.2f}", _sentence(sentence))
    return table


def retrieval_view(scores: RetrievalScores, selector: str, absent: int) -> RenderableType:
    """Retrieval figures in per cent: all claims, by label, and those that need two pages."""
    table = Table(box=None, pad_edge=False)
    pages, groups = (1, 5, 10), (1, 5, 10)
    table.add_column("%")
    for name in (
        "claims",
        *(f"page R@{k}" for k in pages),
        "sentence R@5",
        "P@5",
        "F1@5",
        *(f"whole group@{k}" for k in groups),
    ):
        table.add_column(name, justify="right")
    rows = {"all": scores.overall, **scores.by_label, "multi-hop": scores.multi_hop}
    for name, row in rows.items():
        figures = [
            *(row.page_recall[k] for k in pages),
            row.sentence_recall,
            row.precision,
            row.f1,
            *(row.group_recall[k] for k in groups),
        ]
        shown = [f"{100 * figure:.1f}" if row.claims else "–" for figure in figures]
        table.add_row(name or "no label", f"{row.claims:,}", *shown)
    note = f"selector {selector}; {scores.without_gold:,} claims without gold evidence left out"
    if absent:
        note += f", and {absent:,} whose gold evidence is not in the corpus"
    return Group(*([INJECTED] if scores.gold_injected else []), table, Text(f"{note}."))


def retrieval_record(scores: RetrievalScores) -> dict[str, Any]:
    """Retrieval figures for programs."""
    return {
        "overall": _figures(scores.overall),
        "by_label": {label: _figures(row) for label, row in scores.by_label.items()},
        "multi_hop": _figures(scores.multi_hop),
        "without_gold": scores.without_gold,
        "gold_injected": scores.gold_injected,
    }


def index_summary(report: IndexReport) -> str:
    """What a build did, in one line."""
    return (
        f"{report.path}: {report.added:,} files added, {report.changed:,} changed, {report.removed:,} removed, "
        f"{report.unchanged:,} as before; {report.pages:,} pages, {report.sentences:,} sentences "
        f"({report.indexed_sentences:,} indexed in {report.seconds:.1f} s, {report.rate:,.0f} a second)."
    )


def ranker_summary(out: Path, report: RankerReport) -> str:
    """What a ranker's training gave, on the claims kept aside."""
    return (
        f"{out}: trained on {report.claims:,} claims; on {report.held_out:,} others gold comes first in "
        f"{100 * report.pair_accuracy:.1f}% of the pairs.\n"
        f"Whole gold group in the first five: {100 * report.group_recall[report.weight]:.1f}% with the ranker "
        f"(weight {report.weight}), {100 * report.group_recall[0.0]:.1f}% without.\n"
        f"Use it: adjudge search QUERY --corpus CORPUS --selector {out}"
    )


def tell_problems(console: Console, problems: Sequence[Problem]) -> None:
    """What could not be read, on standard error; of very many the first."""
    for problem in problems[:SHOWN_PROBLEMS]:
        console.print(Text(printed(str(problem))), soft_wrap=True)
    if len(problems) > SHOWN_PROBLEMS:
        console.print(f"… and {len(problems) - SHOWN_PROBLEMS:,} more problems.", highlight=False)


@contextmanager
def index_progress(console: Console) -> Iterator[Callable[[Progress], None]]:
    """Shows a build: a bar in bytes on a terminal, elsewhere a line now and then."""
    with bar(console) as progress:
        task = progress.add_task("indexing", total=0, note="", visible=False)
        spoke = time.monotonic()

        def tell(state: Progress) -> None:
            nonlocal spoke
            rate = f"bytes, {state.sentences:,} sentences, {state.rate:,.0f}/s"
            progress.update(
                task, completed=state.bytes, total=state.bytes_total or state.bytes, note=rate, visible=True
            )
            if not console.is_terminal and time.monotonic() - spoke > LOG_SECONDS:
                spoke = time.monotonic()
                left = "" if state.eta is None else f", ETA {state.eta:,.0f} s"
                console.print(
                    f"indexing: {state.files:,}/{state.files_total:,} files, {state.sentences:,} sentences, "
                    f"{state.rate:,.0f}/s{left}",
                    highlight=False,
                )

        yield tell


class Pace(Protocol):
    """Hears how many are done, and how many there are where that was not known before."""

    def __call__(self, done: int, of: int | None = None, /) -> None:
        """Show it."""


@contextmanager
def pace(console: Console, what: str, total: int, unit: str) -> Iterator[Pace]:
    """Shows how many of ``total`` are done, the rate and the time left."""
    with bar(console) as progress:
        task = progress.add_task(what, total=total, note=unit)
        began = spoke = time.monotonic()
        first: int | None = None

        def tell(done: int, of: int | None = None, /) -> None:
            nonlocal spoke, first, total
            first = done if first is None else first  # what an interrupted job had done took no time now
            total = max(of or total, done)
            now = time.monotonic()
            rate = (done - first) / (now - began) if now > began else 0.0
            progress.update(task, completed=done, total=total, note=f"{unit}, {rate:.1f}/s")
            if not console.is_terminal and now - spoke > LOG_SECONDS:
                spoke = now
                left = f", ETA {(total - done) / rate:,.0f} s" if rate and total > done else ""
                console.print(f"{what}: {done:,}/{total:,} {unit}, {rate:.1f}/s{left}", highlight=False)

        yield tell


def _figures(row: RetrievalFigures) -> dict[str, Any]:
    return {
        "claims": row.claims,
        "page_recall": row.page_recall,
        "group_recall": row.group_recall,
        "sentence_recall": row.sentence_recall,
        "precision": row.precision,
        "f1": row.f1,
    }


def _bar(share: float, colour: str) -> Text:
    filled = round(BAR * min(max(share, 0.0), 1.0))
    return Text.assemble(("█" * filled, colour), ("░" * (BAR - filled), "dim"))


def _sentence(sentence: Evidence) -> Text:
    return Text.assemble(printed(sentence.text), "\n", (_place(sentence), "dim"))


def _place(sentence: Evidence) -> str:
    """Source, page and offsets; a page that is named by its file is not named twice."""
    span = "" if sentence.start is None else f", characters {sentence.start}–{sentence.end}"
    page = f"{printed(sentence.page)}, " if sentence.page else ""
    source = printed(sentence.source or "")
    if source.endswith(f"/{sentence.page}"):
        page = ""
    number = f"sentence {sentence.line}" if sentence.line >= 0 else ""
    return ", ".join(part for part in (source, f"{page}{number}") if part) + span or "place unknown"
