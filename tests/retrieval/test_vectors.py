"""Sentence vectors on disk: searched exactly, and the same however they were made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adjudge.encoders.embedder import load_embedder
from adjudge.errors import ConfigError
from adjudge.retrieval import vectors as module
from adjudge.retrieval.storage import VectorRecord
from adjudge.retrieval.vectors import SentenceVectors, embedded_text, segment_files, sign_codes, text_key
from adjudge.types import Evidence

EMBEDDER = {"name": "tiny", "sha256": "tiny", "max_tokens": 128}


def write_segment(folder: Path, name: str, numbers: list[int], rows: np.ndarray) -> None:
    folder.mkdir(exist_ok=True)
    keys = np.zeros(len(numbers), np.uint64)
    arrays = (np.array(numbers, np.int64), rows.astype(np.float16), keys, sign_codes(rows))
    for path, array in zip(segment_files(folder, name), arrays, strict=True):
        path.write_bytes(array.tobytes())


def unit_rows(count: int, dimension: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))


@pytest.fixture
def rows() -> np.ndarray:
    return unit_rows(50, 8, seed=1)


@pytest.fixture
def opened(tmp_path: Path, rows: np.ndarray) -> SentenceVectors:
    """Numbers 0–29 without 4 and 5, then 100–119."""
    numbers = [-1 if n in (4, 5) else n for n in range(30)]
    write_segment(tmp_path / "vectors", "a", numbers, rows[:30])
    write_segment(tmp_path / "vectors", "b", list(range(100, 120)), rows[30:])
    return SentenceVectors.open(tmp_path, VectorRecord(EMBEDDER, 8, ["a", "b"]))


def naive(rows: np.ndarray, query: np.ndarray, k: int) -> list[int]:
    """Best numbers by comparing one after the other."""
    scores = {}
    for row, vector in enumerate(rows.astype(np.float16).astype(np.float32)):
        if row not in (4, 5):
            scores[row if row < 30 else row + 70] = sum(
                float(a) * float(b) for a, b in zip(vector, query, strict=True)
            )
    return sorted(scores, key=lambda number: -scores[number])[:k]


@pytest.mark.parametrize("block", [7, 1000])
def test_a_search_finds_what_comparing_every_sentence_finds(
    opened: SentenceVectors, rows: np.ndarray, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SEARCH_ROWS", block)
    queries = unit_rows(5, 8, seed=2)
    for query, hits in zip(queries, opened.search(queries, 6), strict=True):
        assert hits.numbers.tolist() == naive(rows, query, 6)
        assert (np.diff(hits.cosines) <= 0).all()


def test_removed_sentences_are_never_found(opened: SentenceVectors, rows: np.ndarray) -> None:
    [hits] = opened.search(rows[4:5], 100)
    assert len(hits.numbers) == len(opened) == 48
    assert not {-1, 4, 5} & set(hits.numbers.tolist())


def native_only() -> None:
    if not module.has_native():
        pytest.skip("no native library here")


def test_signs_are_one_bit_for_each_number_in_whole_words() -> None:
    vectors = np.array([[1, -1, 0.5] + [-1] * 62 + [1], [-1] * 66])  # 66 numbers: two words
    codes = sign_codes(vectors)
    assert codes.shape == (2, 2)
    assert [sum(int(word).bit_count() for word in row) for row in codes] == [3, 0]


def test_the_nearest_signs_are_those_that_differ_in_the_fewest_bits() -> None:
    native_only()
    rows = unit_rows(300, 128, seed=4)
    codes, query = sign_codes(rows), sign_codes(unit_rows(1, 128, seed=5))[0]
    distances = [sum((int(a) ^ int(b)).bit_count() for a, b in zip(row, query, strict=True)) for row in codes]
    nearest = module.nearest_codes(codes, query, 20)
    limit = sorted(distances)[19]
    assert nearest.tolist() == [row for row, distance in enumerate(distances) if distance <= limit]


def test_signs_first_finds_what_comparing_all_finds(tmp_path: Path) -> None:
    native_only()
    centres = unit_rows(40, 384, seed=6)
    rows = np.repeat(centres, 100, axis=0) + unit_rows(
        4000, 384, seed=7
    )  # forty topics of a hundred sentences
    rows /= np.sqrt((rows**2).sum(axis=1, keepdims=True))
    numbers = [-1 if n % 10 == 0 else n for n in range(4000)]
    write_segment(tmp_path / "vectors", "a", numbers, rows)
    opened = SentenceVectors.open(tmp_path, VectorRecord(EMBEDDER, 384, ["a"]))
    for query, exact in zip(centres[:5], opened.search_exactly(centres[:5], 10), strict=True):
        assert opened.search_signs(query, 10).numbers.tolist() == exact.numbers.tolist()


@pytest.mark.parametrize("count", [1, 9])
def test_products_are_summed_in_single_precision(count: int) -> None:
    rows, queries = unit_rows(40, 64, seed=8).astype(np.float16), unit_rows(count, 64, seed=9)
    expected = rows.astype(np.float64) @ queries.T.astype(np.float64)
    np.testing.assert_allclose(module.similarities(rows, queries), expected, atol=1e-6)


def test_cosines_of_single_sentences_are_those_of_the_search(
    opened: SentenceVectors, rows: np.ndarray
) -> None:
    query = unit_rows(1, 8, seed=3)
    [hits] = opened.search(query, 48)
    expected = dict(zip(hits.numbers.tolist(), hits.cosines.tolist(), strict=True))
    numbers = [100, 3, 29, 119, 6]
    assert opened.cosines(query[0], numbers).tolist() == pytest.approx(
        [expected[n] for n in numbers], abs=1e-6
    )


def test_a_sentence_without_a_vector_has_no_similarity(opened: SentenceVectors, rows: np.ndarray) -> None:
    assert opened.cosines(rows[4], [4, 5, 60, 999]).tolist() == [0, 0, 0, 0]
    assert opened.cosines(rows[4], []).tolist() == []


def test_another_embedder_is_refused_with_both_named(opened: SentenceVectors) -> None:
    opened.check(EMBEDDER)
    with pytest.raises(ConfigError, match="made by another embedder.*tiny.*other"):
        opened.check({**EMBEDDER, "sha256": "other"})


def test_files_that_do_not_fit_together_are_refused(tmp_path: Path, rows: np.ndarray) -> None:
    write_segment(tmp_path / "vectors", "a", [1, 2, 3], rows[:2])
    with pytest.raises(ValueError, match="differ in length"):
        SentenceVectors.open(tmp_path, VectorRecord(EMBEDDER, 8, ["a"]))


def test_a_text_is_embedded_after_its_title_and_context() -> None:
    sentence = Evidence("It stands 41 m tall .", "x.txt", title="Coast", context="The lighthouse is old .")
    assert embedded_text(sentence) == "Coast. It stands 41 m tall."
    assert embedded_text(sentence, context=True) == "Coast. The lighthouse is old. It stands 41 m tall."
    assert embedded_text(Evidence("Rain."), context=True) == "Rain."


def test_equal_texts_and_no_others_have_equal_keys() -> None:
    texts = ["", "a", "b", "a ", "\ud800", "ä"]
    assert len({text_key(text) for text in texts}) == len(texts)
    assert text_key("ä") == text_key("ä")


def test_a_vector_does_not_depend_on_its_batch() -> None:
    embedder = load_embedder("tiny", precision="fp32")
    texts = [f"{'long ' * (n % 17)}text number {n}" for n in range(60)]
    together = embedder.embed(texts)
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5, rtol=0)
    np.testing.assert_allclose((together**2).sum(axis=1), 1, atol=1e-5)
