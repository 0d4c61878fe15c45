"""Sentences found by their meaning, beside those found by their words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from adjudge.errors import ConfigError
from adjudge.retrieval import LexicalSelector, embedding, load_selector
from adjudge.retrieval.build import index_pages
from adjudge.retrieval.embedding import VectorSettings
from adjudge.retrieval.index import Index
from adjudge.retrieval.lexical import RetrievalSettings
from adjudge.retrieval.retriever import IndexRetriever, open_retriever
from adjudge.retrieval.selectors import Similarity
from adjudge.retrieval.sets import SetSelector
from adjudge.types import Page, Sentence

SENTENCES = (
    "The defendant was acquitted of all charges.",
    "The accused person wore a hat.",
    "Rain falls in York.",
    "A verdict of the jury is final.",
)
CLAIM = "The accused was found not guilty."
# The claim lies along the first axis, so that a sentence's cosine is its first coordinate.
ANGLES = {
    CLAIM: 1.0,
    "Xylophones hum.": -1.0,
    SENTENCES[0]: 0.9,
    SENTENCES[1]: 0.3,
    SENTENCES[2]: 0.1,
    SENTENCES[3]: 0.5,
}


class Compass:
    """An embedder into the plane that knows a few texts."""

    identity = {"name": "compass", "sha256": "0", "max_tokens": 9}
    backbone = SimpleNamespace(hidden_size=2)

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(list(texts))
        # A page without a title is called by its id.
        cosines = np.array([ANGLES[re.sub(r"^p\d\. ", "", text)] for text in texts], np.float32)
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)

    embed = __call__


@pytest.fixture
def compass(monkeypatch: pytest.MonkeyPatch) -> Compass:
    embedder = Compass()
    monkeypatch.setattr(embedding, "load_embedder", lambda name: embedder)
    monkeypatch.setattr("adjudge.retrieval.retriever.load_embedder", lambda *_: embedder)
    return embedder


@pytest.fixture
def index(compass: Compass, tmp_path: Path) -> Index:
    pages = [Page(f"p{n}", "", (Sentence(text, n),)) for n, text in enumerate(SENTENCES)]
    index_pages(pages, tmp_path / "index", vectors=VectorSettings("compass"))
    compass.calls.clear()
    return Index.open(tmp_path / "index")


def texts(evidence: Sequence[Any]) -> list[str]:
    return [sentence.text for sentence in evidence]


def test_a_sentence_that_shares_no_word_with_the_claim_is_found(index: Index) -> None:
    assert SENTENCES[0] not in texts(IndexRetriever(index).retrieve(CLAIM, 4))
    found = open_retriever(index).retrieve(CLAIM, 4)
    assert SENTENCES[0] in texts(found)
    assert {s.text: s.similarity for s in found}[SENTENCES[0]] == pytest.approx(0.9, abs=1e-3)


def test_words_and_meaning_together_make_the_order(index: Index) -> None:
    # By words "accused" is alone: ½ · 1 + ½ · .3 = .65 against ½ · .9 and ½ · .5 of those found by meaning.
    order = [SENTENCES[1], SENTENCES[0], SENTENCES[3]]
    assert texts(open_retriever(index).retrieve(CLAIM, 4)) == order  # rain is below the least similarity
    by_meaning = IndexRetriever(
        index, RetrievalSettings(similarity_weight=1.0), open_retriever(index).embedder
    )
    assert texts(by_meaning.retrieve(CLAIM, 2)) == [SENTENCES[0], SENTENCES[3]]


@pytest.mark.parametrize(
    ("setting", "value"), [("nearest", 1), ("similarity_weight", 1.0), ("min_similarity", 0.6)]
)
def test_every_setting_changes_something(index: Index, setting: str, value: float) -> None:
    plain = open_retriever(index)
    changed = replace(plain, settings=RetrievalSettings(**{setting: value}))  # type: ignore[arg-type]
    assert changed.retrieve(CLAIM, 4) != plain.retrieve(CLAIM, 4)


def test_what_resembles_nothing_finds_nothing(index: Index) -> None:
    assert open_retriever(index).retrieve("Xylophones hum.", 5) == []


def test_many_claims_are_embedded_together_and_get_what_each_gets_alone(
    index: Index, compass: Compass
) -> None:
    retriever = open_retriever(index)
    claims = [CLAIM, "Xylophones hum.", SENTENCES[2]]
    together = retriever.retrieve_many(claims, 3)
    assert compass.calls == [claims]
    assert together == [retriever.retrieve(claim, 3) for claim in claims]
    assert retriever.retrieve_many([], 3) == []
    assert retriever.retrieve_many(claims, 0) == [[], [], []]


def test_selection_embeds_nothing_again(index: Index, compass: Compass) -> None:
    candidates = open_retriever(index).retrieve(CLAIM, 4)
    compass.calls.clear()
    selector = load_selector("fusion", embedder=compass)  # type: ignore[arg-type]
    assert isinstance(selector, SetSelector) and isinstance(selector.scorer, Similarity)
    assert texts(selector.select(CLAIM, candidates, 2)) == [SENTENCES[1], SENTENCES[0]]
    assert compass.calls == []


@pytest.mark.parametrize("selector", ["lexical", LexicalSelector()])
def test_the_lexical_selector_needs_no_model(index: Index, compass: Compass, selector: str) -> None:
    retriever = open_retriever(index, selector)
    assert retriever.embedder is None
    assert [s.similarity for s in retriever.retrieve(CLAIM, 4)] == [None]
    assert compass.calls == []


def test_gold_pages_are_looked_into_with_similarities(index: Index) -> None:
    [sentence] = open_retriever(index).retrieve_within(CLAIM, ["p0"], 3)
    assert (sentence.text, sentence.similarity) == (SENTENCES[0], pytest.approx(0.9, abs=1e-3))


def test_an_embedder_that_has_changed_is_refused(index: Index, compass: Compass) -> None:
    compass.identity = {**compass.identity, "sha256": "1"}
    with pytest.raises(ConfigError, match="another embedder"):
        open_retriever(index)


def test_an_identity_tells_words_from_meaning(index: Index) -> None:
    assert open_retriever(index).identity != open_retriever(index, "lexical").identity
