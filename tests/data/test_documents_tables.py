"""Tables: a row is a sentence that names its columns, and knows where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.data.documents import Problem, iter_documents, source_text
from adjudge.data.documents.cell_format import number_text
from adjudge.data.documents.delimited import MAX_LINE
from adjudge.data.documents.tables import ROW_TEXT, TableReader, TableRow
from adjudge.types import Sentence


def sentences_of(path: Path, problems: list[Problem] | None = None) -> list[Sentence]:
    report = None if problems is None else problems.append
    return [s for document in iter_documents(path, report=report) for s in document.page.sentences]


def rows(*rows: list[str], assume: bool = True) -> list[str]:
    table = TableReader(assume_header=assume)
    made = [s for number, cells in enumerate(rows, start=1) for s in table.add(TableRow(number, cells))]
    return [sentence.text for sentence in [*made, *table.close()]]


FIGURES = [["Quarter", "revenue", "costs"], ["Q3 2024", "4.2 million", "3.9 million"], ["Q4 2024", "5", ""]]


def test_the_first_column_names_the_row_and_the_header_the_others() -> None:
    assert rows(*FIGURES) == ["Q3 2024: revenue 4.2 million, costs 3.9 million", "Q4 2024: revenue 5"]


def test_titles_and_remarks_stand_alone_and_do_not_name_columns() -> None:
    expected = ["Figures of the year", *rows(*FIGURES), "Costs are estimates."]
    assert rows(["Figures of the year"], [], *FIGURES, ["Costs are estimates."]) == expected


def test_years_and_dates_can_name_columns_but_one_year_is_a_value() -> None:
    assert rows(["Region", "2022", "2023"], ["North", "12", "14"]) == ["North: 2022 12, 2023 14"]
    assert rows(["Founded", "1998"], ["Seat", "Oslo"]) == ["Founded: 1998", "Seat: Oslo"]


def test_names_with_values_of_any_kind_have_no_header() -> None:
    table = [["Mayor", "Anna Lind"], ["Population", "5,200"], ["River", "Tamsin"]]
    assert rows(*table) == ["Mayor: Anna Lind", "Population: 5,200", "River: Tamsin"]


def test_a_first_row_like_the_others_is_no_header() -> None:
    assert rows(["Ann", "Oslo"], ["Bo", "Rome"], ["Cy", "Oslo"]) == ["Ann: Oslo", "Bo: Rome", "Cy: Oslo"]
    assert rows(["a", "1"], ["b", "2"]) == ["a: 1", "b: 2"]
    assert rows(["Ann", "Oslo"], ["Bo", "Rome"], assume=False) == ["Ann: Oslo", "Bo: Rome"]


def test_a_row_that_is_named_by_a_number_says_what_it_counts() -> None:
    assert rows(["Year", "Visitors"], ["2023", "812"]) == ["Year 2023: Visitors 812"]


def test_after_an_empty_row_a_second_table_has_its_own_header() -> None:
    second = [["Ship", "Length"], ["Ada", "30 m"]]
    assert rows(*FIGURES, [], *second) == [*rows(*FIGURES), "Ada: Length 30 m"]
    assert rows(*FIGURES, [], ["Q1 2025", "6", "7"])[-1] == "Q1 2025: revenue 6, costs 7"


def test_ragged_rows_lose_no_cell() -> None:
    assert rows(["a", "b", "c"], ["x", "1"], ["y", "1", "2", "3"]) == ["x: b 1", "y: b 1, c 2, 3"]


def test_a_wide_row_becomes_several_sentences_that_each_name_it() -> None:
    table = TableReader(assume_header=True)
    header = ["Town", *(f"measure {n}" for n in range(60))]
    list(table.add(TableRow(1, header)))
    list(table.add(TableRow(2, ["Ellery", *(str(1000 + n) for n in range(60))])))
    made = list(table.close())
    assert len(made) > 2 and all(len(s.text) <= ROW_TEXT for s in made)
    assert all(s.text.startswith("Ellery: measure ") for s in made)
    assert [s.first for s in made][1:] == [s.last + 1 for s in made][:-1]
    assert (made[0].first, made[-1].last) == (0, 60)
    joined = ", ".join(s.text.removeprefix("Ellery: ") for s in made)
    assert joined == ", ".join(f"measure {n} {1000 + n}" for n in range(60))


def test_prose_in_a_cell_is_split_into_sentences() -> None:
    prose = " ".join(f"Fact {n} about the old harbour is well known to all." for n in range(12))
    made = rows(["Name", "Size", "Notes"], ["Mole", "5", prose])
    assert made[0] == "Mole: Size 5"
    assert made[1:] == [
        f"Mole: Notes Fact {n} about the old harbour is well known to all." for n in range(12)
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_in_any_encoding_and_with_any_delimiter(tmp_path: Path, encoding: str, delimiter: str) -> None:
    lines = [
        ["Town", "Mayor", "Note"],
        ["Köln", "Zoë", '"a, b; c|d\te"'],
        ["Łódź" if "utf" in encoding else "Bö", "X", ""],
    ]
    path = tmp_path / "towns.csv"
    path.write_bytes("\r\n".join(delimiter.join(cells) for cells in lines).encode(encoding))
    first = sentences_of(path)[0]
    assert first.text == "Köln: Mayor Zoë, Note a, b; c|d e"
    assert first.location == "row 2"
    assert source_text(path)[first.start : first.end] == delimiter.join(lines[1])


def test_a_csv_row_over_several_lines_keeps_its_offsets(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'sep=;\r\nname;note;size\r\nA;"one\r\ntwo";3\r\n\r\nB;"say ""hi""";4')
    first, second = sentences_of(path)
    assert (first.text, first.location) == ("A: note one two, size 3", "row 3")
    assert (second.text, second.location) == ('B: note say "hi", size 4', "row 5")
    text = source_text(path)
    assert text[first.start : first.end] == 'A;"one\r\ntwo";3'
    assert text[second.start : second.end] == 'B;"say ""hi""";4'


def test_a_cell_or_line_without_end_is_reported_and_the_other_rows_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    huge = "x" * (2 * MAX_LINE)
    path.write_text(f"name,size\nA,1\n{huge},2\nB,3\n{'y' * 500_000},4\nC,5\n")
    problems: list[Problem] = []
    kept = [(s.text, s.location) for s in sentences_of(path, problems)]
    assert kept == [("A: size 1", "row 2"), ("B: size 3", "row 4"), ("C: size 5", "row 6")]
    assert ["row 3 is longer than" in problems[0].message, "row 5 cannot be read" in problems[1].message] == [
        True
    ] * 2


def test_binary_data_named_csv_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"a,b\0\1\2\n")
    problems: list[Problem] = []
    assert sentences_of(tmp_path, problems) == []
    assert problems[0].message == "is binary data, expected text."


MARKDOWN = """# Ships

A paragraph before
Name | Length | *Owner*
--- | --: | ---
Ada \\| Bo | 30 m | [Tom](https://example.org)
| Cy | 12 m | `x` |
Not a row.

| no | header |
"""


def test_markdown_rows_name_columns_and_offsets_point_at_the_row(tmp_path: Path) -> None:
    path = tmp_path / "ships.md"
    path.write_text(MARKDOWN)
    made = sentences_of(path)
    assert [(s.text, s.location) for s in made] == [
        ("A paragraph before", None),
        ("Ada | Bo: Length 30 m, Owner Tom", "table 1, row 2"),
        ("Cy: Length 12 m, Owner x", "table 1, row 3"),
        ("Not a row.", None),
        ("no | header", None),
    ]
    assert [s.line for s in made] == [0, 1, 2, 3, 4]
    assert MARKDOWN[made[2].start : made[2].end] == "| Cy | 12 m | `x` |"


HTML = """<p>Before.</p>
<table><caption>Ships of Ellery.</caption>
<thead><tr><th>Name<th colspan=2>Size<th>Notes</thead>
<tr><td rowspan=2>Ada<td>30 m<td>6 m<td><p>Old</p><p>but fast</p>
<tr><td>31 m<td>7 m<td>rebuilt
<tr><th>Bo</th><td colspan="2">unknown</td><td>{long}</td></tr>
</table><table><tr><td>Layout <table><tr><td>Depth</td><td>3 m</td></tr></table> text</td></tr></table>After."""


def test_html_rows_follow_spans_and_long_cells_are_prose(tmp_path: Path) -> None:
    long = " ".join(f"<p>Paragraph {n} says that the ship is known in every harbour.</p>" for n in range(9))
    path = tmp_path / "a.html"
    path.write_text(HTML.replace("{long}", long))
    made = sentences_of(path)
    rows_made = [(s.text, s.location) for s in made if "Paragraph" not in s.text]
    assert rows_made == [
        ("Before.", None),
        ("Ships of Ellery.", None),
        ("Ada: Size 30 m, Size 6 m, Notes Old but fast", "table 1, row 2"),
        ("Ada: Size 31 m, Size 7 m, Notes rebuilt", "table 1, row 3"),
        ("Bo: Size unknown", "table 1, row 4"),
        ("Depth: 3 m", "table 3, row 1"),
        ("Layout text", "table 2, row 1"),
        ("After.", None),
    ]
    prose = [f"Paragraph {n} says that the ship is known in every harbour." for n in range(9)]
    assert [s.text for s in made if "Paragraph" in s.text] == prose
    extracted = source_text(path)
    assert all(extracted[s.start : s.end] == s.text for s in made)


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (4200000, "General", "4200000"),
        (0.1 + 0.2, "General", "0.3"),
        (4200000, "#,##0", "4,200,000"),
        (0.125, "0.0%", "12.5%"),
        (-1234.5, '"$"#,##0.00;[Red]-"$"#,##0.00', "-$1,234.50"),
        (8.4, "#,##0.00\\ [$€-407]", "8.40 €"),
        (4200000, '0.0,," million"', "4.2 million"),
        (2.5, "0.##", "2.5"),
        (3, "0.##", "3"),
        (12, '_-* #,##0.0_-;-* #,##0.0_-;_-* "-"_-', "12.0"),
        (5, "0.00E+00", "5"),
        (float("inf"), "0.0", ""),
    ],
)
def test_numbers_read_as_a_spreadsheet_shows_them(value: float, number_format: str, shown: str) -> None:
    assert number_text(value, number_format) == shown
