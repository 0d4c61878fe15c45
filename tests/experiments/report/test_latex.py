from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from adjudge.experiments.report.blocks import Report, Section, Table
from adjudge.experiments.report.latex import escape, to_latex
from paper import paper_table, table_2

DOCUMENT = (
    "\\documentclass[twocolumn]{article}\n\\usepackage{booktabs}\n\\begin{document}\n%s\n\\end{document}\n"
)


@pytest.fixture(scope="module")
def tex(report: Report) -> str:
    return to_latex(report)


def floats(source: str) -> list[str]:
    return re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", source, re.S)


def cells(source: str) -> list[list[str]]:
    """The rows of a tabular, spaces apart."""
    rows = re.findall(r"^ *(.*?) *\\\\(?:\[0\.5ex\])?$", source, re.M)
    return [[cell.strip() for cell in re.split(r"(?<!\\)&", row)] for row in rows]


def test_special_characters_are_printed_not_obeyed() -> None:
    assert escape("50% of a_b & {c} $d$ #e ^f ~g \\h <i>") == (
        r"50\% of a\_b \& \{c\} \$d\$ \#e \textasciicircum{}f \textasciitilde{}g \textbackslash{}h "
        r"\textless{}i\textgreater{}"
    )
    assert escape("one\ntwo") == "one two"


def test_control_characters_are_named_by_their_codes() -> None:
    assert escape("a\x1b[2Jb\x07\u202e") == "a[U+001B][2Jb[U+0007][U+202E]"


def test_the_results_are_those_of_the_table(tex: str) -> None:
    assert cells(floats(tex)[0])[2:] == [
        ["CE (baseline)", "--", "41.67", "41.67"],
        [r"SR ($\lambda$=0.25)", "--", r"\textbf{100.00 (+58.33)}*", r"\textbf{100.00 (+58.33)}"],
        [r"SR ($\lambda$=0.5)", "yes", "33.33 ($-$8.34)", "33.33 ($-$8.34)"],
    ]
    assert r"$\beta$ of the class weights is 0.999999" in floats(tex)[0]


def test_every_row_has_the_cells_its_tabular_promises(tex: str) -> None:
    tabulars = re.findall(r"\\begin\{tabular\}\{([^\n]+)\}\n(.*?)\\end\{tabular\}", tex, re.S)
    # results, seeds, differences in two halves, classes, training, calibration, three matrices, λ, changes in two
    # floats, protocol
    assert len(tabulars) == 14
    for columns, body in tabulars:
        for row in cells(body):
            spanned = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d)\}", " ".join(row)))
            assert len(row) + spanned == len(re.sub(r"p\{.*?\}", "p", columns).replace(" ", "")), row


def test_a_matrix_is_as_the_papers(tex: str) -> None:
    matrix = next(block for block in tex.split(r"\begin{minipage}") if "(a) CE (FS 41.67, LA 41.67)" in block)
    assert cells(matrix)[:6] == [
        ["", "", r"\multicolumn{3}{c}{Prediction}"],
        ["", "", "S", "R", "NEI"],
        ["", "S", "2", "2", "0"],
        ["Gold", "R", "2", "2", "0"],
        ["", "NEI", "3", "0", "1"],
        ["Total", "", "7", "4", "1"],
    ]


def test_the_effect_of_lambda_is_as_the_papers_table_5(tex: str) -> None:
    (table,) = (item for item in floats(tex) if "tab:sr-weighting" in item)
    assert cells(table)[1:] == [
        [r"SR ($\lambda$=0.03125)", r"yes ($\beta$=0.999)", "61.00", "2"],
        [
            r"\textbf{SR ($\lambda$=0.25)}",
            r"\textbf{yes ($\beta$=0.9999)}",
            r"\textbf{64.00}",
            r"\textbf{1}",
        ],
        [r"SR ($\lambda$=1)", r"yes ($\beta$=0.999)", "50.00", "1"],
    ]


def test_a_title_stays_a_heading(tex: str) -> None:
    (heading,) = re.findall(r"\\section\*\{(.*)\}", tex)
    assert heading.startswith(r"Title \textbackslash{}end\{document\} \textless{}script")


def test_no_row_begins_with_what_a_line_break_reads_as_its_argument() -> None:
    claims = ["[Sic] is a film.", "Łukasz is a singer.", "* a bullet", "A film."]
    table = Table(
        "", ("Claim", "Gold"), tuple((claim, "S") for claim in claims), "Claims", words=2, long=(0,)
    )
    source = to_latex(Report("", "", (), (), (Section("Claims", (table,)),)))
    # "\\\\" and "\\midrule" skip white space on their way to "[" or "*".
    assert not re.search(r"(\\\\|\\midrule)\s*[\[*](?!1ex)", source)
    assert [row[0] for row in cells(source)][1:] == [
        "{}[Sic] is a film.",
        "{}[U+0141]ukasz is a singer.",
        "{}* a bullet",
        "A film.",
    ]


def test_environments_and_braces_are_closed(tex: str) -> None:
    body = re.sub(r"(?m)^%.*$|\\[{}]", "", tex)
    assert body.count("{") == body.count("}")
    opened = re.findall(r"\\begin\{(\w+\*?)\}", body)
    assert sorted(opened) == sorted(re.findall(r"\\end\{(\w+\*?)\}", body))


def test_it_compiles(tex: str, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    (tmp_path / "report.tex").write_text(DOCUMENT % tex, "utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]


def test_the_papers_table_2_is_set_as_the_paper_sets_it() -> None:
    report = Report("", "", (), (), (Section("Results", (paper_table(),)),))
    rows = [row for row in cells(to_latex(report)) if len(row) == 4][1:]
    # The paper writes -0.10 with a hyphen, ours has a minus.
    ours = [[cell.replace("$-$", "-") for cell in row] for row in rows]
    assert ours == [
        [
            row.objective.replace("λ", r"$\lambda$"),
            row.weighting.replace("–", "--"),
            row.label_accuracy,
            row.fever_score,
        ]
        for row in table_2()
    ]
