"""A report's tables as LaTeX, ready to paste; they need the package booktabs and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from adjudge.evaluation.render import SHORT, percent
from adjudge.experiments.report.content import Backbone, Content
from adjudge.experiments.report.table import LEVEL, Cell, Group, ResultsTable, backbone_name
from adjudge.experiments.report.tables import (
    Table,
    calibration_table,
    class_table,
    difference_table,
    effect_table,
    spread_table,
    without,
)
from adjudge.experiments.summary import ArmResult

RESULTS = "tab:results"

ON_A_PAGE = 8
"""Confusion matrices that fit."""

NOT_PRINTED = ("Only CE right", "Only this right", "Difference in LA")
"""Columns of the differences that would make the table wider than a page."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "λ": r"$\lambda$",
    "β": r"$\beta$",
    "Δ": r"$\Delta$",
    "χ": r"$\chi$",
    "²": r"$^2$",
    "±": r"$\pm$",
    "−": r"$-$",
    "→": r"$\to$",
    "↔": r"$\leftrightarrow$",
    "≥": r"$\geq$",
    "–": "--",
    "×": r"$\times$",
}


def to_latex(content: Content) -> str:
    """The tables: results, seeds, differences, classes, matrices and calibration by backbone, effect of λ."""
    return "\n\n".join(_parts(content)) + "\n"


def escape(text: str) -> str:
    """Text that LaTeX prints as it is, in one line."""
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))


def _parts(content: Content) -> Iterator[str]:
    # One line: what follows a line break would no longer be a comment.
    yield f"% {' '.join(content.title.split())}\n% \\usepackage{{booktabs}}"
    if content.unfinished:
        yield f"% Not finished, and not in these tables: {' '.join('; '.join(content.unfinished).split())}"
    yield results(content.table, content.summary.n)
    for place, backbone in enumerate(content.backbones, start=1):
        yield from _of_backbone(backbone, f"{place}")
    for place, effect in enumerate(content.effects, start=1):
        yield _table(effect_table(effect), f"tab:lambda-{place}")


def _of_backbone(backbone: Backbone, place: str) -> Iterator[str]:
    where = f" Backbone: {escape(backbone.name)}."
    yield _table(spread_table(backbone.rows), f"tab:seeds-{place}", where)
    if len(backbone.rows) > 1:
        differences = without(difference_table(backbone.rows), NOT_PRINTED)
        yield _table(differences, f"tab:differences-{place}", where)
    yield _table(class_table(backbone.rows), f"tab:classes-{place}", where)
    for start in range(0, len(backbone.rows), ON_A_PAGE):
        rows = backbone.rows[start : start + ON_A_PAGE]
        yield _matrices(backbone.name, rows, f"tab:confusion-{place}" + (f"-{start}" if start else ""))
    if (calibration := calibration_table(backbone.rows)) is not None:
        yield _table(calibration, f"tab:calibration-{place}", where)


def results(table: ResultsTable, claims: int) -> str:
    """The results as the paper's Table 2."""
    words = 3 if table.with_variant else 2
    centred = [rf"\multicolumn{{1}}{{c}}{{{name}}}" for name in table.head[words:]]
    lines = [" & ".join([*table.head[:words], *centred]) + r" \\"]
    for group in table.groups:
        backbone = escape(backbone_name(group.backbone))
        lines.append(r"\midrule")
        lines.append(rf"\multicolumn{{{len(table.head)}}}{{l}}{{Backbone: {backbone}}} \\")
        lines.append(rf"\cmidrule(lr){{1-{words}}}")
        lines += _group(table, group)
    columns = "lc" + "l" * (len(table.head) - 2)
    beta = "" if table.beta is None else rf" For class-balanced weighting, $\beta$ is {table.beta:g}."
    caption = (
        f"Label accuracy (LA) and FEVER score (FS) on {claims} claims, in \\%.{beta} In parentheses the difference "
        f"from the baseline (CE without weighting). Asterisks (*): the predictions differ from the baseline's "
        rf"(McNemar, Holm-adjusted $p<{LEVEL}$). Bold: best of its backbone."
    )
    return _float(columns, lines, caption, RESULTS)


def _group(table: ResultsTable, group: Group) -> Iterator[str]:
    """The rows, with a little room between objectives."""
    for row, following in zip_longest(group.rows, group.rows[1:]):
        room = following is not None and following.arm.objective != row.arm.objective
        cells = [*map(escape, table.labels_of(row)), *map(_figure, table.figures_of(row))]
        yield " & ".join(cells) + (r" \\[0.5ex]" if room else r" \\")


def _figure(cell: Cell | None) -> str:
    if cell is None:
        return "--"
    text = escape(cell.text)
    return (rf"\textbf{{{text}}}" if cell.best else text) + ("*" if cell.star else "")


def _table(table: Table, label: str, where: str = "") -> str:
    rows = [
        " & ".join(rf"\textbf{{{escape(c)}}}" if place in table.strong else escape(c) for c in row) + r" \\"
        for place, row in enumerate(table.rows)
    ]
    head = " & ".join(escape(name) for name in table.head) + r" \\"
    columns = "l" * table.words + "r" * (len(table.head) - table.words)
    return _float(columns, [head, r"\midrule", *rows], escape(table.caption) + where, label)


def _float(columns: str, lines: Sequence[str], caption: str, label: str) -> str:
    """A float; the results alone are narrow enough for one column of a page of two."""
    kind = "table" if label == RESULTS and len(columns) <= 4 else "table*"
    size = r"\small" if len(columns) <= 5 else r"\footnotesize"
    return "\n".join(
        [
            rf"\begin{{{kind}}}[t]",
            rf"  \centering{size}",
            rf"  \begin{{tabular}}{{{columns}}}",
            *(f"    {line}" for line in (r"\toprule", *lines, r"\bottomrule")),
            r"  \end{tabular}",
            rf"  \caption{{{caption}}}",
            rf"  \label{{{label}}}",
            rf"\end{{{kind}}}",
        ]
    )


def _matrices(backbone: str, rows: Sequence[ArmResult], label: str) -> str:
    """Two in a line, as in the paper's appendix."""
    blocks = []
    for place, row in enumerate(rows):
        ends_line = place % 2 == 1 and place + 1 < len(rows)
        blocks.append(_matrix(row, "abcdefgh"[place]) + (r"\\[3ex]" if ends_line else r"\hfill"))
    caption = (
        f"Confusion matrices with the {escape(backbone)} backbone. "
        r"The ``Total'' row shows the number of times each class is predicted."
    )
    return "\n".join(
        [
            r"\begin{table*}[t]",
            r"  \centering",
            *blocks,
            rf"  \caption{{{caption}}}",
            rf"  \label{{{label}}}",
            r"\end{table*}",
        ]
    )


def _matrix(row: ArmResult, letter: str) -> str:
    scores = row.chosen.scores
    names = [escape(SHORT.get(label, label)) for label in scores.labels]
    size = len(names)
    lines = [rf" & & \multicolumn{{{size}}}{{c}}{{Prediction}} \\", rf"\cmidrule{{3-{size + 2}}}"]
    lines += [" & & " + " & ".join(names) + r" \\", r"\midrule"]
    for place, (name, counts) in enumerate(zip(names, scores.confusion, strict=True)):
        side = "Gold" if place == size // 2 else ""
        lines.append(f"{side} & {name} & " + " & ".join(str(count) for count in counts) + r" \\")
    totals = (str(sum(column)) for column in zip(*scores.confusion, strict=True))
    lines += [r"\midrule", "Total & & " + " & ".join(totals) + r" \\"]
    inner = "\n".join(f"      {line}" for line in (r"\toprule", *lines, r"\bottomrule"))
    fever = "" if scores.fever_score is None else f"FS={percent(scores.fever_score)}, "
    said = f"({letter}) {escape(row.arm.name)} ({fever}LA={percent(scores.label_accuracy)})"
    return (
        f"  \\begin{{minipage}}[t]{{0.48\\linewidth}}\n    \\centering\n"
        f"    \\begin{{tabular}}{{ll {'r' * size}}}\n{inner}\n    \\end{{tabular}}\\\\[0.5ex]\n"
        f"    {said}\n  \\end{{minipage}}"
    )
