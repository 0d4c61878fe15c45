"""A corpus is an index, or documents whose index is made beside them and kept in step."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from adjudge.errors import DataError
from adjudge.retrieval import Index, IndexRetriever, build_index
from adjudge.retrieval.corpus import cache_of, open_corpus
from adjudge.retrieval.index import fingerprint
from adjudge.retrieval.storage import lock_index


def found(index: Index, claim: str) -> list[str]:
    return [sentence.text for sentence in IndexRetriever(index).retrieve(claim, 1)]


def test_an_index_is_opened_as_it_is(rivers: Path, tmp_path: Path) -> None:
    build_index([rivers], tmp_path / "index")
    (rivers / "new.txt").write_text("The Oder flows through Breslau.")
    assert open_corpus(tmp_path / "index").manifest.sentences == 2
    assert not (rivers / ".adjudge-index").exists()


def test_a_folder_is_indexed_beside_itself_and_brought_up_to_date(rivers: Path) -> None:
    assert found(open_corpus(rivers), "Cologne") == ["The Rhine flows through Cologne."]
    assert (rivers / ".adjudge-index" / "manifest.json").is_file()
    (rivers / "new.txt").write_text("The Oder flows through Breslau.")
    (rivers / "rivers.txt").unlink()
    again = open_corpus(rivers)
    assert found(again, "Breslau") == ["The Oder flows through Breslau."]
    assert found(again, "Cologne") == []
    assert again.manifest.sentences == 1  # the index itself is no document


def test_a_folder_copied_with_its_index_is_a_corpus_of_its_own(rivers: Path, tmp_path: Path) -> None:
    open_corpus(rivers)
    copy = Path(shutil.copytree(rivers, tmp_path / "copy"))
    (copy / "new.txt").write_text("The Oder flows through Breslau.")
    index = open_corpus(copy)
    assert index.manifest.sentences == 3  # not those of the first folder as well
    assert found(index, "Cologne") == ["The Rhine flows through Cologne."]


def test_a_file_has_its_index_beside_it_and_its_neighbours_are_not_read(rivers: Path) -> None:
    (rivers / "other.txt").write_text("Cologne has a cathedral.")
    opened = open_corpus(rivers / "rivers.txt")
    assert found(opened, "Cologne") == ["The Rhine flows through Cologne."]
    assert opened.path == rivers / ".rivers.txt.adjudge-index"


def test_documents_in_a_read_only_place_are_indexed_in_the_users_cache(
    rivers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writable = os.access
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(
        os,
        "access",
        lambda path, mode: not (mode & os.W_OK and Path(path) == rivers) and writable(path, mode),
    )
    opened = open_corpus(rivers)
    assert found(opened, "Cologne") == ["The Rhine flows through Cologne."]
    assert opened.path.is_relative_to(tmp_path / "cache")
    assert os.listdir(rivers) == ["rivers.txt"]
    assert cache_of(rivers) == opened.path != cache_of(tmp_path / "elsewhere")


def test_what_cannot_be_read_is_reported_and_the_rest_is_used(rivers: Path) -> None:
    (rivers / "noise.txt").write_bytes(bytes(range(256)) * 8)
    problems: list[object] = []
    assert open_corpus(rivers, report=problems.append).manifest.sentences == 2
    assert [str(problem) for problem in problems] == [
        f"{rivers / 'noise.txt'}: is binary data, expected text."
    ]


@pytest.mark.parametrize("corpus", ["", "only.pdf"])
def test_documents_none_of_which_can_be_read_are_no_corpus(tmp_path: Path, corpus: str) -> None:
    """An answer that nothing was found would be wrong: nothing was looked at."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "only.pdf").write_bytes(b"no PDF")
    with pytest.raises(DataError, match="none of its documents can be read. .*only.pdf: "):
        open_corpus(tmp_path / "docs" / corpus)
    (tmp_path / "docs" / "b.txt").write_text("This one can.")
    assert found(open_corpus(tmp_path / "docs"), "can") == ["This one can."]


def test_a_folder_with_a_manifest_of_its_own_is_no_index(rivers: Path) -> None:
    (rivers / "manifest.json").write_text('{"name": "a web page"}')
    assert open_corpus(rivers).manifest.sentences == 2


def test_a_damaged_index_is_not_taken_for_documents(rivers: Path, tmp_path: Path) -> None:
    build_index([rivers], tmp_path / "index")
    (tmp_path / "index" / "manifest.json").write_text("{")
    with pytest.raises(DataError, match="manifest.json is not that of an adjudge index"):
        open_corpus(tmp_path / "index")


def test_a_corpus_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere: no such index, folder or file"):
        open_corpus(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_an_index_that_another_process_is_writing_is_waited_for(rivers: Path) -> None:
    open_corpus(rivers)
    (rivers / "new.txt").write_text("The Oder flows through Breslau.")
    with lock_index(rivers / ".adjudge-index"):
        opened: list[Index] = []
        waiting = threading.Thread(target=lambda: opened.append(open_corpus(rivers)))
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive() and not opened
    waiting.join(10)
    assert opened[0].manifest.sentences == 3


def test_the_fingerprint_is_that_of_the_content(rivers: Path, tmp_path: Path) -> None:
    first = fingerprint(open_corpus(rivers))
    os.utime(rivers / "rivers.txt")
    assert fingerprint(open_corpus(rivers)) == first
    (rivers / "rivers.txt").write_text("The Elbe flows through Dresden. The Rhine flows through Koblenz.")
    assert fingerprint(open_corpus(rivers)) != first
