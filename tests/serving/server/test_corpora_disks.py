"""Corpora of a server on other file systems than its data, and on a full one."""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path

import pytest

from adjudge.serving.server.corpora import Corpora
from adjudge.serving.server.faults import Conflict, NoRoom, status_of
from small_disk import small_disk


def other_file_system(folder: Path) -> Path:
    """A folder from which nothing can be renamed to another."""
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == folder.stat().st_dev:
        pytest.skip("needs a second file system")
    return Path(tempfile.mkdtemp(dir=shared))


def test_a_corpus_on_another_file_system_takes_documents(tmp_path):
    elsewhere = other_file_system(tmp_path)
    try:
        (tmp_path / "linked").symlink_to(elsewhere)
        library = Corpora((), tmp_path, lambda *_: (None, None), refresh=1.0)
        library.add_document("linked", "a.txt", io.BytesIO(b"It came."), 100)
        assert [(path.name, path.read_text()) for path in elsewhere.iterdir()] == [("a.txt", "It came.")]
        library.delete("linked")
        assert not list(tmp_path.iterdir()) and not list(library)
    finally:
        shutil.rmtree(elsewhere)


def test_a_corpus_that_is_a_file_system_of_its_own_is_not_removed(tmp_path):
    with small_disk(tmp_path / "mounted", "400k"):
        library = Corpora((), tmp_path, lambda *_: (None, None), refresh=1.0)
        library.add_document("mounted", "a.txt", io.BytesIO(b"It came."), 100)
        with pytest.raises(Conflict, match="a file system of its own"):
            library.delete("mounted")
        assert [corpus.name for corpus in library] == ["mounted"]
        assert [path.name for path in tmp_path.rglob("*")] == ["mounted", "a.txt"]


def test_a_full_disk_is_the_servers_fault_and_a_corpus_can_be_deleted_from_it(tmp_path):
    with small_disk(tmp_path / "disk", "200k,nr_inodes=6") as disk:
        library = Corpora((), disk / "data", lambda *_: (None, None), refresh=1.0)
        library.create("uploads")
        with pytest.raises(NoRoom, match="^a.txt: not kept, since the server's disk is full.$"):
            library.add_document("uploads", "a.txt", io.BytesIO(b"x" * 300_000), 300_000)
        for name in ("b.txt", "c.txt", "d.txt"):
            (disk / "data" / "uploads" / name).touch()  # no more files, nor folders
        with pytest.raises(NoRoom, match="^more: "):
            library.create("more")
        library.delete("uploads")
        assert not list((disk / "data").iterdir()) and not list(library)
    assert (NoRoom("").status, status_of(NoRoom(""))[1]) == (507, "no_room")
