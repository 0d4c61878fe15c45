"""A report as Markdown: tables that GitHub and editors show, no pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from adjudge.evaluation.render import SHORT
from adjudge.experiments.report.changes import Change, Changes
from adjudge.experiments.report.content import Content
from adjudge.experiments.report.table import LEVEL, Cell, ResultsTable, backbone_name
from adjudge.experiments.report.tables import (
    Table,
    calibration_table,
    class_table,
    difference_table,
    effect_table,
    spread_table,
)
from adjudge.experiments.report.words import NOTHING
from adjudge.experiments.summary import ArmResult
from adjudge.types import Verdict


def to_markdown(content: Content) -> str:
    """The whole report."""
    return "\n\n".join(_parts(content)) + "\n"


def escape(text: str) -> str:
    """Text that Markdown shows as it is, in one line: no markup, no HTML, no cell borders."""
    line = " ".join(text.split())
    line = re.sub(r"([\\`*_\[\]#|~<>$])", r"\\\1", line)
    return line.replace("&", "&amp;")


def _parts(content: Content) -> Iterator[str]:
    yield f"# {escape(content.title)}"
    if content.unfinished:
        yield f"**Not finished, and not in this report:** {escape('; '.join(content.unfinished))}"
    yield "\n".join(f"- {escape(sentence)}" for sentence in content.findings)
    yield "## Results"
    yield _results(content.table)
    yield (
        f"LA label accuracy, FS FEVER score, in %, of the run with the best tuning LA; in parentheses the difference "
        f"from CE (baseline). \\* Holm p < {LEVEL} (McNemar). Bold: best of its backbone."
    )
    for backbone in content.backbones:
        yield f"## {escape(backbone.name)}"
        yield _table(spread_table(backbone.rows))
        if len(backbone.rows) > 1:
            yield _table(difference_table(backbone.rows))
        yield _table(class_table(backbone.rows))
        yield "Confusion matrices (rows gold, columns predicted):"
        yield from (_matrix(row) for row in backbone.rows)
        if (calibration := calibration_table(backbone.rows)) is not None:
            yield _table(calibration)
    for effect in content.effects:
        yield f"## Effect of λ: {escape(effect.name)}"
        yield _table(effect_table(effect))
        if effect.protocol:
            yield f"Selection: {escape(effect.protocol)}"
    if content.changes is not None:
        yield from _changes(content.changes)
    yield "## Protocol"
    yield _rows(("", ""), [(what, escape(value)) for what, value in content.protocol], words=2)


def _results(table: ResultsTable) -> str:
    several = len(table.groups) > 1
    rows = []
    for group in table.groups:
        for row in group.rows:
            words = [escape(word) for word in table.labels_of(row)]
            backbone = [escape(backbone_name(group.backbone))] if several else []
            rows.append([*backbone, *words, *map(_figure, table.figures_of(row))])
    head = (["Backbone"] if several else []) + list(table.head)
    return _rows(head, rows, words=len(table.head) - 1 - table.with_fever + several)


def _figure(cell: Cell | None) -> str:
    if cell is None:
        return NOTHING
    text = f"**{cell.text}**" if cell.best else cell.text
    return text + ("\\*" if cell.star else "")


def _table(table: Table) -> str:
    rows = [
        [f"**{escape(cell)}**" if place in table.strong else escape(cell) for cell in row]
        for place, row in enumerate(table.rows)
    ]
    return f"{escape(table.caption)}\n\n{_rows([escape(name) for name in table.head], rows, table.words)}"


def _matrix(row: ArmResult) -> str:
    scores = row.chosen.scores
    head = [escape(row.arm.name), *(escape(SHORT.get(label, label)) for label in scores.labels)]
    return _rows(
        head,
        [
            [name, *(f"{count:,}" for count in counts)]
            for name, counts in zip(head[1:], scores.confusion, strict=True)
        ],
    )


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """A table whose first ``words`` columns stand left, the others right."""
    rule = [":--"] * words + ["--:"] * (len(head) - words)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *rows))


def _changes(found: Changes) -> Iterator[str]:
    first, second = escape(found.first.arm.name), escape(found.second.arm.name)
    yield f"## Changed predictions: {first} and {second}"
    shown = f", {len(found.rows)} of them below" if len(found.rows) < found.total else ""
    yield (
        f"{found.total:,} claims got another label{shown}; {found.mended:,} of them only {second} got right, "
        f"{found.broken:,} only {first}; {found.flipped:,} changed between SUPPORTS and REFUTES."
    )
    if found.rows:
        yield _rows(
            ("Claim", "Gold", first, second, "Evidence (weights)"), [_change(c) for c in found.rows], words=5
        )


def _change(change: Change) -> list[str]:
    sentences = "<br>".join(
        f"{escape(sentence.text)} ({_weight(sentence.first_weight)}, {_weight(sentence.second_weight)})"
        for sentence in change.sentences
    )
    return [
        escape(change.claim),
        escape(SHORT.get(change.gold, change.gold)),
        _verdict(change.first),
        _verdict(change.second),
        sentences,
    ]


def _verdict(verdict: Verdict) -> str:
    return f"{escape(SHORT.get(verdict.label, verdict.label))} {verdict.confidence:.2f}"


def _weight(weight: float | None) -> str:
    return NOTHING if weight is None else f"{weight:.2f}"
