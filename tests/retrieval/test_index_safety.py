"""Whatever interrupts a build leaves the old index usable; what cannot be opened is told in words."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.errors import AdjudgeError, DataError
from adjudge.retrieval.build import build_index
from adjudge.retrieval.corpus import cache_of, open_corpus
from adjudge.retrieval.embedding import VectorSettings
from adjudge.retrieval.index import Index
from adjudge.retrieval.retriever import IndexRetriever
from adjudge.retrieval.storage import IndexLocked, IndexUnusable, lock_index
from index_contents import everything, texts_for, write
from plain_user import plain_user, read_only


def test_an_open_index_goes_on_showing_what_it_showed(tmp_path: Path) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red."), tmp_path / "index"
    build_index([docs], index)
    opened = IndexRetriever(Index.open(index))
    write(docs, a="Apples are green.")
    build_index([docs], index)
    assert [evidence.text for evidence in opened.retrieve("apples", 5)] == ["Apples are red."]
    assert texts_for(index, "apples") == ["Apples are green."]


SLOW_BUILD = """
import sys, time
from adjudge.retrieval import build
from adjudge.retrieval.index import Writer
stage = sys.argv[3]
def wait(*_):
    print("here", flush=True)
    time.sleep(60)
if stage == "reading":
    add = Writer.add
    def slow(self, page, source):
        add(self, page, source)
        if "Z" in page.sentences[0].text: wait()
    Writer.add = slow
elif stage == "committed":
    build.write_sources = wait
else:
    build.write_manifest = wait
build.build_index([sys.argv[1]], sys.argv[2])
"""


@pytest.mark.parametrize("stage", ["reading", "committed", "unnamed"])
def test_a_build_killed_at_any_stage_leaves_the_old_index(tmp_path: Path, stage: str) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red.", b="Bananas are yellow."), tmp_path / "index"
    build_index([docs], index)
    before = everything(index)
    write(docs, a="Apples are green.", z="Z comes last.")
    command = [sys.executable, "-c", SLOW_BUILD, str(docs), str(index), stage]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "here\n"
        with pytest.raises(IndexLocked, match="another process is writing this index"):
            build_index([docs], index)
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    assert everything(index) == before
    report = build_index([docs], index)
    assert (report.added, report.changed) == (1, 1)
    assert [text for _, _, text in everything(index)] == [
        "Apples are green.",
        "Bananas are yellow.",
        "Z comes last.",
    ]
    assert len(list(index.glob("g*"))) == 1


def test_what_killed_builds_left_is_removed_by_a_call_that_changes_nothing(tmp_path: Path) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red."), tmp_path / "index"
    os.utime(docs / "a.txt", (1e9, 1e9))
    build_index([docs], index)
    before = sorted(os.listdir(index))
    (index / "g00000009" / "pages").mkdir(parents=True)
    (index / ".manifest.json.0a1b2c3d.tmp").touch()
    build_index([docs], index)
    assert sorted(os.listdir(index)) == before and texts_for(index, "apples") == ["Apples are red."]


def test_a_first_build_that_was_killed_can_be_made_again(tmp_path: Path) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red.", z="Z comes last."), tmp_path / "index"
    command = [sys.executable, "-c", SLOW_BUILD, str(docs), str(index), "unnamed"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.kill()
    with pytest.raises(DataError, match="is not an index"):
        Index.open(index)
    build_index([docs], index)
    assert len(everything(index)) == 2


def test_the_lock_is_free_after_a_failure(tmp_path: Path) -> None:
    tmp_path.joinpath("index").mkdir()
    with pytest.raises(ZeroDivisionError), lock_index(tmp_path / "index"):
        raise ZeroDivisionError
    with lock_index(tmp_path / "index"):
        pass


def test_other_folders_and_other_versions_are_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_bytes(b"png")
    with pytest.raises(AdjudgeError, match="exists and is not an index"):
        build_index([], tmp_path / "photos")
    with pytest.raises(DataError, match="is not an index"):
        Index.open(tmp_path / "photos")
    with pytest.raises(DataError, match="no such index"):
        Index.open(tmp_path / "absent")
    index = tmp_path / "index"
    build_index([], index)
    manifest = json.loads((index / "manifest.json").read_text())
    (index / "manifest.json").write_text(json.dumps(manifest | {"version": 99}))
    with pytest.raises(DataError, match="index format 99, this version of adjudge reads 4"):
        Index.open(index)
    (index / "manifest.json").write_text('{"name": "a web app"}')
    with pytest.raises(DataError, match="not that of an adjudge index"):
        build_index([], index)


def test_a_damaged_index_is_refused_in_words(tmp_path: Path) -> None:
    build_index([write(tmp_path / "docs", a="Apples are red.")], tmp_path / "index")
    [meta] = tmp_path.glob("index/g*/pages/meta.json")
    meta.write_text("{")
    with pytest.raises(DataError, match="damaged index"):
        Index.open(tmp_path / "index")


def test_an_index_that_cannot_be_written_is_searched(tmp_path: Path) -> None:
    """As on a read-only mount, or in a folder of another user."""
    build_index([write(tmp_path / "docs", a="Apples are red.")], tmp_path / "index")
    assert texts_for(tmp_path / "index", "apples") == ["Apples are red."]
    with read_only(tmp_path / "index"), plain_user():
        with pytest.raises(PermissionError):
            (tmp_path / "index" / "new").touch()
        assert texts_for(tmp_path / "index", "apples") == ["Apples are red."]


@pytest.mark.skipif(os.name != "posix", reason="modes as on POSIX")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_all_files_of_an_index_have_the_mode_of_the_umask(tmp_path: Path, umask: int, mode: int) -> None:
    """Other users can search it where they may read the user's files; tantivy's lists were the user's alone."""
    docs = write(tmp_path / "docs", a="Apples are red.", b="Pears are green.")
    before = os.umask(umask)
    try:
        build_index([docs], tmp_path / "index", vectors=VectorSettings("tiny"))
        first = {path.stat().st_mode & 0o777 for path in (tmp_path / "index").rglob("*.*") if path.is_file()}
        write(docs, b="Pears are yellow.")
        build_index([docs], tmp_path / "index", vectors=VectorSettings("tiny"))
    finally:
        os.umask(before)
    files = [path for path in (tmp_path / "index").rglob("*") if path.is_file() and path.name != ".lock"]
    assert first | {path.stat().st_mode & 0o777 for path in files} == {mode}


def test_an_index_that_may_not_be_read_is_not_called_damaged(tmp_path: Path) -> None:
    build_index([write(tmp_path / "docs", a="Apples are red.")], tmp_path / "index")
    Index.open(tmp_path / "index")
    with read_only(tmp_path / "index"):
        next((tmp_path / "index").glob("g*/pages/*.term")).chmod(0)
        with plain_user(), pytest.raises(DataError, match="cannot be read .permission denied") as raised:
            Index.open(tmp_path / "index")
    assert "Delete" not in str(raised.value)


@pytest.mark.parametrize("damage", ["gone", "cut", "flipped"])
def test_whatever_file_of_an_index_is_damaged_searching_and_building_end_in_words(
    tmp_path: Path, damage: str
) -> None:
    """Tantivy raises errors of its own, or panics; a build that fails leaves no new generation behind."""
    texts = {f"n{n}": f"Document {n} is about apples. It has {n} pears." for n in range(8)}
    docs, good = write(tmp_path / "docs", **texts), tmp_path / "good"
    build_index([docs], good)
    write(docs, n3="Document 3 is about plums.")
    rng = random.Random(3)
    refused = 0
    for path in sorted(path for path in good.rglob("*") if path.is_file() and path.suffix != ".lock"):
        index = tmp_path / "index"
        shutil.rmtree(index, ignore_errors=True)
        shutil.copytree(good, index)
        damaged, content = index / path.relative_to(good), bytearray(path.read_bytes())
        if damage == "gone":
            damaged.unlink()
        elif damage == "cut":
            damaged.write_bytes(content[: len(content) // 2])
        elif content:
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            damaged.write_bytes(content)
        for work in (lambda: texts_for(index, "apples"), lambda: build_index([docs], index)):  # noqa: B023
            try:
                work()
            except AdjudgeError:
                refused += 1
        if (index / "manifest.json").exists():
            assert len(list(index.glob("g*"))) <= 1
    assert refused > 10 or damage == "flipped"


@pytest.mark.parametrize(
    "change",
    [
        {"generation": "abc"},
        {"generation": "g1/../../elsewhere"},
        {"generation": "g1 "},
        {"vectors": {"embedder": {}, "dimension": 384, "segments": []}},
        {"vectors": {"embedder": {"name": "minilm"}, "dimension": 0, "segments": []}},
        {"vectors": {"embedder": {"name": "minilm"}, "dimension": 384, "segments": ["../../elsewhere"]}},
    ],
    ids=str,
)
def test_a_manifest_with_names_that_builds_do_not_give_is_called_damaged(
    tmp_path: Path, change: dict[str, object]
) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red."), tmp_path / "index"
    build_index([docs], index)
    manifest = json.loads((index / "manifest.json").read_bytes())
    (index / "manifest.json").write_text(json.dumps(manifest | change))
    write(docs, a="Apples are green.")
    for work in (lambda: texts_for(index, "apples"), lambda: build_index([docs], index)):
        with pytest.raises(IndexUnusable, match=r"damaged manifest\.json"):
            work()


@pytest.mark.skipif(os.name != "posix", reason="links as on POSIX")
@pytest.mark.parametrize("name", ["g00000007", ".embedding"])
def test_a_link_in_an_index_is_removed_and_not_what_it_leads_to(tmp_path: Path, name: str) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red."), tmp_path / "index"
    build_index([docs], index, vectors=VectorSettings("tiny"))
    write(tmp_path / "precious", b="Pears are green.")
    (index / name).symlink_to(tmp_path / "precious")
    write(docs, a="Apples are green.")
    build_index([docs], index)
    assert texts_for(index, "apples") == ["Apples are green."]
    assert not (index / name).exists() and list((tmp_path / "precious").iterdir())


@pytest.mark.skipif(os.name != "posix", reason="links as on POSIX")
def test_documents_whose_index_is_a_link_leave_the_index_it_leads_to_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    own = tmp_path / "own"
    build_index([write(tmp_path / "mine", a="Apples are red.")], own)
    docs = write(tmp_path / "docs", b="Apples are blue.")
    (docs / ".adjudge-index").symlink_to(own)
    assert cache_of(docs).is_relative_to(tmp_path / "cache")
    retriever = IndexRetriever(open_corpus(docs, by_meaning=False))
    assert [evidence.text for evidence in retriever.retrieve("apples", 5)] == ["Apples are blue."]
    assert texts_for(own, "apples") == ["Apples are red."]
