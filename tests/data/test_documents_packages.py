"""Office files, books and mails that mean harm or are broken: refused in words, in bounded memory and time."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import office
from adjudge.data.documents import Problem, iter_documents, package

MAKERS: dict[str, Callable[[], bytes]] = {
    ".xlsx": office.workbook,
    ".docx": office.minutes,
    ".pptx": office.talk,
    ".epub": office.book,
}
MAIN = {
    ".xlsx": "xl/workbook.xml",
    ".docx": "word/document.xml",
    ".pptx": "ppt/presentation.xml",
    ".epub": "OEBPS/book.opf",
}
LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">'
    + b"".join(
        f'<!ENTITY lol{n} "{f"&lol{n - 1 if n > 1 else str()};" * 10}">'.encode() for n in range(1, 10)
    )
    + b"]><lolz>&lol9;</lolz>"
)


def read(path: Path) -> tuple[list[str], list[Problem]]:
    problems: list[Problem] = []
    documents = list(iter_documents(path, report=problems.append))
    return [s.text for document in documents for s in document.page.sentences], problems


def changed(content: bytes, changes: dict[str, bytes]) -> bytes:
    """A package with parts replaced or added."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in [*old.namelist(), *(name for name in changes if name not in old.namelist())]:
            new.writestr(name, changes[name] if name in changes else old.read(name))
    return stream.getvalue()


def refused(tmp_path: Path, name: str, content: bytes) -> str:
    """The one problem of a file of which nothing is read."""
    (tmp_path / name).write_bytes(content)
    sentences, problems = read(tmp_path)
    assert sentences == []
    assert [problem.skipped for problem in problems] == [True]
    return problems[0].message


@pytest.mark.parametrize("suffix", MAKERS)
def test_an_expansion_of_entities_is_refused(tmp_path: Path, suffix: str) -> None:
    content = changed(MAKERS[suffix](), {MAIN[suffix]: LAUGHS})
    assert "declares a document type" in refused(tmp_path, f"a{suffix}", content)


@pytest.mark.parametrize("suffix", MAKERS)
def test_a_file_that_was_cut_or_is_empty_is_refused(tmp_path: Path, suffix: str) -> None:
    content = MAKERS[suffix]()
    for number, part in enumerate([b"", content[:4], content[: len(content) // 2], content[:-30]]):
        (tmp_path / f"{number}{suffix}").write_bytes(part)
    sentences, problems = read(tmp_path)
    assert sentences == []
    assert len(problems) == 4
    assert all("is not a readable" in problem.message for problem in problems)


@pytest.mark.parametrize("suffix", MAKERS)
def test_damaged_parts_are_met_with_words(tmp_path: Path, suffix: str) -> None:
    content = MAKERS[suffix]()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if "slideLayout" not in name}
    for number, (name, part) in enumerate(parts.items()):
        for kind, damage in enumerate([part[: len(part) // 2], b"<a/>"]):
            (tmp_path / f"{number}-{kind}{suffix}").write_bytes(changed(content, {name: damage}))
    _, problems = read(tmp_path)  # nothing but problems is raised; some parts do not matter to the text
    assert problems


@pytest.mark.parametrize("suffix", MAKERS)
def test_encrypted_files_are_named_as_such(tmp_path: Path, suffix: str) -> None:
    ole = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504)
    assert "is encrypted" in refused(tmp_path, f"a{suffix}", ole)
    content = bytearray(MAKERS[suffix]())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + offset] |= 1  # the flag that says so
    assert "is encrypted" in refused(tmp_path, f"a{suffix}", bytes(content))


@pytest.mark.parametrize("suffix", MAKERS)
def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, suffix: str) -> None:
    bomb = changed(MAKERS[suffix](), {"media/image.bin": bytes(60 << 20)})
    assert len(bomb) < 1 << 20
    assert "times its size (a zip bomb?)" in refused(tmp_path, f"a{suffix}", bomb)


def test_sizes_and_numbers_of_parts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = office.minutes()
    monkeypatch.setattr(package, "MAX_ENTRIES", 5)
    assert "parts, expected at most 5" in refused(tmp_path, "a.docx", content)
    monkeypatch.setattr(package, "MAX_ENTRIES", 10_000)
    monkeypatch.setattr(package, "MAX_PART", 2000)
    assert "has more than 0 MiB" in refused(tmp_path, "a.docx", content)
    monkeypatch.setattr(package, "MAX_UNPACKED", 2000)
    assert "expected at most 0" in refused(tmp_path, "a.docx", content)


def test_a_part_that_claims_to_be_smaller_than_it_is_gives_no_more_than_it_claims(tmp_path: Path) -> None:
    content = bytearray(changed(office.minutes(), {"word/document.xml": b" " * 5_000_000 + b"<a/>"}))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        name = archive.getinfo("word/document.xml").filename.encode()
    entry = content.rindex(name) - 46  # in the directory at the end; the size stands at 24
    content[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    assert "is not a readable Word file" in refused(tmp_path, "a.docx", bytes(content))


SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">%s<sheetData>%s</sheetData></worksheet>'


def sheet(rows: bytes, before: bytes = b"") -> bytes:
    """The workbook with a first sheet of these rows."""
    return changed(office.workbook(), {"xl/worksheets/sheet1.xml": SHEET % (before, rows)})


def inline(place: str, text: str) -> bytes:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'.encode()


def test_a_sheet_that_lies_about_its_size_costs_nothing(tmp_path: Path) -> None:
    rows = b"<row r='2'>%s%s</row><row r='999999999999'>%s</row>" % (
        inline("A2", "Here"),
        inline("B2", "I am"),
        inline("A9", "Too far"),
    )
    (tmp_path / "a.xlsx").write_bytes(sheet(rows, b'<dimension ref="A1:XFD1048576"/>'))
    sentences, problems = read(tmp_path)
    assert sentences[0] == "Here: I am"
    assert "Too far" not in " ".join(sentences)
    assert problems == []


def test_columns_far_to_the_right_are_left_out_and_said(tmp_path: Path) -> None:
    rows = b"".join(b"<row r='%d'>%s</row>" % (n, inline(f"XFD{n}", "far")) for n in range(1, 2000))
    (tmp_path / "a.xlsx").write_bytes(sheet(rows))
    sentences, problems = read(tmp_path)
    assert "far" not in sentences
    assert [problem.message for problem in problems] == [
        "sheet Traffic 2024: columns after 1,024 are left out."
    ]


def test_a_cell_of_a_megabyte_is_cut_and_control_characters_go(tmp_path: Path) -> None:
    long = inline("A2", "word " * 200_000) + inline("B2", "&#9;tab&#10;line&#x85;end&#x7f;")
    (tmp_path / "a.xlsx").write_bytes(sheet(b"<row r='2'>%s</row>" % long))
    sentences, _ = read(tmp_path)
    joined = " ".join(sentences)
    assert "tab line end" in joined
    assert joined.count("word") < 7000 and all(len(s) < 2500 for s in sentences)


@pytest.mark.parametrize(
    "cell",
    [
        '<c r="A1" t="s"><v>99999</v></c>',
        '<c r="A1" t="s"><v>x</v></c>',
        '<c r="A1" t="n"><v>1e999</v></c>',
        '<c r="A1" t="d"><v>never</v></c>',
        '<c r="A1" s="9999"><v>1</v></c>',
        '<c r="A1" s="-1"><v>1</v></c>',
        '<c r="1A"><v>1</v></c>',
        '<c r="A1" t="b"><v>maybe</v></c>',
        f'<c r="A1"><v>{"9" * 5000}</v></c>',
        '<c r="ZZZZ1"><v>1</v></c>',
    ],
)
def test_cells_that_make_no_sense_raise_nothing_untyped(tmp_path: Path, cell: str) -> None:
    (tmp_path / "a.xlsx").write_bytes(sheet(f'<row r="1">{cell}</row>'.encode()))
    _, problems = read(tmp_path)
    assert all("is not a readable Excel file" in problem.message for problem in problems)


def test_tables_nested_without_end_raise_nothing_untyped(tmp_path: Path) -> None:
    tables = b"<w:tbl><w:tr><w:tc>" * 5000 + b"</w:tc></w:tr></w:tbl>" * 5000
    body = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>%s</w:body></w:document>'
    assert "is not a readable Word file" in refused(
        tmp_path, "a.docx", changed(office.minutes(), {"word/document.xml": body % tables})
    )
    (tmp_path / "a.docx").unlink()
    (tmp_path / "a.html").write_text(
        "<table><tr><td>x " * 50_000 + "Deep down." + "</table>" * 50_000 + "After."
    )
    sentences, _ = read(tmp_path)
    assert sentences[-1] == "After." or "After." in sentences[-1]


MAILS = {
    "nested": b"Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n"
    + b"".join(
        b"--%s\nContent-Type: multipart/mixed; boundary=%s\n\n" % (b"a" * n, b"a" * (n + 1))
        for n in range(1, 400)
    ),
    "charset": b"Subject: =?klingon?q?x?=\nContent-Type: text/plain; charset=klingon\n\nHere I am.",
    "name of a charset": "From: =?ut\u00e9-8?q?x?=\nSubject: x\n\nHere I am.".encode(),
    "base64": b"Subject: x\nContent-Transfer-Encoding: base64\n\n!!!! not base64 ====",
    "header": b"Subject: " + b"((((" * 100_000 + b"\nContent-Type: " + b"a" * 100_000 + b"\n\nHere I am.",
    "bytes": b"Subject: \xff\xfe\xfd\nFrom: \xe9\xe9\n\n\xff\xfe\xfd \x00 text",
    "folded": b"Subject: x\n" + b" y\n" * 50_000 + b"\nHere I am.",
    "parts": b"Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n" + b"--a\n\nz\n" * 5_000 + b"--a--",
    "surrogate": b"Subject: =?utf-16?b?2AA=?= \xed\xa0\x80\n\nHere I am.",
}


@pytest.mark.parametrize("name", MAILS)
def test_hostile_mails_raise_nothing_untyped(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.eml").write_bytes(MAILS[name])
    sentences, _ = read(tmp_path)
    assert any(sentence.startswith(("Subject: ", "From: ")) for sentence in sentences)
    assert all(len(sentence) <= 2000 for sentence in sentences)
    "".join(sentences).encode()


@pytest.mark.parametrize("content", [b"", b"no mail at all", b"\n\n\n"])
def test_what_has_no_headers_is_no_mail(tmp_path: Path, content: bytes) -> None:
    assert "is not a mail" in refused(tmp_path, "a.eml", content)


@pytest.mark.parametrize(
    ("module", "name"), [("docx", "a.docx"), ("openpyxl", "a.xlsx"), ("pptx", "a.pptx"), ("lxml", "a.epub")]
)
def test_a_missing_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    content = MAKERS[Path(name).suffix]()
    monkeypatch.setitem(sys.modules, module, None)
    assert 'pip install "adjudge[documents]"' in refused(tmp_path, name, content)


MEMORY = """
import resource, sys
from adjudge.data.documents import iter_documents
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
list(iter_documents(sys.argv[1]))
before = peak()
count = sum(len(document.page.sentences) for document in iter_documents(sys.argv[2]))
print(count, peak() - before)
"""


@pytest.mark.parametrize("suffix", [".xlsx", ".csv"])
def test_memory_does_not_grow_with_the_rows(tmp_path: Path, suffix: str) -> None:
    import xlsxwriter

    sizes = {"small": 500, "large": 5_000}
    for name, count in sizes.items():
        cells = [[f"Row {n}", n, f"{name} text of some length {n}"] for n in range(count)]
        path = tmp_path / f"{name}{suffix}"
        if suffix == ".csv":
            path.write_text("name,number,text\n" + "\n".join(",".join(map(str, row)) for row in cells))
            continue
        with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
            sheet = book.add_worksheet()
            for number, row in enumerate([["name", "number", "text"], *cells]):
                sheet.write_row(number, 0, row)
    command = [sys.executable, "-c", MEMORY, *(str(tmp_path / f"{name}{suffix}") for name in sizes)]
    count, grown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert int(count) == 5_000
    assert float(grown) < 10  # MB
