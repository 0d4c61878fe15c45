"""The paper's tables, as its LaTeX prints them and as its JSON gives them; tests skip where it is not at hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from adjudge.evaluation.scoring import scores_from_matrix
from adjudge.experiments.plan import Arm
from adjudge.experiments.report.blocks import Table
from adjudge.experiments.report.results_table import Result, results_table

PAPER = Path(__file__).resolve().parents[3] / "shared" / "paper"
LEGEND = {r"\ce": "CE", r"\ova": "MLL", r"\srn": "SRN", r"\sr": "SR"}


class Printed(NamedTuple):
    """A row of Table 2 as the paper prints it."""

    backbone: str
    objective: str
    weighting: str
    label_accuracy: str
    fever_score: str


def latex_source() -> str:
    sources = list(PAPER.glob("000_*.txt")) if PAPER.is_dir() else []
    if not sources:
        pytest.skip(f"the paper is not at {PAPER}")
    return sources[0].read_text("utf-8")


def table_of(source: str, label: str) -> str:
    """The body of the table with a label."""
    tables = re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", source, re.S)
    (found,) = (table for table in tables if rf"\label{{{label}}}" in table)
    return found


def table_2() -> list[Printed]:
    """Read Table 2 with \\sig{…} written out as the paper defines it: an asterisk behind."""
    rows, backbone = [], ""
    for line in table_of(latex_source(), "tab:res-ablation").splitlines():
        line = re.sub(r"\\\\(\[0\.5ex\])?\s*$", "", line.strip())
        if found := re.search(r"Backbone: ([\w ]+)\}", line):
            backbone = found[1]
        elif line.startswith("{"):
            objective, weighting, la, fs = (re.sub(r"\s+", " ", cell).strip() for cell in line.split("&"))
            objective = re.sub(r"\{(\\\w+)\}", lambda found: LEGEND[found[1]], objective)
            objective = objective.replace(r"$\lambda$", "λ")
            la = re.sub(r"^\\sig\{(.*)\}$", r"\1*", la)
            rows.append(Printed(backbone, objective, weighting.replace("--", "–"), la, fs))
    return rows


def paper_results() -> list[dict[str, Any]]:
    if not (PAPER / "tables.json").is_file():
        pytest.skip(f"the paper's tables are not at {PAPER}")
    results: list[dict[str, Any]] = json.loads((PAPER / "tables.json").read_text())["dev_results"]
    return results


def paper_table() -> Table:
    """LA from the paper's confusion matrices; FS, λ and significance as its JSON gives them."""
    return results_table(
        [
            Result(
                Arm(row["backbone"], row["objective"], row["weighting"], lam=row["lambda"]),
                scores_from_matrix(row["matrix"]).label_accuracy,
                row["FS"] / 100,
                row["significant_vs_ce"],
            )
            for row in paper_results()
        ],
        claims=19998,
    )
