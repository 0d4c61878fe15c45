"""Office files, books and mails: questions that a cell answers, and where that cell stands."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pytest

import office
from adjudge.data.documents import Problem, iter_documents, source_text
from adjudge.data.documents.kinds import SUFFIXES, TYPES, load_reader
from adjudge.types import Page
from command import adjudge


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return office.write_folder(tmp_path_factory.mktemp("documents") / "ellery")


def pages_of(path: Path, problems: list[Problem] | None = None) -> list[Page]:
    report = None if problems is None else problems.append
    return [document.page for document in iter_documents(path, report=report)]


ANSWERS = [
    # question, page, location, sentence
    (
        "How much cargo in tonnes came in Q2 2024?",
        "harbour_figures.xlsx#sheet=1",
        "'Traffic 2024'!A5:E5",
        "Q2 2024: Ships 240, Cargo in tonnes 51,950, Revenue 4.0 million €, Share of transit 29.5%",
    ),
    (
        "How many ships were there in the half year?",
        "harbour_figures.xlsx#sheet=1",
        "'Traffic 2024'!A6:B6",
        "Half year: Ships 452",
    ),
    (
        "When was crane 1 inspected?",
        "harbour_figures.xlsx#sheet=2",
        "Inspections!A2:D2",
        "Crane 1: Inspected 2024-03-14, Passed FALSE, Inspector Ida Holm",
    ),
    (
        "What is the child fare from Ellery to Port Anwen?",
        "ferry_fares.csv",
        "row 3",
        "Ellery – Port Anwen: Adult fare €12.60, Child fare €6.30, Bicycle €3.50",
    ),
    (
        "When is high water at Skerry Sound?",
        "tides.tsv",
        "row 3",
        "Skerry Sound: High water 06:31, Height in metres 5.2",
    ),
    (
        "How many voted against the motion to widen the mole?",
        "council_minutes.docx",
        "table 1, row 2",
        "Widen the mole: For 9, Against 4",
    ),
    ("Who was the chair of the council?", "council_minutes.docx", "table 2, row 1", "Chair: Otto Brand"),
    (
        "What fuel did the lamp have in 1902–1934?",
        "lighthouse_talk.pptx#slide=2",
        "slide 2, table 1, row 3",
        "1902–1934: Fuel gas, Range 15 miles",
    ),
    (
        "Where is the gas lamp today?",
        "lighthouse_talk.pptx#slide=2",
        "slide 2, notes",
        "The gas lamp is in the museum today.",
    ),
    (
        "How many minutes does the train take from Port Anwen?",
        "guide.epub#chapter=1",
        "table 1, row 2",
        "Port Anwen: Minutes 48",
    ),
    (
        "When does the town library close in summer?",
        "opening_hours.html",
        "table 1, row 4",
        "Town library: Summer opens 8:15, Summer closes 20:00, Winter opens 10:30",
    ),
    (
        "How long may the longest boat at the fish dock be?",
        "berths.md",
        "table 1, row 3",
        "Fish dock: Longest boat 14 m, Depth 3.1 m, Keeper Tom Reyes",
    ),
    (
        "Who wrote the storm warning: Zoë Marsh?",
        "storm_warning.eml",
        "header From",
        "From: Zoë Marsh <zoe.marsh@ellery.example>",
    ),
]


@pytest.mark.parametrize(("page", "location", "text"), [answer[1:] for answer in ANSWERS])
def test_the_row_that_answers_is_a_sentence_and_knows_where_it_stands(
    folder: Path, page: str, location: str, text: str
) -> None:
    path = folder / page.split("#")[0]
    [sentence] = [s for p in pages_of(path) if p.id == page for s in p.sentences if s.text == text]
    assert sentence.location == location


def test_offsets_count_in_the_text_of_the_source(folder: Path) -> None:
    written_otherwise = {".csv", ".tsv", ".md"}  # rows there are slices of the file
    for page in pages_of(folder):
        source = Path(str(page.source))
        text = source_text(source, page.id)
        if source.suffix not in written_otherwise:
            assert [text[s.start : s.end] for s in page.sentences] == [s.text for s in page.sentences]
        assert [s.line for s in page.sentences] == list(range(len(page.sentences)))


def test_index_and_search_show_sheet_and_cells(folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    result = adjudge("index", str(folder), "--out", str(index))
    assert "attachments not read (1): forecast.pdf" in result.stderr
    first = 0
    for question, _, location, text in ANSWERS:
        out = adjudge("search", question, "--corpus", str(index), "--k", 3).stdout
        shown = " ".join(out.split())
        assert text in shown and location in shown, question
        first += shown.index(text) < 200
    assert first >= 10  # of 13


def test_every_type_is_one_line_of_the_table_and_one_file() -> None:
    assert len({kind.name for kind in TYPES}) == len({kind.module for kind in TYPES}) == len(TYPES)
    assert len(SUFFIXES) == sum(len(kind.suffixes) for kind in TYPES)
    for kind in TYPES:
        reader = load_reader(kind)
        assert callable(reader.read_pages) and callable(reader.read_source)


def docx_with(change: object) -> bytes:
    """A Word file of one paragraph, its main part changed."""
    import docx

    document = docx.Document()
    document.add_paragraph("Here I am.")
    stream, changed = io.BytesIO(), io.BytesIO()
    document.save(stream)
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content) if name == "word/document.xml" else content)  # type: ignore[operator]
    return changed.getvalue()


def test_tracked_changes_text_boxes_and_content_controls_of_word(tmp_path: Path) -> None:
    added = (
        b"<w:p><w:ins><w:r><w:t>Added text stays.</w:t></w:r></w:ins>"
        b"<w:del><w:r><w:delText>Deleted text goes.</w:delText></w:r></w:del></w:p>"
        b"<w:sdt><w:sdtContent><w:p><w:r><w:t>A field</w:t><w:tab/><w:t>is read.</w:t></w:r></w:p>"
        b"</w:sdtContent></w:sdt><w:p><w:r><w:t>Outside.</w:t>"
        b"<w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></w:r></w:p>"
        b"<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Outer</w:t></w:r></w:p><w:tbl><w:tr>"
        b"<w:tc><w:p><w:r><w:t>Depth</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>3 m</w:t></w:r></w:p></w:tc>"
        b"</w:tr></w:tbl></w:tc></w:tr></w:tbl></w:body>"
    )
    (tmp_path / "a.docx").write_bytes(docx_with(lambda content: content.replace(b"</w:body>", added)))
    [page] = pages_of(tmp_path)
    assert [(s.text, s.location) for s in page.sentences] == [
        ("Here I am.", None),
        ("Added text stays.", None),
        ("A field is read.", None),
        ("Outside.", None),
        ("In a box.", None),
        ("Outer", "table 1, row 1"),
        ("Depth: 3 m", "table 2, row 1"),
    ]


def test_formulas_without_results_are_counted(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for cells in (["Town", "Size", "Twice"], ["Ellery", 4, "=B2*2"], ["Anwen", 5, "=B3*2"]):
        book.active.append(cells)
    book.save(tmp_path / "a.xlsx")
    problems: list[Problem] = []
    [page] = pages_of(tmp_path, problems)
    assert [(s.text, s.location) for s in page.sentences] == [
        ("Ellery: Size 4", "Sheet!A2:B2"),
        ("Anwen: Size 5", "Sheet!A3:B3"),
    ]
    assert [problem.message.split(". ")[0] for problem in problems] == [
        "2 formulas without a stored result are left out"
    ]


def test_a_mail_without_plain_text_is_read_from_its_html(tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["Subject"] = "Tides"
    mail.set_content("<p>High water is at six.</p><p>Low water is at noon.</p>", subtype="html")
    (tmp_path / "a.eml").write_bytes(bytes(mail))
    [page] = pages_of(tmp_path)
    assert page.title == "Tides"
    texts = [s.text for s in page.sentences]
    assert texts == ["Subject: Tides", "High water is at six.", "Low water is at noon."]


def test_a_book_whose_chapter_is_missing_or_locked_says_so(tmp_path: Path) -> None:
    locked = (
        '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData><e:CipherData>'
        '<e:CipherReference URI="OEBPS/text/one.xhtml"/></e:CipherData></e:EncryptedData></encryption>'
    )
    content = office.book(
        **{"META-INF/encryption.xml": locked, "OEBPS/book.opf": office.BOOK.replace("two%20b", "no")}
    )
    (tmp_path / "a.epub").write_bytes(content)
    problems: list[Problem] = []
    assert pages_of(tmp_path, problems) == []
    assert [problem.message for problem in problems] == [
        "chapter 1 (OEBPS/text/no.xhtml) is missing.",
        "chapter 2 (OEBPS/text/one.xhtml) is encrypted.",
    ]


def test_files_of_other_types_are_counted_and_the_first_named(tmp_path: Path) -> None:
    for name in ("a.jpg", "b.JPG", "c.png", "d", "e.zip", "f.doc", ".hidden.jpg", "~$open.docx", "z.txt"):
        (tmp_path / name).write_text("Here I am.")
    problems: list[Problem] = []
    assert len(pages_of(tmp_path, problems)) == 1
    assert [(problem.skipped, problem.message) for problem in problems] == [
        (
            False,
            "6 files of other types not read (2 .jpg, 1 .png, 1 no ending, 1 .zip, 1 .doc): "
            "a.jpg, b.JPG, c.png, d, e.zip, …",
        )
    ]
    assert len(list(iter_documents(tmp_path, strict=True))) == 1
