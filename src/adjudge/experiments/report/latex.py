"""A report as LaTeX, ready to paste; it needs the package booktabs and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from adjudge.experiments.report.blocks import Block, Cell, Entry, Report, Table, cells_of

MATRICES_ON_A_PAGE = 8
LONG_ROWS_ON_A_PAGE = 6
COLUMNS_ON_A_PAGE = 7
"""Figures beyond these go into a second tabular below the first."""

_SPECIAL = {
    **{"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", '"': "''"},
    **{character: f"\\{character}" for character in "{}$&#%_"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
    **{"λ": r"$\lambda$", "β": r"$\beta$", "Δ": r"$\Delta$", "χ": r"$\chi$", "²": r"$^2$", "±": r"$\pm$"},
    **{"−": r"$-$", "→": r"$\to$", "↔": r"$\leftrightarrow$", "≥": r"$\geq$", "×": r"$\times$"},
    **{"✓": r"$\surd$", "✗": r"$\times$", "·": r"$\cdot$"},
    **{"–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\dots{}"},
}


def to_latex(report: Report) -> str:
    """The whole report."""
    return "\n\n".join(_parts(report)) + "\n"


def escape(text: str) -> str:
    """Text that LaTeX prints as it is, in one line; what its fonts lack is named by its code."""
    return "".join(map(_escape_character, " ".join(text.split())))


def _escape_character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if (
        character.isascii() and character.isprintable()
    ) or character in "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ":
        return character
    return f"[U+{ord(character):04X}]"


def _parts(report: Report) -> Iterator[str]:
    yield "% Needs \\usepackage{booktabs}."
    yield rf"\section*{{{escape(report.title)}}}" + "\n" + escape(report.subtitle)
    for what, why in report.warnings:
        yield rf"\noindent\textbf{{{escape(what)}}} {escape(why)}"
    items = [rf"  \item {escape(sentence)}" for sentence in report.findings]
    yield "\n".join([r"\begin{itemize}", *items, r"\end{itemize}"])
    labels: Counter[str] = Counter()
    for section in report.sections:
        yield rf"\{'sub' * (section.level - 1)}section*{{{escape(section.title)}}}"
        label = "tab:" + "-".join(re.findall("[a-z0-9]+", section.title.lower()))
        for kind, blocks in section.by_kind():
            if kind == "matrix":
                starts = range(0, len(blocks), MATRICES_ON_A_PAGE)
                floats = [_matrices(blocks[start : start + MATRICES_ON_A_PAGE]) for start in starts]
            else:
                floats = [item for block in blocks if isinstance(block, Table) for item in _floats(block)]
            for body, caption, environment in floats:
                labels[label] += 1
                suffix = f"-{labels[label]}" if labels[label] > 1 else ""
                yield (
                    f"\\begin{{{environment}}}[t]\n  \\centering\\footnotesize\n{body}\n"
                    f"  \\caption{{{caption}}}\n  \\label{{{label}{suffix}}}\n\\end{{{environment}}}"
                )
            yield from (escape(block) for block in blocks if isinstance(block, str))


def _floats(table: Table) -> Iterator[tuple[str, str, str]]:
    """(body, caption, environment) of a float; sentences are divided, as a float cannot go over a page."""
    size = LONG_ROWS_ON_A_PAGE if table.long and table.kind != "facts" else len(table.rows)
    caption = escape(": ".join(filter(None, (table.summary, table.caption))))
    for start in range(0, len(table.rows), max(size, 1)):
        rows = table.rows[start : start + size]
        body = "\\\\[1ex]\n".join(_tabular(table, rows, columns) for columns in _column_sets(table))
        yield body, caption, "table" if table.kind == "results" and len(table.head) <= 4 else "table*"


def _column_sets(table: Table) -> list[Sequence[int]]:
    """All columns, or for a wide table two halves that both begin with the words."""
    columns = range(len(table.head))
    if len(table.head) <= COLUMNS_ON_A_PAGE:
        return [columns]
    words, figures = list(columns[: table.words]), list(columns[table.words :])
    middle = -(-len(figures) // 2)
    return [words + figures[:middle], words + figures[middle:]]


def _tabular(table: Table, rows: Sequence[Sequence[Entry] | str], columns: Sequence[int]) -> str:
    width = f"p{{{0.72 / len(table.long):.2f}\\linewidth}}" if table.long else ""
    layout = [width if n in table.long else "l" if n < table.words else "r" for n in columns]
    lines = [" & ".join(escape(table.head[n]) for n in columns) + r" \\", r"\midrule"]
    for index, row in enumerate(rows):
        if isinstance(row, str):
            lines += [r"\midrule"] * (index > 0)
            lines.append(rf"\multicolumn{{{len(columns)}}}{{l}}{{{escape(row)}}} \\")
            lines.append(rf"\cmidrule(lr){{1-{len(columns)}}}")
        else:
            lines.append(_as_row(" & ".join(_entry(row[n]) for n in columns)) + r" \\")
    return _frame("".join(layout), lines)


def _as_row(cells: str) -> str:
    """A row that the line break or rule before it does not read as its argument: they look for ``[`` and ``*``."""
    return f"{{}}{cells}" if cells.startswith(("[", "*")) else cells


def _entry(entry: Entry) -> str:
    return r" \newline ".join(map(_cell, cells_of(entry)))


def _cell(cell: Cell) -> str:
    text = escape(cell.plain())
    return (rf"\textbf{{{text}}}" if cell.best else text) + ("*" if cell.star else "")


def _frame(layout: str, lines: Sequence[str]) -> str:
    inner = "\n".join(f"    {line}" for line in (r"\toprule", *lines, r"\bottomrule"))
    return f"  \\begin{{tabular}}{{{layout}}}\n{inner}\n  \\end{{tabular}}"


def _matrices(blocks: Sequence[Block]) -> tuple[str, str, str]:
    """(body, caption, environment) of a float: two in a line, as in the paper's appendix."""
    parts: list[str] = []
    for letter, table in zip(
        "abcdefgh", (block for block in blocks if isinstance(block, Table)), strict=False
    ):
        end = r"\\[3ex]" if letter in "bdf" and len(parts) + 1 < len(blocks) else r"\hfill"
        parts.append(
            f"  \\begin{{minipage}}[t]{{0.48\\linewidth}}\n  \\centering\n{_matrix(table)}\\\\[0.5ex]\n"
            f"  ({letter}) {escape(table.title)} ({escape(table.caption)})\n  \\end{{minipage}}{end}"
        )
    caption = "Confusion matrices. The ``Total'' row shows the number of times each class is predicted."
    return "\n".join(parts), caption, "table*"


def _matrix(table: Table) -> str:
    size = len(table.head) - 1
    lines = [rf" & & \multicolumn{{{size}}}{{c}}{{Prediction}} \\", rf"\cmidrule{{3-{size + 2}}}"]
    lines += [" & & " + " & ".join(map(escape, table.head[1:])) + r" \\", r"\midrule"]
    for index, row in enumerate(table.rows):
        name, *counts = (_entry(entry) for entry in row)
        lead = f"{'Gold' if index == size // 2 else ''} & {name}"
        if index == size:  # the totals
            lines.append(r"\midrule")
            lead = f"{name} & "
        lines.append(f"{lead} & " + " & ".join(counts) + r" \\")
    return _frame("ll " + "r" * size, lines)
