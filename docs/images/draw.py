"""Draws the pictures of the concepts page: python docs/images/draw.py. A test compares them with the files."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from adjudge.objectives.tables import OBJECTIVES, complement_of
from adjudge.types import FEVER_LABELS

FOLDER = Path(__file__).parent
SHORT = {"SUPPORTS": "S", "REFUTES": "R", "NOT ENOUGH INFO": "N"}
INK, QUIET, LINE, GREEN, RED, BLUE = "#1f2933", "#5f6c7b", "#c3ccd6", "#2f9e64", "#d1495b", "#3f6fd8"


def text(x: float, y: float, words: str, size: int = 14, fill: str = INK, weight: str = "normal") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}" font-weight="{weight}" '
        f'text-anchor="middle">{escape(words)}</text>'
    )


def box(x: float, y: float, width: float, height: float, fill: str = "#fff", stroke: str = LINE) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" fill="{fill}" '
        f'stroke="{stroke}"/>'
    )


def line(x1: float, y1: float, x2: float, y2: float, width: float = 1.5, stroke: str = QUIET) -> str:
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{stroke}" stroke-width="{width:g}"/>'
    )


def arrow(x1: float, x2: float, y: float) -> str:
    head = f'<path d="M{x2:g} {y:g} l-8 -4 v8 z" fill="{QUIET}"/>'
    return line(x1, y, x2 - 7, y) + head


def picture(width: int, height: int, title: str, parts: Iterator[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="system-ui, sans-serif"><title>{escape(title)}</title>'
        f'<rect width="{width}" height="{height}" rx="10" fill="#f7f9fb"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def objective_grids() -> Iterator[str]:
    """Rows: the gold label. Columns: where probability goes. Green is raised, red is pushed down by the second term."""
    for number, name in enumerate(OBJECTIVES):
        left, top, side = 60 + number * 190, 76, 40
        table = complement_of(name)
        yield text(left + 60, 34, name.upper(), 18, weight="bold")
        for column, label in enumerate(FEVER_LABELS):
            yield text(left + side * (column + 0.5), 66, SHORT[label], 13, QUIET)
        for row, gold in enumerate(FEVER_LABELS):
            if number == 0:
                yield text(left - 22, top + side * (row + 0.62), SHORT[gold], 13, QUIET)
            for column, label in enumerate(FEVER_LABELS):
                fill = GREEN if gold == label else RED if label in table[gold] else "#e6ebf0"
                yield box(left + column * side + 2, top + row * side + 2, side - 4, side - 4, fill, fill)
    yield text(
        395,
        224,
        "rows: gold label · columns: predicted · S supports, R refutes, N not enough info",
        13,
        QUIET,
    )
    yield text(
        395, 244, "green: raised · red: pushed down by the second term · grey: left to the first", 13, QUIET
    )


def graph() -> Iterator[str]:
    """Claim and sentences to rows, rows to nodes, edges between nodes, weights of nodes, verdict."""
    rows = [60, 130, 200]
    for number, y in enumerate(rows, start=1):
        yield box(20, y - 20, 170, 40)
        yield text(105, y + 5, f"claim + sentence {number}")
        yield arrow(190, 232, y)
        yield arrow(318, 396, y)
    yield box(232, 30, 86, 200, "#e8eefc", BLUE)
    yield text(275, 135, "encoder", 15, BLUE, "bold")
    nodes = [(430, 60, 24), (520, 130, 14), (430, 200, 17)]
    for one, two, width in ((0, 1, 4.5), (0, 2, 2.0), (1, 2, 1.0)):
        yield line(*nodes[one][:2], *nodes[two][:2], width, BLUE)
    for number, (x, y, radius) in enumerate(nodes, start=1):
        yield f'<circle cx="{x}" cy="{y}" r="{radius}" fill="#fff" stroke="{BLUE}" stroke-width="2"/>'
        yield text(x, y + 5, str(number), 13)
    yield text(455, 262, "edges: what a sentence takes", 13, QUIET)
    yield text(455, 279, "from each other one", 13, QUIET)
    yield arrow(548, 600, 130)
    for (label, fill), (y, width) in zip(
        zip(FEVER_LABELS, (GREEN, RED, QUIET), strict=True), ((80, 150), (125, 34), (170, 56)), strict=True
    ):
        yield text(675, y, label, 13)
        yield box(600, y + 7, width, 12, fill, fill)
    yield text(675, 262, "verdict: nodes weighed", 13, QUIET)
    yield text(675, 279, "by how they match the claim", 13, QUIET)
    yield text(105, 262, "rows of tokens", 13, QUIET)


def pictures() -> dict[str, str]:
    return {
        "objectives.svg": picture(790, 260, "What each objective raises and pushes down", objective_grids()),
        "kgat.svg": picture(790, 296, "How KGAT reaches a verdict", graph()),
    }


if __name__ == "__main__":
    for name, content in pictures().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
