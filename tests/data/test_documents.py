"""Documents: sentences with their place in the source, one test for each type."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

import office
from adjudge.data.documents import Problem, iter_documents, source_text
from adjudge.data.documents.markdown import strip_marks
from adjudge.data.documents.sentences import BLOCK, MAX_SENTENCE, PART_SENTENCES, split, split_blocks
from adjudge.errors import DataError
from adjudge.types import Page


def pages_of(path: Path, problems: list[Problem] | None = None) -> list[Page]:
    report = None if problems is None else problems.append
    return [document.page for document in iter_documents([path], report=report)]


def texts(page: Page) -> list[str]:
    return [sentence.text for sentence in page.sentences]


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_text_file_gives_numbered_sentences_that_are_slices_of_it(tmp_path: Path) -> None:
    content = "Dr. Smith was born in 1950.\r\nHe lives in Köln, e.g. by the river.\n\nA new paragraph!"
    path = write(tmp_path / "smith_file.txt", content)
    [page] = pages_of(path)
    assert (page.id, page.title, page.source) == ("smith_file.txt", "smith file", str(path))
    expected = ["Dr. Smith was born in 1950.", "He lives in Köln, e.g. by the river.", "A new paragraph!"]
    assert texts(page) == expected
    assert [sentence.line for sentence in page.sentences] == [0, 1, 2]
    assert [content[sentence.start : sentence.end] for sentence in page.sentences] == expected
    assert source_text(path) == content


def test_pages_are_named_by_their_path_in_the_folder(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "b.txt", "Bee.")
    write(tmp_path / "docs" / "sub" / "a.txt", "Ay.")
    assert [page.id for page in pages_of(tmp_path / "docs")] == ["docs/b.txt", "docs/sub/a.txt"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_tells_the_encoding_and_is_no_text(tmp_path: Path, encoding: str) -> None:
    problems: list[Problem] = []
    [page] = pages_of(write(tmp_path / "a.txt", "Zoë sings.".encode(encoding)), problems)
    assert [(s.text, s.start, s.end) for s in page.sentences] == [("Zoë sings.", 0, 10)]
    assert problems == []


def test_text_that_is_not_utf8_is_read_as_windows_1252_and_reported(tmp_path: Path) -> None:
    problems: list[Problem] = []
    [page] = pages_of(write(tmp_path / "a.txt", "Zoë sings.".encode("cp1252")), problems)
    assert texts(page) == ["Zoë sings."]
    assert [(problem.skipped, "Windows-1252" in problem.message) for problem in problems] == [(False, True)]
    assert len(list(iter_documents([tmp_path], strict=True))) == 1


def test_splitting_in_blocks_is_splitting_at_once() -> None:
    text = " ".join(f"Sentence number {n} says that {n} is a number, i.e. one of many." for n in range(2000))
    assert len(text) > 3 * BLOCK
    whole = list(split(text))
    assert len(whole) == 2000
    for size in (1000, BLOCK + 17, len(text)):
        blocks = [text[start : start + size] for start in range(0, len(text), size)]
        assert list(split_blocks(blocks)) == whole


def test_a_sentence_without_end_is_cut_at_white_space_and_nothing_is_lost() -> None:
    text = "word " * 3000 + "x" * 5000
    spans = list(split_blocks([text]))
    assert max(len(span.text) for span in spans) <= MAX_SENTENCE
    assert all(text[start : start + len(piece)] == piece for piece, start in spans)
    assert "".join("".join(span.text for span in spans).split()) == "".join(text.split())


def test_a_long_document_becomes_parts_whose_lines_number_on(tmp_path: Path) -> None:
    count = 2 * PART_SENTENCES + 1
    pages = pages_of(write(tmp_path / "long.txt", "\n\n".join(f"Fact {n} holds." for n in range(count))))
    assert [page.id for page in pages] == ["long.txt", "long.txt#2", "long.txt#3"]
    assert [s.line for page in pages for s in page.sentences] == list(range(count))
    assert texts(pages[2]) == [f"Fact {count - 1} holds."]


MARKDOWN = """---
tags: [no prose. here]
---
# The **Great** River

The [Elbe](https://example.org/a.b) is a river in *Central* Europe. It rises
in the `Krkonoše` Mountains.

> A quotation. It runs
> on.

- The first item ends.
- The second item

```python
print("Code. Is no prose.")
```
<!-- A comment. Not shown. -->

Is this a question?
-------------------

Length
------
It is snake_case_name long.

[ref]: https://example.org
"""


def test_markdown_prose_is_kept_and_code_comments_and_headings_are_not(tmp_path: Path) -> None:
    path = write(tmp_path / "river.md", MARKDOWN)
    [page] = pages_of(path)
    assert page.title == "The Great River"
    assert [" ".join(text.split()) for text in texts(page)] == [
        "The Elbe is a river in Central Europe.",
        "It rises in the Krkonoše Mountains.",
        "A quotation.",
        "It runs on.",
        "The first item ends.",
        "The second item",
        "Is this a question?",
        "It is snake_case_name long.",
    ]
    # Offsets point at the sentence as written: cleaned, it is the sentence.
    assert [strip_marks(MARKDOWN[s.start : s.end]) for s in page.sentences] == texts(page)
    first = page.sentences[0]
    assert MARKDOWN[first.start : first.end].startswith("The [Elbe](https://example.org/a.b)")


def test_html_gives_what_a_reader_sees(tmp_path: Path) -> None:
    path = write(
        tmp_path / "page.html",
        """<!doctype html><html><head><title>The  Alps</title>
        <script>document.write("Evil. Script.")</script><style>p { color: red }</style></head>
        <body onload="alert('Evil. Handler.')"><h1>Mountains</h1>
        <p>The Alps are <b>high</b>. Snow &amp; ice cover them.<!-- A comment. -->
        <ul><li>Mont Blanc is one.<li>Eiger is another.</ul>
        <noscript>No script.</noscript><template><p>A template.</p></template>
        <table><tr><td>Height</td><td>4,808 m.</td></tr></table></body></html>""",
    )
    [page] = pages_of(path)
    assert page.title == "The Alps"
    assert texts(page) == [
        "The Alps are high.",
        "Snow & ice cover them.",
        "Mont Blanc is one.",
        "Eiger is another.",
        "Height: 4,808 m.",
    ]
    extracted = source_text(path)
    assert [extracted[s.start : s.end] for s in page.sentences] == texts(page)
    assert "Evil" not in extracted


def test_html_follows_its_declared_encoding(tmp_path: Path) -> None:
    content = '<meta charset="iso-8859-2"><p>Łódź leży w Polsce.'.encode("iso-8859-2")
    [page] = pages_of(write(tmp_path / "a.html", content))
    assert texts(page) == ["Łódź leży w Polsce."]


def test_a_pdf_gives_a_page_for_each_of_its_pages(tmp_path: Path) -> None:
    content = office.pdf("Rome is in Italy. It is old.", "Paris is in France.", title="Two Cities")
    path = write(tmp_path / "cities.pdf", content)
    pages = pages_of(path)
    assert [(page.id, page.title) for page in pages] == [
        ("cities.pdf#page=1", "Two Cities"),
        ("cities.pdf#page=2", "Two Cities"),
    ]
    assert [texts(page) for page in pages] == [["Rome is in Italy.", "It is old."], ["Paris is in France."]]
    second = pages[0].sentences[1]
    assert source_text(path, "cities.pdf#page=1")[second.start : second.end] == "It is old."


def test_jsonl_records_are_pages_and_bad_ones_are_reported(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": 7, "title": "Seven", "text": "Seven is odd. It is prime."}),
        "{not json",
        json.dumps({"id": "no text"}),
        json.dumps(["a list"]),
        json.dumps({"text": "No name here."}),
    ]
    path = write(tmp_path / "facts.jsonl", "\n".join(lines))
    problems: list[Problem] = []
    pages = pages_of(path, problems)
    assert [(page.id, page.title, texts(page)) for page in pages] == [
        ("7", "Seven", ["Seven is odd.", "It is prime."]),
        ("facts.jsonl:5", "facts", ["No name here."]),
    ]
    assert [problem.line for problem in problems] == [2, 3, 4]
    assert str(problems[2]) == f'{path}:4: expected a JSON object, found ["a list"].'
    assert source_text(path, "7") == "Seven is odd. It is prime."


def test_a_wiki_dump_and_a_scifact_corpus_are_known_by_their_records(tmp_path: Path) -> None:
    wiki = {"id": "Rome_-LRB-film-RRB-", "text": "", "lines": "0\tRome is a film .\tItaly\tItaly\n1\t"}
    abstract = {"doc_id": 12, "title": "On cells", "abstract": ["Cells divide.", "They grow."]}
    (tmp_path / "w.jsonl.gz").write_bytes(gzip.compress(json.dumps(wiki).encode()))
    write(tmp_path / "corpus.jsonl", json.dumps(abstract))
    science, film = pages_of(tmp_path)
    assert (film.id, film.title, film.sentences[0].links) == (
        "Rome_-LRB-film-RRB-",
        "Rome (film)",
        ("Italy",),
    )
    assert (science.id, science.title, texts(science)) == ("12", "On cells", ["Cells divide.", "They grow."])
    assert film.source == str(tmp_path / "w.jsonl.gz")


BROKEN = {
    "wiki.jsonl": [
        {"id": "", "text": "", "lines": ""},
        {"id": "Rome", "lines": "0\tRome is old ."},
        "{broken",
        {"id": 7, "lines": "0\tx"},
        {"id": "Oslo", "lines": "no numbers"},
        {"id": "Rome", "lines": "0\tAgain ."},
        {"id": "x" * 1001, "lines": "0\tx"},
        {"id": "Bonn", "lines": f"0\tBonn is small .\n{'9' * 40}\tToo far ."},
    ],
    "corpus.jsonl": [
        {"doc_id": 1, "title": "Rome", "abstract": ["Rome is old ."]},
        {"title": "No id", "abstract": []},
        {"doc_id": 2, "title": "No list", "abstract": "x"},
        {"doc_id": 3, "title": "No text", "abstract": [1]},
        {"doc_id": 1, "title": "Again", "abstract": []},
        {"doc_id": 4, "title": "Bonn", "abstract": ["", "Bonn is small ."]},
    ],
}


@pytest.mark.parametrize(("name", "bad"), [("wiki.jsonl", [3, 4, 5, 6, 7]), ("corpus.jsonl", [2, 3, 4, 5])])
def test_a_bad_record_is_reported_with_its_line_and_the_others_are_kept(
    tmp_path: Path, name: str, bad: list[int]
) -> None:
    lines = [line if isinstance(line, str) else json.dumps(line) for line in BROKEN[name]]
    path = write(tmp_path / name, "\n".join(lines))
    problems: list[Problem] = []
    pages = pages_of(path, problems)
    assert [texts(page) for page in pages] == [["Rome is old ."], ["Bonn is small ."]]
    assert [problem.line for problem in problems] == bad
    assert all(str(problem).startswith(f"{path}:{problem.line}: ") for problem in problems)
    with pytest.raises(DataError, match=rf"{name}:{bad[0]}: "):
        list(iter_documents([path], strict=True))


def test_a_bad_record_in_the_zipped_dump_leaves_the_others(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "wiki-pages.zip", "w") as archive:
        archive.writestr("wiki-pages/wiki-001.jsonl", json.dumps(BROKEN["wiki.jsonl"][1]) + "\n{broken\n")
        archive.writestr("wiki-pages/wiki-002.jsonl", json.dumps(BROKEN["wiki.jsonl"][7]) + "\n")
    problems: list[Problem] = []
    assert [page.id for page in pages_of(tmp_path, problems)] == ["Rome", "Bonn"]
    assert [str(problem).split(": ")[0] for problem in problems] == [
        f"{tmp_path}/wiki-pages.zip!wiki-pages/wiki-001.jsonl:2"
    ]


def test_of_very_many_bad_records_the_first_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", "{\n" * 250 + '{"text": "Here I am."}')
    problems: list[Problem] = []
    assert [texts(page) for page in pages_of(path, problems)] == [["Here I am."]]
    assert [problem.line for problem in problems] == [*range(1, 101), None]
    assert problems[-1].message == "has 150 more bad records."


def test_strict_raises_on_the_first_bad_file(tmp_path: Path) -> None:
    write(tmp_path / "bad.txt", b"\0\1\2")
    with pytest.raises(DataError, match=r"bad\.txt: is binary data, expected text"):
        list(iter_documents([tmp_path], strict=True))


def test_what_is_named_but_cannot_be_read_is_reported(tmp_path: Path) -> None:
    problems: list[Problem] = []
    paths = [tmp_path / "absent", write(tmp_path / "a.odt", "x")]
    assert list(iter_documents(paths, report=problems.append)) == []
    assert "No such file" in problems[0].message
    assert ".pdf" in problems[1].message


def test_real_dump_and_corpus_are_read_whole(shared_data: Path) -> None:
    wiki = pages_of(shared_data / "fever" / "wiki-pages.jsonl.gz")
    assert (len(wiki), sum(len(page.sentences) for page in wiki)) == (3318, 11044)
    assert len(pages_of(shared_data / "scifact" / "corpus.jsonl.gz")) == 5183
