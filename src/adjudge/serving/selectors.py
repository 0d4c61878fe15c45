"""Selectors by name: what the retrieval room asks for, made of models."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adjudge.data.text import clean_text, evidence_title
from adjudge.errors import ConfigError
from adjudge.retrieval.select import LexicalSelector, ScoredSelector, Selector
from adjudge.types import FEVER_LABELS, Evidence, Example

if TYPE_CHECKING:
    from torch import nn

    from adjudge.models import Backbone

NAMES = ("lexical", "fusion")
MAX_TOKENS = 128
BATCH_ROWS = 64
SIMILARITY_WEIGHT = 0.5
"""What similarity weighs against the retriever's score: docs/retrieval.md says how it was chosen."""
REMEMBERED = 20_000
"""Embeddings kept: claims over one corpus meet the same sentences again and again (30 MB for MiniLM)."""


def load_selector(name: str) -> Selector:
    """``lexical`` (the retriever's order), ``fusion`` (with MiniLM's similarity), or a trained ranker's folder."""
    if name == "lexical":
        return LexicalSelector()
    if name == "fusion":
        return ScoredSelector(Similarity(Embedder.load("minilm")), SIMILARITY_WEIGHT)
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise ConfigError(
            f"Selector {name!r} is neither one of {', '.join(NAMES)} nor the folder of a trained ranker.\n"
            "Train one: adjudge train-ranker --help."
        )
    from adjudge.training.ranking import load_ranker

    ranker = load_ranker(folder)
    return ScoredSelector(ranker, ranker.weight)


@dataclass(frozen=True)
class Similarity:
    """Scores a sentence by cos(claim, title and sentence)."""

    embed: Embedder

    def __call__(self, claim: str, sentences: Sequence[Evidence]) -> list[float]:
        """One cosine per sentence."""
        texts = [clean_text(claim)]
        for sentence in sentences:
            title, text = evidence_title(sentence), clean_text(sentence.text)
            texts.append(f"{title}. {text}" if title else text)
        vectors = self.embed(texts)
        cosines: list[float] = (vectors[1:] @ vectors[0]).tolist()
        return cosines


class Embedder:
    """Texts → unit vectors: the mean of an encoder's token states, as sentence-transformers takes it.

    Args:
        backbone: the encoder.
        tokenizer: its tokenizer.
        remembered: how many of the last texts' vectors to keep.
    """

    def __init__(self, backbone: Backbone, tokenizer: Any, remembered: int = REMEMBERED) -> None:
        from adjudge.training.rows import Layout, RowWriter

        self.backbone = backbone.eval()
        longest = min(MAX_TOKENS, backbone.max_length or MAX_TOKENS)
        self._writer = RowWriter(tokenizer, Layout(max_length=longest))
        self._remembered = remembered
        self._known: OrderedDict[str, npt.NDArray[np.float32]] = OrderedDict()

    @classmethod
    def load(cls, backbone: str = "minilm") -> Embedder:
        """The embedder on a backbone by name."""
        from adjudge.models import Backbone
        from adjudge.models.loading import load_encoder

        encoder, tokenizer = load_encoder(backbone)
        return cls(Backbone(encoder), tokenizer)

    def forget(self) -> None:
        """Drop the vectors kept: what is embedded next does not hang on what was embedded before.

        A text's vector differs in its last digits with the texts it shares a batch with.
        """
        self._known.clear()

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """(n, d) unit rows, in the order of the texts."""
        vectors = {text: self._known[text] for text in texts if text in self._known}
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        vectors |= zip(new, self._encode(new), strict=True)
        for text, vector in vectors.items():
            self._known[text] = vector
            self._known.move_to_end(text)
        while len(self._known) > self._remembered:
            self._known.popitem(last=False)
        found = np.empty((len(texts), self.backbone.hidden_size), dtype=np.float32)
        for place, text in enumerate(texts):
            found[place] = vectors[text]
        return found

    def _encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        import torch
        from torch.nn.functional import normalize

        from adjudge.training.dataset import chunks, tokenize

        # A text is a claim without evidence: one row, [CLS] text [SEP].
        rows = tokenize((Example(0, text) for text in texts), self._writer, FEVER_LABELS)
        vectors = np.empty((len(texts), self.backbone.hidden_size), dtype=np.float32)
        for places in chunks(np.argsort(rows.claim_tokens(), kind="stable").tolist(), BATCH_ROWS):
            batch = rows.batch(places)
            inside = torch.arange(batch.input_ids.shape[1]) < batch.lengths[:, None]  # (R, L)
            with torch.inference_mode():
                states = self.backbone(batch).states * inside[..., None]  # (R, L, d)
                vectors[places] = normalize(states.sum(dim=1), dim=-1).numpy()
        return vectors


def forget(selector: Selector) -> None:
    """Drop what a selector remembers of earlier claims."""
    if isinstance(selector, ScoredSelector) and isinstance(selector.score, Similarity):
        selector.score.embed.forget()


def selector_identity(selector: Selector) -> dict[str, Any]:
    """What decides the choices of a selector: its settings and, where a model scores, that model's weights."""
    found: dict[str, Any] = {"kind": type(selector).__name__}
    if isinstance(selector, ScoredSelector):
        from adjudge.training.ranker import TrainedRanker

        score = selector.score
        found |= {"score": type(score).__name__, "weight": selector.weight, "spread": selector.spread}
        if isinstance(score, Similarity):
            found["weights"] = weights_hash(score.embed.backbone)
        elif isinstance(score, TrainedRanker):
            found["settings"] = score.settings.model_dump(mode="json")
            found["weights"] = weights_hash(score.module)
    return found


def weights_hash(module: nn.Module) -> str:
    """A hash of a model's weights by name."""
    digest = hashlib.sha256()
    for name, weight in module.state_dict().items():
        digest.update(name.encode())
        digest.update(weight.detach().cpu().contiguous().view(-1).numpy().tobytes())
    return digest.hexdigest()
