"""The table against the paper's own: its figures come from the JSON, the truth from the LaTeX it was printed from."""

from __future__ import annotations

import re

from adjudge.evaluation.scoring import scores_from_matrix
from adjudge.experiments.plan import Arm
from adjudge.experiments.report.blocks import Cell, Entry, Row, Table
from adjudge.experiments.report.results_table import Result, results_table
from paper import Printed, latex_source, paper_results, paper_table, table_2


def rows_of(table: Table) -> list[Row]:
    return [row for row in table.rows if not isinstance(row, str)]


def as_printed(cell: Entry) -> str:
    assert isinstance(cell, Cell)
    text = cell.plain().replace("−", "-")  # the paper sets a hyphen
    return (rf"\textbf{{{text}}}" if cell.best else text) + ("*" if cell.star else "")


def test_the_papers_table_2_comes_out_exactly_as_printed() -> None:
    printed = table_2()
    assert len(printed) == 24
    ours, backbone = [], ""
    for row in paper_table().rows:
        if isinstance(row, str):
            backbone = row.removeprefix("Backbone: ")
        else:
            objective, weighting, *figures = row
            ours.append(Printed(backbone, objective, weighting, *map(as_printed, figures)))
    assert ours == printed


def test_the_papers_differences_are_those_of_the_printed_figures() -> None:
    """Differences of the exact accuracies print otherwise in four rows, so the paper subtracted rounded ones."""
    otherwise = set()
    for row, paper in zip(rows_of(paper_table()), paper_results(), strict=True):
        exact = scores_from_matrix(paper["matrix"]).label_accuracy
        arm = Arm(paper["backbone"], paper["objective"], paper["weighting"])
        assert isinstance(row[2], Cell)
        if arm.is_baseline:
            base = exact
        elif f"({100 * (exact - base):+.2f})" != row[2].note.replace("−", "-"):
            otherwise.add((arm.backbone, arm.name))
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
        ],
        claims=9,
    )
    assert rows_of(table) == [
        ("CE (baseline)", "–", Cell("75.00"), Cell("70.00")),
        (
            "SR (λ=0.25)",
            "–",
            Cell("76.06", "(+1.06)", best=True, star=True),
            Cell("71.00", "(+1.00)", best=True),
        ),
        ("SR (λ=0.25)", "yes", Cell("76.06", "(+1.06)", best=True), Cell("69.00", "(−1.00)")),
    ]


def test_columns_without_content_are_left_out() -> None:
    plain = results_table(
        [Result(arm("ce"), 0.5, None, False), Result(arm("sr", lam=1.0), 0.5, None, False)], 9
    )
    assert plain.head == ("Objective function", "Weighting", "LA")
    released = results_table(
        [Result(arm("ce"), 0.5, 0.4, False), Result(arm("sr", variant="released", lam=1.0), 0.5, 0.4, False)],
        9,
    )
    assert released.head == ("Objective function", "Weighting", "Variant", "LA", "FS")
    assert rows_of(released)[1][:3] == ("SR (λ=1)", "–", "released")


def test_a_lone_baseline_is_not_called_best() -> None:
    (row,) = rows_of(results_table([Result(arm("ce"), 0.5, 0.4, False)], 9))
    assert row[2] == Cell("50.00")
