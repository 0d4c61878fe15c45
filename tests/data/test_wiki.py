from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from adjudge.data.wiki import read_pages, write_pages
from adjudge.errors import DataError
from adjudge.types import Page, Sentence

EMPTY = {"id": "", "text": "", "lines": ""}  # every official file begins so
ALIEN = {
    "id": "Alien_-LRB-film-RRB-",
    "text": "Alien is a film by Scott . It won .",
    "lines": "0\tAlien is a film by Scott .\tfilm\tFilm\tScott\tRidley Scott\n1\t\n2\tIt won .\n3\t",
}
ALIEN_PAGE = Page(
    "Alien_-LRB-film-RRB-",
    "Alien (film)",
    (Sentence("Alien is a film by Scott .", 0, ("Film", "Ridley_Scott")), Sentence("It won .", 2)),
)
BARE = {"id": "Bare", "text": "A page can lack lines ."}


def dump(*records: object) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def test_a_page_keeps_line_numbers_and_links_but_no_blank_sentence(tmp_path: Path) -> None:
    (tmp_path / "wiki.jsonl").write_bytes(dump(EMPTY, ALIEN, BARE))
    assert list(read_pages(tmp_path / "wiki.jsonl")) == [ALIEN_PAGE, Page("Bare", "Bare", ())]


def test_the_rest_of_a_broken_sentence_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "wiki.jsonl").write_bytes(dump({"id": "A", "lines": "0\tOne\nand a half\n1\tTwo ."}))
    (page,) = read_pages(tmp_path / "wiki.jsonl")
    assert page.sentences == (Sentence("One", 0), Sentence("Two .", 1))


def test_a_folder_is_read_file_by_file_in_order(tmp_path: Path) -> None:
    inner = tmp_path / "dump" / "wiki-pages"  # as the official zip unpacks
    inner.mkdir(parents=True)
    (inner / "wiki-002.jsonl.gz").write_bytes(gzip.compress(dump(EMPTY, BARE)))
    (inner / "wiki-001.jsonl").write_bytes(dump(EMPTY, ALIEN))
    (inner / "notes.jsonl").write_bytes(b"not a page")
    assert [page.id for page in read_pages(inner)] == ["Alien_-LRB-film-RRB-", "Bare"]
    assert list(read_pages(tmp_path / "dump")) == list(read_pages(inner))


def test_a_zip_is_read_without_unpacking(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "wiki-pages.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("wiki-pages/wiki-002.jsonl", dump(EMPTY, BARE))
        archive.writestr("wiki-pages/wiki-001.jsonl", dump(EMPTY, ALIEN))
        archive.writestr(
            "wiki-pages/wiki-003.jsonl.gz", gzip.compress(dump({"id": "Zed", "lines": "0\tZ ."}))
        )
        archive.writestr("__MACOSX/wiki-pages/._wiki-001.jsonl", b"\x00\x05")
    assert [page.id for page in read_pages(tmp_path / "wiki-pages.zip")] == [
        "Alien_-LRB-film-RRB-",
        "Bare",
        "Zed",
    ]
    assert list(tmp_path.iterdir()) == [tmp_path / "wiki-pages.zip"]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"lines": "0\tA ."}, "no field 'id'; found 'lines'."),
        ({"id": "", "lines": "0\tA ."}, "the page has sentences but no id."),
        ({"id": "A", "lines": ["A ."]}, "field 'lines' is [\"A .\"], expected text."),
        (
            {"id": "A", "lines": "One .\nTwo ."},
            "field 'lines' is \"One .\\nTwo .\", expected numbered sentences",
        ),
        ({"id": "Bare", "lines": ""}, "page 'Bare' was already given in line 1."),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, record: object, message: str, zipped: bool
) -> None:
    path = tmp_path / "wiki.dump"
    where = str(path)
    if zipped:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("wiki-001.jsonl", dump(BARE, record))
        where = f"{path}!wiki-001.jsonl"
    else:
        path.write_bytes(dump(BARE, record))
    with pytest.raises(DataError) as caught:
        list(read_pages(path))
    assert str(caught.value).startswith(f"{where}:2: {message}")


def test_places_without_pages_are_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("readme.txt", "nothing here")
    with pytest.raises(DataError, match=r"a\.zip: no wiki pages inside"):
        list(read_pages(tmp_path / "a.zip"))
    with pytest.raises(DataError, match="no wiki pages here, expected files named"):
        list(read_pages(tmp_path))
    with pytest.raises(DataError, match="no such file"):
        list(read_pages(tmp_path / "none.jsonl"))


def test_broken_json_in_a_zip_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("wiki-001.jsonl", b'\n{"id":\n')
    with pytest.raises(DataError, match=r"a\.zip!wiki-001\.jsonl:2: not valid JSON"):
        list(read_pages(tmp_path / "a.zip"))


def test_a_damaged_zip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "wiki-001.jsonl", dump(*({"id": str(n), "lines": f"0\tPage {n * n} ."} for n in range(999)))
        )
    content = bytearray(path.read_bytes())
    content[500:600] = bytes(100)
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.zip: damaged zip file|not valid JSON"):
        list(read_pages(path))
    path.write_bytes(content[:700])
    with pytest.raises(DataError, match=r"a\.zip: damaged zip file"):
        list(read_pages(path))


def test_pages_survive_writing(tmp_path: Path) -> None:
    titled = Page(
        "report.pdf", "The Annual Report", (Sentence("Profits rose.", 0), Sentence("Costs fell.", 4))
    )
    pages = [ALIEN_PAGE, titled, Page("Bare", "Bare", ())]
    assert write_pages(tmp_path / "wiki-001.jsonl.gz", pages) == 3
    assert list(read_pages(tmp_path / "wiki-001.jsonl.gz")) == pages


def test_written_pages_look_like_the_official_dump(tmp_path: Path) -> None:
    write_pages(tmp_path / "wiki.jsonl", [ALIEN_PAGE])
    record = json.loads((tmp_path / "wiki.jsonl").read_text())
    assert list(record) == ["id", "text", "lines"]
    assert record["lines"] == (
        "0\tAlien is a film by Scott .\tFilm\tFilm\tRidley Scott\tRidley Scott\n1\t\n2\tIt won ."
    )


def test_tabs_and_breaks_in_a_sentence_do_not_break_the_file(tmp_path: Path) -> None:
    write_pages(tmp_path / "wiki.jsonl", [Page("A", "A", (Sentence("a\tb\nc", 0), Sentence("d", 1)))])
    (page,) = read_pages(tmp_path / "wiki.jsonl")
    assert [sentence.text for sentence in page.sentences] == ["a b c", "d"]


def test_the_real_pages_survive_writing(shared_data, tmp_path: Path) -> None:
    pages = list(read_pages(shared_data / "fever/wiki-pages.jsonl.gz"))
    assert len(pages) == 3318
    assert sum(len(page.sentences) for page in pages) == 11_044
    write_pages(tmp_path / "wiki-001.jsonl", pages)
    assert list(read_pages(tmp_path)) == pages
