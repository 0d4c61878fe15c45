"""An index keeps in step with its documents."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adjudge.errors import DataError
from adjudge.retrieval.build import build_index, index_pages
from adjudge.retrieval.index import Index
from adjudge.retrieval.progress import IndexProgress
from adjudge.retrieval.retriever import IndexRetriever
from adjudge.types import Page, Sentence
from index_contents import everything, texts_for, write


def test_evidence_says_where_it_stands(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", rivers="The Elbe flows through Dresden. The Rhine flows through Cologne.")
    report = build_index([docs], tmp_path / "index")
    assert (report.added, report.pages, report.sentences, report.problems) == (1, 1, 2, ())
    [first, *_] = IndexRetriever(Index.open(tmp_path / "index")).retrieve("Is Cologne on the Rhine?", 5)
    assert (first.page, first.line, first.source) == ("docs/rivers.txt", 1, str(docs / "rivers.txt"))
    assert (docs / "rivers.txt").read_text()[first.start : first.end] == "The Rhine flows through Cologne."
    assert first.title == "rivers"


def test_adding_changing_and_removing_files_brings_the_index_in_step(tmp_path: Path) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red.", b="Bananas are yellow."), tmp_path / "index"
    build_index([docs], index)
    write(docs, a="Apples are green.", c="Cherries are dark.")
    (docs / "b.txt").unlink()
    report = build_index([docs], index)
    assert (report.added, report.changed, report.removed, report.unchanged) == (1, 1, 1, 0)
    assert (report.pages, report.sentences) == (2, 2)
    assert everything(index) == [
        ("docs/a.txt", 0, "Apples are green."),
        ("docs/c.txt", 0, "Cherries are dark."),
    ]
    assert texts_for(index, "bananas") == []


def test_many_random_updates_equal_one_build_from_scratch(tmp_path: Path) -> None:
    rng = random.Random(5)
    docs, index = write(tmp_path / "docs"), tmp_path / "index"
    for step in range(6):
        for name in rng.sample("abcdefgh", 4):
            path = docs / f"{name}.txt"
            if path.exists() and rng.random() < 0.5:
                path.unlink()
            else:
                path.write_text(f"File {name} speaks in step {step}. " * rng.randint(1, 3))
        build_index([docs], index)
    build_index([docs], tmp_path / "fresh")
    assert everything(index) == everything(tmp_path / "fresh") != []


def test_scores_do_not_depend_on_what_the_index_held_before(tmp_path: Path) -> None:
    """BM25 must not count what was removed, nor equal scores be ordered by the time of indexing."""
    rng = random.Random(3)
    words = [f"{a}{b}" for a in ("ba", "ko", "mi", "su", "te") for b in ("lan", "ric", "vond", "mer")]
    docs, index = write(tmp_path / "docs"), tmp_path / "index"

    def text() -> str:
        return " ".join(" ".join(rng.choices(words, k=5)).capitalize() + "." for _ in range(8))

    for names in ("abcdefghijkl", "cdfgk", "abe", "hij"):
        for name in names:
            (docs / f"{name}.txt").write_text(text())
        build_index([docs], index)
    build_index([docs], tmp_path / "fresh")
    updated, fresh = (IndexRetriever(Index.open(path)) for path in (index, tmp_path / "fresh"))
    for query in (" ".join(rng.sample(words, 3)) for _ in range(50)):
        expected = [(e.page, e.line, e.score) for e in fresh.retrieve(query, 5)]
        assert [
            (e.page, e.line, pytest.approx(e.score, rel=1e-6)) for e in updated.retrieve(query, 5)
        ] == expected


def test_the_part_of_a_bad_file_that_was_read_leaves_no_trace_in_the_scores(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", a="Apples are red. Bananas are yellow.")
    with gzip.open(docs / "b.jsonl.gz", "wb") as stream:
        for n in range(2000):
            stream.write(
                json.dumps({"id": n, "text": f"Apples number {n} {os.urandom(8).hex()}."}).encode() + b"\n"
            )
    whole = (docs / "b.jsonl.gz").read_bytes()
    (docs / "b.jsonl.gz").write_bytes(whole[: len(whole) * 2 // 3])
    build_index([docs], tmp_path / "index")
    (docs / "b.jsonl.gz").unlink()
    build_index([docs], tmp_path / "fresh")
    scores = [
        [evidence.score for evidence in IndexRetriever(Index.open(tmp_path / name)).retrieve("apples", 5)]
        for name in ("index", "fresh")
    ]
    assert scores[0] == pytest.approx(scores[1], rel=1e-6) and len(scores[0]) == 2


def test_nothing_changed_means_nothing_written(tmp_path: Path) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red."), tmp_path / "index"
    build_index([docs], index)
    os.utime(docs / "a.txt", (1, 1))
    build_index([docs], index)  # a new date, the same content: only the date is noted
    before = (index / "manifest.json").stat().st_mtime_ns
    report = build_index([docs], index)
    assert (report.unchanged, report.indexed_sentences) == (1, 0)
    assert (index / "manifest.json").stat().st_mtime_ns == before


def test_a_change_that_keeps_size_and_date_shortly_after_reading_is_seen(tmp_path: Path) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red."), tmp_path / "index"
    build_index([docs], index)
    times = (docs / "a.txt").stat()
    write(docs, a="Apples are big.")
    os.utime(docs / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert build_index([docs], index).changed == 1
    assert texts_for(index, "apples") == ["Apples are big."]


@pytest.mark.skipif(sys.platform == "win32", reason="has no time of the last change")
def test_a_change_that_keeps_size_and_date_is_seen_however_old_the_file_is(tmp_path: Path) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red."), tmp_path / "index"
    os.utime(docs / "a.txt", (1e9, 1e9))
    time.sleep(2.1)  # else every file is looked into, since it changed just before it was read
    build_index([docs], index)
    (docs / "a.txt").write_text("Apples are hot.")
    os.utime(docs / "a.txt", (1e9, 1e9))
    assert build_index([docs], index).changed == 1
    assert texts_for(index, "apples") == ["Apples are hot."]


def test_other_folders_stay_until_they_are_removed_by_name(tmp_path: Path) -> None:
    index = tmp_path / "index"
    (tmp_path / "x").mkdir()
    first, second = (
        write(tmp_path / "docs", a="Apples are red."),
        write(tmp_path / "x" / "docs", a="Air is thin."),
    )
    build_index([first], index)
    build_index([second], index)
    assert [page for page, _, _ in everything(index)] == ["docs/a.txt", "docs~2/a.txt"]
    report = build_index([], index, remove=[first])
    assert report.removed == 1
    assert everything(index) == [("docs~2/a.txt", 0, "Air is thin.")]
    with pytest.raises(
        DataError, match="is not a folder or file that was indexed here; the index holds .*x/docs"
    ):
        build_index([], index, remove=[first])


def test_a_bad_file_is_reported_and_strict_changes_nothing(tmp_path: Path) -> None:
    docs, index = write(tmp_path / "docs", a="Apples are red.", b="Bananas are yellow."), tmp_path / "index"
    build_index([docs], index)
    (docs / "a.txt").write_bytes(b"\0\0")
    with pytest.raises(DataError, match=r"a\.txt: is binary data"):
        build_index([docs], index, strict=True)
    assert len(everything(index)) == 2
    assert sorted(path.name for path in index.iterdir()) == [".lock", "g00000001", "manifest.json"]
    report = build_index([docs], index)
    assert [problem.message for problem in report.problems] == ["is binary data, expected text."]
    assert everything(index) == [("docs/b.txt", 0, "Bananas are yellow.")]


def test_what_was_read_of_a_file_before_it_failed_is_not_kept(tmp_path: Path) -> None:
    good = {"id": "Rome", "text": "", "lines": "0\tRome is old ."}
    packed = gzip.compress((json.dumps(good) + "\n").encode() * 9)
    (tmp_path / "wiki-001.jsonl.gz").write_bytes(packed[:-9])
    report = build_index([tmp_path / "wiki-001.jsonl.gz"], tmp_path / "index")
    assert (report.added, report.sentences) == (0, 0)
    assert "is damaged after line" in report.problems[-1].message
    assert texts_for(tmp_path / "index", "Rome is old") == []


def test_a_bad_record_costs_a_file_no_other(tmp_path: Path) -> None:
    good = {"id": "Rome", "text": "", "lines": "0\tRome is old ."}
    path = tmp_path / "wiki-001.jsonl"
    path.write_text("{broken\n" + json.dumps(good))
    with pytest.raises(DataError, match=r"wiki-001.jsonl:1: not valid JSON"):
        build_index([path], tmp_path / "index", strict=True)
    report = build_index([path], tmp_path / "index")
    assert (report.added, report.sentences) == (1, 1)
    assert [problem.line for problem in report.problems] == [1]
    assert texts_for(tmp_path / "index", "Rome is old") == ["Rome is old ."]


def test_what_was_left_out_of_a_file_is_said_as_long_as_the_file_stays(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", a="Apples are red.")
    (docs / "b.jsonl").write_text('{"id": "Rome", "text": "Rome is old."}\n{broken\n')
    said = [str(problem) for problem in build_index([docs], tmp_path / "index").problems]
    assert len(said) == 1 and "b.jsonl:2: not valid JSON" in said[0]
    (docs / "a.txt").write_text("Apples are green.")
    os.utime(docs / "b.jsonl", ns=(1, 1))
    for _ in range(2):
        assert [str(problem) for problem in build_index([docs], tmp_path / "index").problems] == said
    with pytest.raises(DataError, match="not valid JSON"):
        build_index([docs], tmp_path / "index", strict=True)
    (docs / "b.jsonl").write_text('{"id": "Rome", "text": "Rome is old."}\n')
    assert build_index([docs], tmp_path / "index").problems == ()


def test_all_that_was_said_of_a_file_is_said_again(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs")
    (docs / "b.jsonl").write_text('{"id": "Rome", "text": "Rome is old."}\n' + "{broken\n" * 150)
    first, again = (build_index([docs], tmp_path / "index").problems for _ in range(2))
    assert first == again and again[-1].message == "has 50 more bad records."


def test_a_path_that_is_not_utf8_holds_no_index(tmp_path: Path) -> None:
    docs, out = write(tmp_path / "docs", a="Apples are red."), tmp_path / os.fsdecode(b"\xe8ndex")
    with pytest.raises(DataError, match=r"\\xe8ndex: the path of an index must be UTF-8"):
        build_index([docs], out)
    with pytest.raises(DataError, match="must be UTF-8"):
        index_pages([], out)
    with pytest.raises(DataError, match="must be UTF-8"):
        Index.open(out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs"]


def test_an_index_inside_its_own_folder_is_not_read_as_documents(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", a="Apples are red.")
    build_index([docs], docs / "index")
    (docs / "index" / "notes.txt").write_text("Not a document.")
    report = build_index([docs], docs / "index")
    assert (report.unchanged, report.added) == (1, 0)


def test_progress_tells_rate_and_time_left(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", a="Apples are red. They grow.", b="Bananas are yellow.")
    told: list[IndexProgress] = []
    build_index([docs], tmp_path / "index", progress=told.append)
    last = told[-1]
    assert (last.files, last.files_total, last.sentences, last.bytes) == (2, 2, 3, last.bytes_total)
    assert last.eta == 0
    assert last.rate == pytest.approx(3 / last.seconds)
    # Half the bytes in 10 s leave 10 s.
    assert IndexProgress(1, 2, 50, 100, 1, 20, 10.0, files_seconds=10.0).eta == 10.0


def test_pages_from_anywhere_can_be_indexed(tmp_path: Path) -> None:
    pages = [Page("Rome", "Rome", (Sentence("Rome is old .", 0), Sentence("\ud800 is no character .", 4)))]
    report = index_pages(pages, tmp_path / "index")
    assert (report.pages, report.sentences) == (1, 2)
    assert everything(tmp_path / "index") == [
        ("Rome", 0, "Rome is old ."),
        ("Rome", 4, "? is no character ."),
    ]
    index_pages([], tmp_path / "index")
    assert everything(tmp_path / "index") == []


MEMORY = """
import resource, sys
from adjudge.retrieval.build import index_pages
from adjudge.types import Page, Sentence
def pages(count):
    for n in range(count):
        sentences = (Sentence(f"Sentence {n * 10 + i} of word{n % 997} here.", i) for i in range(10))
        yield Page(str(n), f"Page {n}", tuple(sentences))
index_pages(pages(int(sys.argv[1])), sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    def peak(count: int) -> float:
        command = [sys.executable, "-c", MEMORY, str(count), str(tmp_path / f"index{count}")]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert peak(8000) - peak(2000) < 40  # MB for 60,000 sentences more; the writers hold up to a fixed size


def test_building_ends_by_the_clock_it_reports(tmp_path: Path) -> None:
    began = time.monotonic()
    report = build_index([write(tmp_path / "docs", a="Apples are red.")], tmp_path / "index")
    assert 0 < report.seconds <= time.monotonic() - began
    assert report.rate == pytest.approx(1 / report.seconds)
