"""The table against the paper's own: its figures come from the JSON, the truth from the LaTeX it was printed from."""

from __future__ import annotations

import re
from decimal import Decimal

from adjudge.evaluation.scoring import scores_from_matrix
from adjudge.experiments.plan import Arm
from adjudge.experiments.report.table import Cell, Result, ResultsTable, Row, backbone_name, results_table
from paper import Printed, latex_source, paper_results, paper_table, table_2


def rows_of(table: ResultsTable) -> list[Row]:
    return [row for group in table.groups for row in group.rows]


def as_printed(cell: Cell | None) -> str:
    assert cell is not None
    text = cell.text.replace("−", "-")  # the paper sets a hyphen
    return (rf"\textbf{{{text}}}" if cell.best else text) + ("*" if cell.star else "")


def test_the_papers_table_2_comes_out_exactly_as_printed() -> None:
    printed = table_2()
    assert len(printed) == 24
    ours = [
        Printed(
            backbone_name(row.arm.backbone),
            row.objective,
            row.weighting,
            as_printed(row.label_accuracy),
            as_printed(row.fever_score),
        )
        for row in rows_of(paper_table())
    ]
    assert ours == printed


def test_the_papers_differences_are_those_of_the_printed_figures() -> None:
    """Differences of the exact accuracies print otherwise in four rows, so the paper subtracted rounded ones."""
    otherwise = set()
    for row, paper in zip(rows_of(paper_table()), paper_results(), strict=True):
        exact = scores_from_matrix(paper["matrix"]).label_accuracy
        if row.arm.is_baseline:
            base = exact
        elif f"{100 * (exact - base):+.2f}" != f"{row.label_accuracy.delta:+}":
            otherwise.add((row.arm.backbone, row.arm.name))
    assert otherwise == {
        ("bert-base", "CE + weighting"),  # +0.275 of 19,998 claims: printed +0.27
        ("bert-base", "MLL + weighting"),
        ("bert-base", "SR + weighting"),
        ("bert-large", "SR"),
    }


def test_the_papers_captions_totals_and_tables_agree() -> None:
    """For the 24 confusion matrices of the appendix: no figure disagrees with another."""
    source = latex_source()
    blocks = re.findall(r"\\begin\{subcaptionblock\}.*?\\end\{subcaptionblock\}", source, re.S)
    assert len(blocks) == 24
    for block, row in zip(blocks, paper_results(), strict=True):
        cells = [[int(count) for count in re.findall(r"& (\d+)", line)] for line in block.splitlines()]
        *matrix, totals = [counts for counts in cells if len(counts) == 3]
        assert matrix == row["matrix"]
        assert totals == [sum(column) for column in zip(*matrix, strict=True)]
        # One caption (RoBERTa Large, SRN without weighting) lacks the comma.
        assert re.findall(r"FS=([\d.]+),? LA=([\d.]+)", block) == [(f"{row['FS']:.2f}", f"{row['LA']:.2f}")]


def arm(objective: str, weighted: bool = False, variant: str = "paper", lam: float | None = None) -> Arm:
    return Arm("tiny", objective, weighted, variant, lam)


def test_equal_printed_figures_are_best_together() -> None:
    # 76.064 and 76.056 both print 76.06.
    table = results_table(
        [
            Result(arm("ce"), 0.75, 0.7, False),
            Result(arm("sr", lam=0.25), 0.76064, 0.71, True),
            Result(arm("sr", True, lam=0.25), 0.76056, 0.69, False),
        ]
    )
    base, plain, weighted = table.groups[0].rows
    assert [row.label_accuracy.best for row in (base, plain, weighted)] == [False, True, True]
    assert plain.label_accuracy.delta == weighted.label_accuracy.delta == Decimal("1.06")
    assert [row.label_accuracy.star for row in (base, plain, weighted)] == [False, True, False]
    assert weighted.fever_score is not None and weighted.fever_score.text == "69.00 (−1.00)"
    assert base.label_accuracy.text == "75.00" and base.objective == "CE (baseline)"
    assert plain.objective == "SR (λ=0.25)" and weighted.weighting == "yes"


def test_columns_without_content_are_left_out() -> None:
    plain = results_table([Result(arm("ce"), 0.5, None, False), Result(arm("sr", lam=1.0), 0.5, None, False)])
    assert plain.head == ("Objective function", "Weighting", "LA")
    released = results_table(
        [Result(arm("ce"), 0.5, 0.4, False), Result(arm("sr", variant="released", lam=1.0), 0.5, 0.4, False)]
    )
    assert released.head == ("Objective function", "Weighting", "Variant", "LA", "FS")
    assert released.labels_of(released.groups[0].rows[1]) == ("SR (λ=1)", "–", "released")


def test_a_lone_baseline_is_not_called_best() -> None:
    (row,) = results_table([Result(arm("ce"), 0.5, 0.4, False)]).groups[0].rows
    assert not row.label_accuracy.best and row.label_accuracy.delta is None
