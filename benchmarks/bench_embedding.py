"""Sentences embedded a second, ours beside the plain way: python benchmarks/bench_embedding.py [PAGES].

PAGES is what `adjudge index` takes (FEVER's wiki dump, a folder of documents); without it the sentences are made up.
*padded* is what sentence-transformers does by itself: batches of 32 in the order of the texts, padded to the longest,
single precision. *sorted* sorts the texts by length first. The contestants take turns on one thread; times are of the
processor, which other programs of the machine do not lengthen. Printed beside the rates: the least cosine between each
way's vectors and those of *padded*.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from adjudge.data.world import iter_pages
from adjudge.encoders.embedder import MAX_TOKENS, Embedder
from adjudge.encoders.loading import load_encoder
from adjudge.encoders.quantised import is_faster
from adjudge.retrieval import Index, build_index, index_pages
from adjudge.retrieval.vectors import Floats, embedded_text
from harness import machine, side_by_side, table
from shelf import hugging_face, hugging_face_tokenizer

BATCH = 32


def padded(texts: Sequence[str], by_length: bool = False) -> Callable[[], Floats]:
    """The plain way: tokenizer, padding, the whole encoder with a mask, the mean of the real tokens."""
    own, own_tokenizer = load_encoder("minilm")
    encoder, tokenizer = hugging_face(own), hugging_face_tokenizer(own_tokenizer)
    order = sorted(range(len(texts)), key=lambda n: len(texts[n])) if by_length else list(range(len(texts)))

    @torch.inference_mode()
    def embed() -> Floats:
        vectors = np.empty((len(texts), encoder.config.hidden_size), np.float32)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            inputs = tokenizer(
                [texts[row] for row in rows],
                padding=True,
                truncation=True,
                max_length=MAX_TOKENS,
                return_tensors="pt",
            )
            states, mask = encoder(**inputs).last_hidden_state, inputs["attention_mask"][..., None]
            mean = (states * mask).sum(1) / mask.sum(1)
            vectors[rows] = torch.nn.functional.normalize(mean, dim=-1).numpy()
        return vectors

    return embed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", type=Path, nargs="?")
    parser.add_argument("--sentences", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        if options.pages is None:
            index_pages(iter_pages(7, options.sentences), Path(folder) / "index")
        else:
            build_index([options.pages], Path(folder) / "index")
        sentences = Index.open(Path(folder) / "index").numbered_sentences(0, options.sentences)
    texts = [embedded_text(sentence.evidence(0.0)) for sentence in sentences]
    contestants = {"padded": padded(texts), "sorted": padded(texts, by_length=True)}
    for precision in ("fp32", "int16"):
        embedder = Embedder.load("minilm", precision=precision)
        contestants[f"adjudge {precision}"] = lambda embedder=embedder: embedder.embed(texts)
    measured = side_by_side(contestants, len(texts), options.rounds, time.process_time)
    print(json.dumps(machine() | {"auto": "int16" if is_faster() else "fp32"}))
    print(table(f"{len(texts)} sentences", measured, "sentences", "padded"))
    expected = contestants["padded"]()
    for name, embed in contestants.items():
        print(f"{name}: least cosine {float((expected * embed()).sum(1).min()):.6f}")


if __name__ == "__main__":
    main()
