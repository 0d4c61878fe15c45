"""Corpora that mean harm, or are merely broken: a clear report, bounded memory, nothing read that should not be."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from adjudge.data import documents
from adjudge.data.documents import (
    SUFFIXES,
    Problem,
    html,
    html_tables,
    iter_documents,
    read_pages,
    source_text,
    walk,
)
from adjudge.errors import DataError
from limits import files_left
from office import BOOK, book

MEMORY = """
import resource, sys
from adjudge.data.documents import iter_documents
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
list(iter_documents([sys.argv[1]]))
before = peak()
pages = sum(1 for _ in iter_documents([sys.argv[2]]))
print(pages, peak() - before)
"""


def read(path: Path) -> tuple[list[str], list[Problem]]:
    problems: list[Problem] = []
    documents = list(iter_documents([path], report=problems.append))
    return [s.text for document in documents for s in document.page.sentences], problems


@pytest.mark.parametrize("suffix", ["txt", "md", "html"])
@pytest.mark.parametrize("content", [b"x", b"word "])
def test_memory_does_not_grow_with_a_single_line(tmp_path: Path, suffix: str, content: bytes) -> None:
    small, large = tmp_path / f"small.{suffix}", tmp_path / f"large.{suffix}"
    small.write_bytes(content * (200_000 // len(content)))
    large.write_bytes(content * (20_000_000 // len(content)))
    command = [sys.executable, "-c", MEMORY, str(small), str(large)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pages, grown = out.split()
    assert int(pages) > 5
    assert float(grown) < 12  # MB, where the file has 20


HTML_MEMORY = """
import resource, sys
from pathlib import Path
from adjudge.data.documents import walk
from adjudge.data.documents.html import html_blocks
from adjudge.data.documents.text import text_blocks
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
sizes = []
for path in map(Path, sys.argv[1:]):
    [file] = walk(path, print)
    blocks = sum(1 for _ in html_blocks(text_blocks(file, print)))
    sizes.append(peak())
print(blocks, sizes[-1] - sizes[0])
"""


def test_a_parser_does_not_keep_all_that_it_was_fed(tmp_path: Path) -> None:
    (tmp_path / "small.html").write_bytes(b"<p>" + b"x" * 8_000_000)
    (tmp_path / "large.html").write_bytes(b"<p>" + b"x" * 60_000_000)
    command = [sys.executable, "-c", HTML_MEMORY, tmp_path / "small.html", tmp_path / "large.html"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    blocks, grown = out.split()
    assert int(blocks) > 900
    assert float(grown) < 8  # MB, where the file has 52 more


def test_html_goes_on_where_a_new_parser_took_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "SEGMENT", 1000)
    body = "".join(
        f"<p>Paragraph <b>number</b> {n} &amp; more.</p><!-- <p>Not {n}. --><script>if (1<2) no()</script>"
        for n in range(6000)
    )
    (tmp_path / "a.html").write_text(f"<title>All</title>{body}")
    sentences, problems = read(tmp_path)
    joined = " ".join(sentences)
    assert problems == [] and "Not" not in joined and "no()" not in joined
    assert joined == " ".join(f"Paragraph number {n} & more." for n in range(6000))


def test_a_comment_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "SEGMENT", 1000)
    monkeypatch.setattr(html, "LONGEST", 1 << 20)
    (tmp_path / "a.html").write_text("<p>Before it.<!--" + "x " * 1_000_000)
    sentences, problems = read(tmp_path)
    assert sentences == []
    assert [problem.message for problem in problems] == ["has a comment, script or tag of more than 1 MiB."]


def test_a_record_of_200_megabytes_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with open(path, "wb") as stream:
        stream.write(b'{"text": "One."}\n')
        stream.seek(200 << 20, os.SEEK_CUR)  # a hole: one line of zeros that takes no space on disk
        stream.write(b'\n{"text": "Two."}\n')
    sentences, problems = read(tmp_path)
    assert sentences == ["One.", "Two."]
    assert [(problem.line, problem.message) for problem in problems] == [(2, "longer than 32 MiB.")]


def test_a_zip_that_is_encrypted_is_reported(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "wiki-pages.zip", "w") as archive:
        archive.writestr("wiki-001.jsonl", "{}")
    content = bytearray((tmp_path / "wiki-pages.zip").read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + offset] |= 1  # the flag that says so
    (tmp_path / "wiki-pages.zip").write_bytes(content)
    sentences, problems = read(tmp_path)
    assert sentences == []
    assert ["is encrypted" in problem.message for problem in problems] == [True]


def test_noise_under_any_known_name_is_refused_in_words(tmp_path: Path) -> None:
    noise = random.Random(3).randbytes(50_000)
    for suffix in SUFFIXES:
        (tmp_path / f"wiki{suffix}").write_bytes(noise)
    sentences, problems = read(tmp_path)
    assert sentences == []
    assert {Path(problem.source).name for problem in problems} == {f"wiki{suffix}" for suffix in SUFFIXES}
    assert all(problem.skipped for problem in problems)


def test_links_out_of_the_folder_are_reported_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("The secret is out.")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "more.txt").write_text("More secrets.")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "open.txt").write_text("This is open.")
    (docs / "file.txt").symlink_to(tmp_path / "secret.txt")
    (docs / "folder").symlink_to(tmp_path / "private")
    (docs / "again.txt").symlink_to(docs / "open.txt")
    (docs / "loop").symlink_to(docs)
    (docs / "self.txt").symlink_to(docs / "self.txt")
    sentences, problems = read(docs)
    assert sentences == ["This is open."]
    assert sorted(Path(problem.source).name for problem in problems) == ["file.txt", "folder"]
    assert all("link out of the folder" in problem.message for problem in problems)


def test_a_file_replaced_by_a_link_after_the_walk_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("The secret is out.")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("Harmless.")
    [file] = walk(docs, lambda problem: None)
    (docs / "a.txt").unlink()
    (docs / "a.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(Exception, match="cannot be read"):
        list(read_pages(file, lambda problem: None))


def test_a_file_that_vanishes_after_the_walk_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One.")
    (tmp_path / "b.txt").write_text("Two.")
    problems: list[Problem] = []
    found = []
    for document in iter_documents([tmp_path], report=problems.append):
        found.append(document.page.id)
        (tmp_path / "b.txt").unlink(missing_ok=True)
    assert len(found) == 1
    assert ["No such file" in problem.message for problem in problems] == [True]


@pytest.mark.parametrize("step", ["listing", "reading"])
def test_no_document_is_left_out_because_too_many_files_are_open(tmp_path: Path, step: str) -> None:
    (tmp_path / "a.txt").write_text("Apples are red.")
    problems: list[Problem] = []
    files = walk(tmp_path, problems.append)
    if step == "reading":
        file = next(files)
    with files_left(0), pytest.raises(OSError, match="Too many open files"):
        list(files if step == "listing" else read_pages(file, problems.append))
    assert problems == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    sentences, problems = read(tmp_path)
    assert sentences == []
    assert [problem.message for problem in problems] == ["is not an ordinary file."]


def test_folders_nested_deeper_than_paths_can_name_are_reported(tmp_path: Path) -> None:
    (tmp_path / "top.txt").write_text("On top.")
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(60):  # 60 · 100 characters is more than the 4,096 of a path
            os.mkdir("d" * 100, dir_fd=here)
            below = os.open("d" * 100, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
    finally:
        os.close(here)
    sentences, problems = read(tmp_path)
    assert sentences == ["On top."]
    assert len(problems) == 1
    assert len(str(problems[0])) < 500


def test_a_name_that_is_not_utf8_is_made_printable(tmp_path: Path) -> None:
    try:
        with open(os.fsencode(tmp_path) + b"/caf\xe9.txt", "wb") as stream:
            stream.write(b"Coffee is served.")
    except OSError:
        pytest.skip("the file system takes only UTF-8 names")
    [document] = iter_documents([tmp_path])
    assert document.page.id.endswith("/caf\\xe9.txt")
    document.page.id.encode(), str(document.page.source).encode()
    assert source_text(document.file.path) == "Coffee is served."


def test_an_encrypted_pdf_is_reported(tmp_path: Path) -> None:
    from pypdf import PdfWriter

    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret", algorithm="RC4-128")
    with open(tmp_path / "locked.pdf", "wb") as stream:
        writer.write(stream)
    sentences, problems = read(tmp_path)
    assert sentences == []
    assert [problem.message for problem in problems] == ["is encrypted. Save a copy without a password."]


@pytest.mark.parametrize(
    "content", ["<div>", "<!--", "<![CDATA[", "<a b=", "</", "<script>", "<b><i><p>", '<a b="', "<table><td>"]
)
def test_html_that_never_ends_takes_no_time(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.html").write_text("<p>Before it.</p>" + content * 100_000)
    sentences, _ = read(tmp_path)
    assert sentences[0] == "Before it."


@pytest.mark.parametrize("line", ["a", "|", "!", "-", ">", "`", "#", "1.", "[a](", "<"])
def test_reading_lines_without_end_costs_as_much_for_each(tmp_path: Path, line: str) -> None:
    """Counted in Python's own calls, which do not depend on the machine: twice the text, about twice the work."""

    def calls(lines: int) -> int:
        (tmp_path / "a.md").write_text(f"{line}\n" * lines)
        count = 0

        def count_call(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += 1

        sys.setprofile(count_call)
        try:
            read(tmp_path)
        finally:
            sys.setprofile(None)
        return count

    calls(10)  # what is imported on first use
    assert calls(4_000) < 2.5 * calls(2_000)


def test_hidden_files_are_no_part_of_a_corpus(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "a.txt").write_text("Hidden.")
    (tmp_path / ".b.txt").write_text("Hidden too.")
    assert read(tmp_path) == ([], [])


def test_a_missing_extra_is_reported_for_its_files_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    monkeypatch.setitem(sys.modules, "lxml", None)
    for name in ("a.pdf", "b.html", "c.txt"):
        (tmp_path / name).write_text("Here I am.")
    sentences, problems = read(tmp_path)
    assert sentences == ["Here I am."]
    assert ['pip install "adjudge[documents]"' in problem.message for problem in problems] == [True, True]


def test_a_chapter_that_is_named_many_times_is_not_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "FREE_TEXT", 1 << 20)
    spine = '<itemref idref="one"/>' * 5000  # a chapter of 270 KB, 5,000 times: 1.3 GB
    contents = f"{BOOK.split('<spine>')[0]}<spine>{spine}</spine></package>"
    chapter = {"OEBPS/text/one.xhtml": f"<p>{'The tower is tall and old. ' * 10_000}</p>"}
    path = tmp_path / "bomb.epub"
    path.write_bytes(replace_part(book(**chapter), "OEBPS/book.opf", contents))
    assert path.stat().st_size < 10_000
    sentences, problems = read(path)
    assert [problem.message for problem in problems if problem.skipped] == [
        "gives more than 100 times its size in text (a bomb?)."
    ]
    assert 1000 < len(sentences) and sum(map(len, sentences)) <= (1 << 20) + 100 * path.stat().st_size


def test_cells_that_span_rows_share_little_text_with_them(tmp_path: Path) -> None:
    # 500 cells of 300 characters over 1000 rows: 150 MB, if every row had all of them.
    cells = "".join(f"<td rowspan=1000>{'tall ' * 60}</td>" for _ in range(500))
    path = tmp_path / "spans.html"
    path.write_text(f"<table><tr>{cells}</tr>" + "<tr><td>x</td></tr>" * 900 + "</table>")
    sentences, _ = read(path)
    assert sum(map(len, sentences)) < 900 * 2 * html_tables.MAX_SHARED + path.stat().st_size
    path.write_text(
        "<table><tr><th>Town</th><th>Year</th></tr><tr><td rowspan=2>Ellery</td><td>1931</td></tr>"
        "<tr><td>1932</td></tr></table>"
    )
    assert read(path)[0] == ["Ellery: Year 1931", "Ellery: Year 1932"]


def replace_part(content: bytes, name: str, text: str) -> bytes:
    """A package with another content of one part."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for entry in old.infolist():
            new.writestr(entry.filename, text if entry.filename == name else old.read(entry.filename))
    return stream.getvalue()


def test_a_text_that_cannot_be_read_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(b"\0\1\2")
    with pytest.raises(DataError, match=r"page\.html: is binary data, expected text"):
        source_text(tmp_path / "page.html")
