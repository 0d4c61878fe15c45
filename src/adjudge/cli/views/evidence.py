"""Evidence, verdicts and retrieval figures on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from adjudge.cli.output import cut_note, terminal_safe
from adjudge.data.text import headings_of
from adjudge.types import Label

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from adjudge.retrieval import IndexReport, RetrievalFigures, RetrievalScores
    from adjudge.serving.bulk import BulkReport
    from adjudge.training.ranker import RankerReport
    from adjudge.types import Evidence, ProofStep, Verdict

INJECTED = "Gold pages were offered to the selector (--inject-gold): these are not figures of a search."
BAR = 12
COLOURS = {
    Label.SUPPORTS.value: "green",
    Label.REFUTES.value: "red",
    Label.NOT_ENOUGH_INFO.value: "yellow",
}


def verdict_view(verdict: Verdict, explain: bool = False) -> RenderableType:
    """A verdict: the label, the distribution, and every sentence with its weight and where it stands.

    With ``explain``, also what the judge says of how it came about.
    """
    colour = COLOURS.get(verdict.label or "", "cyan")
    parts: list[RenderableType] = [
        _answer(verdict, colour),
        Text(terminal_safe(verdict.claim), style="italic"),
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
        weight_text = "" if weight is None else f"{weight:.2f}"
        sentences.add_row(weight_text, _bar(weight or 0.0, colour), _sentence(sentence))
    parts.append(sentences)
    if explain:
        parts += [Text(), *_explanation(verdict)]
    return Group(*parts)


def _explanation(verdict: Verdict) -> Iterator[RenderableType]:
    """The proof, step by step, and what sentences took from each other; a word where there is neither."""
    explanation = verdict.explanation
    if explanation is None or not (explanation.proof or explanation.edges):
        yield Text("This judge gives no explanation; name a prover: --prover FOLDER, or rules.")
        return
    if explanation.proof:
        table = Table("claim", "", "evidence", box=None, pad_edge=False, title="proof", title_justify="left")
        for step in explanation.proof:
            part = Text(terminal_safe(verdict.claim[slice(*step.claim)]))
            table.add_row(part, Text(step.operator, style="bold"), _step_evidence(verdict, step))
        yield table
    if explanation.edges:
        table = Table(box=None, pad_edge=False, title="what sentence i took from j", title_justify="left")
        for number in range(len(explanation.edges)):
            table.add_column(str(number + 1), justify="right")
        for row in explanation.edges:
            table.add_row(*(f"{weight:.2f}" for weight in row))
        yield table


def _step_evidence(verdict: Verdict, step: ProofStep) -> Text:
    if step.sentence is None:
        return Text("nothing", style="dim")
    sentence = verdict.evidence[step.sentence]
    if step.evidence is None:
        return Text(f"title of sentence {step.sentence + 1}", style="dim")
    return Text(terminal_safe(sentence.text[slice(*step.evidence)])).append(
        f"  (sentence {step.sentence + 1})", style="dim"
    )


def _answer(verdict: Verdict, colour: str) -> Text:
    if verdict.label is None:
        return Text(verdict.answer, style="bold magenta")
    if not verdict.abstained:
        return Text.assemble((verdict.label, f"bold {colour}"), f"  {verdict.confidence:.2f}")
    return Text.assemble(
        (verdict.answer, "bold magenta"),
        f"  too unsure; likeliest is {verdict.label}  {verdict.confidence:.2f}",
    )


def bulk_summary(out: Path, report: BulkReport) -> str:
    """What a bulk job wrote."""
    counts = ", ".join(f"{answer} {count:,}" for answer, count in sorted(report.labels.items()))
    earlier = f" ({report.resumed:,} from an interrupted job)" if report.resumed else ""
    injected = f"\n{INJECTED}" if report.gold_injected else ""
    cut = f"\n{cut_note(report.cut, report.claims)}" if report.cut else ""
    return f"{out}: {report.claims:,} verdicts{earlier}: {counts}.{injected}{cut}"


def sentences_view(sentences: Sequence[Evidence]) -> RenderableType:
    """Sentences, best first, with their scores and where they stand."""
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
        percentages = [f"{100 * figure:.1f}" if row.claims else "–" for figure in figures]
        table.add_row(name or "no label", f"{row.claims:,}", *percentages)
    note = f"selector {selector}; {scores.without_gold:,} claims without gold evidence left out"
    if absent:
        note += f", and {absent:,} whose gold evidence is not in the corpus"
    return Group(*([INJECTED] if scores.gold_injected else []), table, Text(f"{note}."))


def retrieval_record(scores: RetrievalScores) -> dict[str, Any]:
    """Retrieval figures for programs."""

    def figures(row: RetrievalFigures) -> dict[str, Any]:
        return {**asdict(row), "f1": row.f1}

    return {
        **asdict(scores),
        "overall": figures(scores.overall),
        "by_label": {label: figures(row) for label, row in scores.by_label.items()},
        "multi_hop": figures(scores.multi_hop),
    }


def index_summary(report: IndexReport) -> str:
    """What a build did, in one line."""
    vectors = f", {report.embedded_sentences:,} embedded" if report.vectors else ", no vectors"
    return (
        f"{report.path}: {report.added:,} files added, {report.changed:,} changed, {report.removed:,} removed, "
        f"{report.unchanged:,} as before; {report.pages:,} pages, {report.sentences:,} sentences "
        f"({report.indexed_sentences:,} indexed{vectors} in {report.seconds:.1f} s, {report.rate:,.0f} a second)."
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


def _bar(share: float, colour: str) -> Text:
    filled = round(BAR * min(max(share, 0.0), 1.0))
    return Text.assemble(("█" * filled, colour), ("░" * (BAR - filled), "dim"))


def _sentence(sentence: Evidence) -> Text:
    return Text.assemble(terminal_safe(sentence.text), "\n", (_location(sentence), "dim"))


def _location(sentence: Evidence) -> str:
    """Source, page, headings, location and offsets; a page that is named by its file is not named twice."""
    span = "" if sentence.start is None else f", characters {sentence.start}–{sentence.end}"
    page, source = terminal_safe(sentence.page), terminal_safe(sentence.source or "")
    location = terminal_safe(sentence.location or "")
    if source:
        page = _part_of_file(page, source, location)
    line = f"sentence {sentence.line}" if sentence.line >= 0 else ""
    heading = terminal_safe(headings_of(sentence))
    under = f"under “{heading}”" if heading else ""
    known = (
        ", ".join(part for part in (source, page, under, location, line) if part) + span or "source unknown"
    )
    return known + (", only its beginning was read" if sentence.cut else "")


def _part_of_file(page: str, source: str, location: str) -> str:
    """A page beside its source: ``page 2`` of a PDF, nothing for a whole file or where the location says it."""
    if f"/{source}".endswith(f"/{page}"):
        return ""
    file, _, part = page.rpartition("#")
    if not f"/{source}".endswith(f"/{file}"):
        return page
    if location and part.startswith(("sheet=", "slide=")):
        return ""
    return f"part {part}" if part.isdigit() else part.replace("=", " ")
