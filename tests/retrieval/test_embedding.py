"""The vectors of an index, kept in step with its documents."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from adjudge.encoders.embedder import Embedder, load_embedder
from adjudge.retrieval import embedding
from adjudge.retrieval.build import build_index, index_pages
from adjudge.retrieval.embedding import VectorSettings
from adjudge.retrieval.index import Index
from adjudge.retrieval.progress import IndexProgress
from adjudge.types import Page, Sentence

TINY = VectorSettings("tiny")


def write(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def stored(path: Path) -> dict[str, np.ndarray]:
    """Text → vector of everything in an index, checked against embedding each text again."""
    index = Index.open(path)
    assert index.vectors is not None
    sentences = index.numbered_sentences(0, index.manifest.numbers)
    assert len(index.vectors) == len(sentences) == index.manifest.sentences
    vectors = {}
    for sentence in sentences:
        rows = [(s, s.rows(np.array([sentence.number]))[1]) for s in index.vectors.segments]
        [vector] = [segment.vectors[row[0]] for segment, row in rows if len(row)]
        expected = load_embedder("tiny").embed([f"{sentence.title}. {sentence.text}"])[0]
        np.testing.assert_allclose(vector.astype(np.float32), expected, atol=1e-3)
        vectors[sentence.text] = np.array(vector)
    return vectors


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", a="Apples are red. Apples fall.", b="Bananas are yellow.")


def test_every_sentence_gets_the_vector_of_its_title_and_text(docs: Path, tmp_path: Path) -> None:
    report = build_index([docs], tmp_path / "index", vectors=TINY)
    assert (report.embedded_sentences, report.vectors) == (3, True)
    assert stored(tmp_path / "index").keys() == {"Apples are red.", "Apples fall.", "Bananas are yellow."}


def test_an_index_has_no_vectors_unless_asked_for(docs: Path, tmp_path: Path) -> None:
    assert not build_index([docs], tmp_path / "index").vectors
    assert Index.open(tmp_path / "index").vectors is None


def test_only_new_texts_are_embedded(docs: Path, tmp_path: Path) -> None:
    build_index([docs], tmp_path / "index", vectors=TINY)
    before = stored(tmp_path / "index")
    write(docs, a="Apples are red. Apples rot.", c="Cherries are small.")
    report = build_index([docs], tmp_path / "index")
    assert report.embedded_sentences == 2  # "Apples are red." stayed as it was
    after = stored(tmp_path / "index")
    assert after.keys() == {"Apples are red.", "Apples rot.", "Bananas are yellow.", "Cherries are small."}
    for text in ("Apples are red.", "Bananas are yellow."):
        np.testing.assert_array_equal(after[text], before[text])


def test_the_vectors_of_deleted_documents_are_gone(docs: Path, tmp_path: Path) -> None:
    build_index([docs], tmp_path / "index", vectors=TINY)
    (docs / "b.txt").unlink()
    assert build_index([docs], tmp_path / "index").embedded_sentences == 0
    assert stored(tmp_path / "index").keys() == {"Apples are red.", "Apples fall."}
    (docs / "a.txt").unlink()
    build_index([docs], tmp_path / "index")
    assert stored(tmp_path / "index") == {}


def test_many_small_changes_leave_few_segments(docs: Path, tmp_path: Path) -> None:
    build_index([docs], tmp_path / "index", vectors=TINY)
    for n in range(embedding.MAX_SEGMENTS + 3):
        write(docs, **{f"n{n}": f"Number {n} is here."}, b=f"Bananas cost {n}.")
        build_index([docs], tmp_path / "index")
    vectors = Index.open(tmp_path / "index").vectors
    assert vectors is not None and len(vectors.segments) <= embedding.MAX_SEGMENTS
    assert len(stored(tmp_path / "index")) == 3 + embedding.MAX_SEGMENTS + 3


def test_vectors_can_be_added_and_dropped_while_documents_stay(docs: Path, tmp_path: Path) -> None:
    build_index([docs], tmp_path / "index")
    assert build_index([docs], tmp_path / "index", vectors=TINY).embedded_sentences == 3
    assert build_index([docs], tmp_path / "index", vectors=TINY).embedded_sentences == 0
    assert len(stored(tmp_path / "index")) == 3
    assert not build_index([docs], tmp_path / "index", vectors="drop").vectors
    assert Index.open(tmp_path / "index").vectors is None


def test_another_kind_of_vectors_replaces_all(docs: Path, tmp_path: Path) -> None:
    write(docs, a="Apples are red. They fall.")
    build_index([docs], tmp_path / "index", vectors=TINY)
    report = build_index([docs], tmp_path / "index", vectors=VectorSettings("tiny", context=True))
    assert report.embedded_sentences == 3
    index = Index.open(tmp_path / "index")
    assert index.vectors is not None and index.vectors.record.embedder["context"] is True
    query = load_embedder("tiny").embed(["a. Apples are red. They fall."])
    [hits] = index.vectors.search(query, 1)
    assert index.numbered_sentences(hits.numbers[0], hits.numbers[0] + 1)[0].text == "They fall."
    assert hits.cosines[0] == pytest.approx(1, abs=1e-3)


def test_large_indexes_get_none_by_themselves_but_keep_what_they_have(docs: Path, tmp_path: Path) -> None:
    automatic = VectorSettings("tiny", limit=3)
    write(docs, c="Cherries are small.")
    assert not build_index([docs], tmp_path / "index", vectors=automatic).vectors
    (docs / "c.txt").unlink()
    assert build_index([docs], tmp_path / "index", vectors=automatic).vectors
    write(docs, c="Cherries are small.")
    assert build_index([docs], tmp_path / "index", vectors=automatic).embedded_sentences == 1


def test_pages_from_anywhere_can_have_vectors(tmp_path: Path) -> None:
    pages = [Page("Rome", "Rome", (Sentence("Rome is old .", 0), Sentence("\ud800 is no character .", 4)))]
    assert index_pages(pages, tmp_path / "index", vectors=TINY).embedded_sentences == 2
    vectors = Index.open(tmp_path / "index").vectors
    assert vectors is not None and len(vectors) == 2


def test_progress_says_how_many_are_left_and_how_long_it_takes(docs: Path, tmp_path: Path) -> None:
    seen: list[IndexProgress] = []
    build_index([docs], tmp_path / "index", seen.append, vectors=TINY)
    last = seen[-1]
    assert (last.embedded, last.to_embed, last.embedding_eta) == (3, 3, 0.0)


def test_an_index_that_is_open_keeps_its_vectors_while_it_is_rebuilt(docs: Path, tmp_path: Path) -> None:
    build_index([docs], tmp_path / "index", vectors=TINY)
    opened = Index.open(tmp_path / "index")
    write(docs, a="Apples are green.", b="Bananas are brown.")
    build_index([docs], tmp_path / "index")
    assert opened.vectors is not None
    [hits] = opened.vectors.search(load_embedder("tiny").embed(["a. Apples are red."]), 1)
    assert opened.numbered_sentences(hits.numbers[0], hits.numbers[0] + 1)[0].text == "Apples are red."


KILLED = """
import os, signal, sys
from adjudge.retrieval import build, embedding
from adjudge.encoders.embedder import Embedder
stage, embed, count = sys.argv[3], Embedder.embed, 0
embedding.PORTION = embedding.SAMPLE = 10
def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
def embed_some(self, texts):
    global count
    count += 1
    if count > 3: kill()
    return embed(self, texts)
if stage == "embedding":
    Embedder.embed = embed_some
elif stage == "embedded":
    build.write_sources = kill
else:
    build.write_manifest = kill
build.build_index([sys.argv[1]], sys.argv[2], vectors=embedding.VectorSettings("tiny"))
"""


@pytest.mark.parametrize(("stage", "left"), [("embedding", 30), ("embedded", 60), ("unnamed", 60)])
def test_a_build_killed_at_any_stage_goes_on_with_what_it_has_embedded(
    docs: Path, tmp_path: Path, stage: str, left: int
) -> None:
    index = tmp_path / "index"
    build_index([docs], index, vectors=TINY)
    before = stored(index)
    write(docs, c=" ".join(f"Number {n} is here." for n in range(60)))
    command = [sys.executable, "-c", KILLED, str(docs), str(index), stage]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert stored(index).keys() == before.keys()
    report = build_index([docs], index)
    assert report.embedded_sentences == 60 - left
    assert len(stored(index)) == 63
    assert not (index / ".embedding").exists()
    assert len(list(index.glob("g*"))) == 1


RANDOMLY_KILLED = """
import os, random, signal, sys, time
import torch  # once, rather than in every child
from adjudge.retrieval import build, embedding
embedding.PORTION = embedding.SAMPLE = 5
random.seed(int(sys.argv[3]))

def build_once(index):
    settings = embedding.VectorSettings("tiny")
    build.build_index([sys.argv[1]], index, vectors=settings)

def in_child(index, delay=None):
    child = os.fork()
    if not child:
        build_once(index)
        os._exit(0)
    began = time.monotonic()
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return status, time.monotonic() - began

_, seconds = in_child(sys.argv[2] + "-whole")
statuses = [in_child(sys.argv[2], random.uniform(0, seconds))[0] for _ in range(6)]
assert signal.SIGKILL in statuses, "every build ended before its time"
assert in_child(sys.argv[2])[0] == 0
"""


def test_a_build_killed_at_random_moments_ends_as_one_that_was_not(docs: Path, tmp_path: Path) -> None:
    """One process that forks the builds, so that the libraries are loaded once."""
    write(docs, c=" ".join(f"Number {n} is here." for n in range(60)))
    index = tmp_path / "index"
    command = [sys.executable, "-c", RANDOMLY_KILLED, str(docs), str(index), "0"]
    subprocess.run(command, check=True, timeout=300)
    resumed, whole = stored(index), stored(tmp_path / "index-whole")
    assert resumed.keys() == whole.keys() and len(whole) == 63
    for text, vector in whole.items():
        np.testing.assert_allclose(resumed[text], vector, atol=1e-3)  # half precision, other batches
    assert not (index / ".embedding").exists()
    assert len(list(index.glob("g*"))) == 1


def test_a_torn_end_of_the_journal_is_embedded_again(docs: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    write(docs, c=" ".join(f"Number {n} is here." for n in range(60)))
    command = [sys.executable, "-c", KILLED, str(docs), str(index), "embedded"]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    journal = index / ".embedding" / "keys"
    journal.write_bytes(journal.read_bytes()[:-12])  # one key lost, half of another
    assert build_index([docs], index, vectors=TINY).embedded_sentences == 2
    assert len(stored(index)) == 63


def test_a_failing_embedder_leaves_the_index_as_it_was(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_index([docs], tmp_path / "index", vectors=TINY)
    before = stored(tmp_path / "index")
    write(docs, c="Cherries are small.")

    def fail(self: Embedder, texts: list[str]) -> np.ndarray:
        raise ZeroDivisionError

    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr(Embedder, "embed", fail)
        build_index([docs], tmp_path / "index")
    assert stored(tmp_path / "index").keys() == before.keys()
    assert build_index([docs], tmp_path / "index").embedded_sentences == 1
