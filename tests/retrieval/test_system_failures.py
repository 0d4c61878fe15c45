"""Where the system fails, an index keeps its documents and nothing is called damaged that may be whole."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.errors import AdjudgeError
from adjudge.retrieval import storage
from adjudge.retrieval.build import build_index
from adjudge.retrieval.index import Index
from adjudge.retrieval.storage import IndexUnusable
from index_contents import everything, write
from limits import files_left


def texts(index: Path) -> list[str]:
    return sorted(text for _, _, text in everything(index))


@pytest.mark.parametrize("count", range(14))
def test_documents_do_not_leave_an_index_because_too_many_files_are_open(tmp_path: Path, count: int) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red.", b="Pears are green."), tmp_path / "index"
    write(docs / "below", c="Plums are blue.")
    build_index([docs], index)
    before = everything(index)
    write(docs, b="Pears are yellow.")
    for name in ("a", "b"):
        os.utime(docs / f"{name}.txt", (1, 1))  # so that a's content is looked at as well
    try:
        with files_left(count):
            build_index([docs], index)
    except (AdjudgeError, OSError) as error:
        assert "Too many open files" in str(error) or "cannot be written" in str(error)
        assert "Delete" not in str(error)
        assert everything(index) == before
        build_index([docs], index)
    assert texts(index) == ["Apples are red.", "Pears are yellow.", "Plums are blue."]


@pytest.mark.parametrize("failure", [OSError(errno.EIO, os.strerror(errno.EIO)), KeyboardInterrupt()])
def test_a_failure_right_after_an_index_got_its_new_state_leaves_it_that_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red."), tmp_path / "index"
    build_index([docs], index)
    write(docs, b="Pears are green.")

    def fail(path: Path) -> None:
        raise failure

    with monkeypatch.context() as patch, pytest.raises(type(failure)):
        patch.setattr(storage, "_sync_folder", fail)
        build_index([docs], index)
    assert texts(index) == ["Apples are red.", "Pears are green."]
    build_index([docs], index)
    assert sorted(path.name for path in index.glob("g*")) == ["g00000002"]  # the one before was removed


def test_a_disk_that_does_not_answer_damages_no_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red."), tmp_path / "index"
    build_index([docs], index)
    as_tantivy = ValueError("Failed to open file for read: IoError { io_error: Os { code: 5, kind: Other } }")
    as_python = OSError(errno.EIO, os.strerror(errno.EIO))

    def fail(error: Exception) -> Callable[..., None]:
        def call(*_: object) -> None:
            raise error

        return call

    for error in (as_tantivy, as_python):
        with monkeypatch.context() as patch, pytest.raises(IndexUnusable, match="Input/output") as said:
            patch.setattr("adjudge.retrieval.index.open_part", fail(error))
            Index.open(index)
        assert "damaged" not in str(said.value) and "Delete" not in str(said.value)
    with monkeypatch.context() as patch, pytest.raises(IndexUnusable, match="Input/output") as said:
        patch.setattr("builtins.open", fail(as_python))
        storage.read_sources(index / "g00000001")
    assert "damaged" not in str(said.value) and "Index the documents" not in str(said.value)
