"""Texts as unit vectors, by an encoder."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adjudge.types import FEVER_LABELS, Example

if TYPE_CHECKING:
    from adjudge.encoders.backbone import Backbone
    from adjudge.encoders.dataset import Dataset
    from adjudge.encoders.light import LightEncoder

MAX_TOKENS = 128
BATCH_TOKENS = 4096
"""Tokens encoded together; more are no faster on a CPU."""
REMEMBERED = 20_000
"""Embeddings kept: claims over one corpus meet the same sentences again and again (30 MB for MiniLM)."""


class Embedder:
    """Texts → unit vectors: the mean of an encoder's token states, as sentence-transformers takes it.

    Args:
        backbone: the encoder, on its device and in its precision.
        tokenizer: its tokenizer.
        remembered: how many of the last texts' vectors to keep.
        name: the backbone's name or folder.
        sha256: of the encoder's weights; computed from them where it is not given.
    """

    def __init__(
        self,
        backbone: Backbone | LightEncoder,
        tokenizer: Any,
        remembered: int = REMEMBERED,
        name: str = "",
        sha256: str | None = None,
    ) -> None:
        from adjudge.encoders.rows import Layout, RowWriter

        self.backbone = backbone
        self.max_tokens = min(MAX_TOKENS, backbone.max_length or MAX_TOKENS)
        self._writer = RowWriter(tokenizer, Layout(max_length=self.max_tokens))
        self._remembered = remembered
        self._known: OrderedDict[str, npt.NDArray[np.float32]] = OrderedDict()
        self._name, self._sha256 = name, sha256

    @classmethod
    def load(
        cls,
        backbone: str = "minilm",
        device: Any = "cpu",
        precision: str = "fp32",
        runtime: str = "auto",
    ) -> Embedder:
        """The embedder on a backbone by name; see ``set_precision`` for ``precision``, ``runtime`` for ``runtime``."""
        from adjudge.encoders.loading import backbone_sha256, load_encoder
        from adjudge.encoders.runtime import light_precision, read_light, runs_light

        if runs_light(device, precision, runtime):
            light = read_light(backbone, light_precision(precision))
            if light is not None:
                return cls(*light, name=backbone, sha256=backbone_sha256(backbone))
        from adjudge.encoders.backbone import Backbone
        from adjudge.encoders.precision import set_precision

        encoder, tokenizer = load_encoder(backbone)
        module = Backbone(encoder).to(device)
        set_precision(module, precision)
        return cls(module, tokenizer, name=backbone, sha256=backbone_sha256(backbone))

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides the vectors: the encoder's name and weights, and how much of a text it reads."""
        if self._sha256 is None:
            import torch

            from adjudge.encoders.tensors import weights_hash

            if isinstance(self.backbone, torch.nn.Module):
                self._sha256 = weights_hash(self.backbone)
        return {"name": self._name, "sha256": self._sha256, "max_tokens": self.max_tokens}

    def clear_cache(self) -> None:
        """Drop the vectors kept, so that what is embedded next does not depend on what was embedded before.

        A text's vector differs in its last digits with the texts it shares a batch with.
        """
        self._known.clear()

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """(n, d) unit rows, in the order of the texts."""
        vectors = {text: self._known[text] for text in texts if text in self._known}
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        vectors |= zip(new, self.embed(new), strict=True)
        for text, vector in vectors.items():
            self._known[text] = vector
            self._known.move_to_end(text)
        while len(self._known) > self._remembered:
            self._known.popitem(last=False)
        rows = np.empty((len(texts), self.backbone.hidden_size), dtype=np.float32)
        for index, text in enumerate(texts):
            rows[index] = vectors[text]
        return rows

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """(n, d) unit rows in the order of the texts, none taken from or kept in the cache."""
        from adjudge.encoders.dataset import batches_by_length, tokenize

        # A text is a claim without evidence: one row, [CLS] text [SEP].
        rows = tokenize((Example(0, text) for text in texts), self._writer, FEVER_LABELS)
        vectors = np.empty((len(texts), self.backbone.hidden_size), dtype=np.float32)
        for numbers in batches_by_length(rows, BATCH_TOKENS):
            pooled = _mean_states(self.backbone, rows, numbers)
            size = np.sqrt(np.einsum("nd,nd->n", pooled, pooled))[:, None]
            vectors[numbers] = pooled / np.maximum(size, 1e-12)
        return vectors


def _mean_states(
    backbone: Backbone | LightEncoder, rows: Dataset, numbers: list[int]
) -> npt.NDArray[np.float32]:
    """(n, d) the mean of the token states of some rows."""
    from adjudge.encoders.light import LightEncoder

    if isinstance(backbone, LightEncoder):
        return backbone.pooled(rows, numbers)[0]
    import torch

    backbone.eval()
    backbone.pooling = "mean"
    with torch.inference_mode():
        batch = rows.batch(numbers).to(next(backbone.parameters()).device)
        states: npt.NDArray[np.float32] = backbone(batch).pooled.float().cpu().numpy()
    return states


def load_embedder(
    backbone: str = "minilm", device: Any = "cpu", precision: str = "auto", runtime: str = "auto"
) -> Embedder:
    """The process's one embedder on this backbone, device, precision and runtime: what embeds shares it."""
    return _load_embedder(backbone, str(device), precision, runtime)


@lru_cache(maxsize=4)
def _load_embedder(backbone: str, device: str, precision: str, runtime: str) -> Embedder:
    return Embedder.load(backbone, device, precision, runtime)
