"""The verifier: a trained verdict model behind a few plain calls."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from adjudge.errors import ConfigError, DataError
from adjudge.retrieval.pipeline import CANDIDATES, EvidencePipeline
from adjudge.retrieval.protocol import Retriever
from adjudge.retrieval.search import IndexRetriever
from adjudge.retrieval.select import Selector
from adjudge.serving.corpus import open_corpus
from adjudge.serving.selectors import forget, load_selector
from adjudge.training.checkpoint import VerdictModel
from adjudge.training.dataset import chunks
from adjudge.training.precision import set_precision
from adjudge.training.predict import predict
from adjudge.training.shipped import load_any
from adjudge.types import MAX_EVIDENCE, Claim, Evidence, Example, Label, Verdict

WINDOW = 32
"""Claims whose evidence is found before the model weighs it, all in one pass."""

NO_CORPUS = "No corpus: name an index, a folder or a file of documents."

Corpus = str | os.PathLike[str] | Retriever


class Verifier:
    """Finds evidence for claims and weighs it.

    Args:
        model: a trained verdict model; :meth:`load` reads one from a run folder.
        corpus: where to look when a call names no corpus: an index, a folder or file of documents, or any
            object with ``retrieve(claim, k)``.
        selector: what chooses among the sentences found: ``lexical``, ``fusion``, the folder of a trained
            ranker, or any object with ``select(claim, candidates, k)``. Loaded when first needed.
        k: sentences the model reads for a claim, at most five.
        candidates: sentences the selector chooses from.
        temperature: what the model's log-probabilities are divided by.
        min_confidence: a verdict less probable than this is marked ``abstained``.
    """

    def __init__(
        self,
        model: VerdictModel,
        corpus: Corpus | None = None,
        selector: str | Selector = "fusion",
        k: int = MAX_EVIDENCE,
        candidates: int = CANDIDATES,
        temperature: float = 1.0,
        min_confidence: float = 0.0,
    ) -> None:
        if not 1 <= k <= MAX_EVIDENCE:
            raise ConfigError(f"k = {k}: a verdict rests on 1 to {MAX_EVIDENCE} sentences.")
        if candidates < k:
            raise ConfigError(f"candidates = {candidates}: expected at least k = {k}.")
        if not 0 <= min_confidence <= 1:
            raise ConfigError(f"min_confidence = {min_confidence}: expected a probability, 0 to 1.")
        self.model = model
        self.corpus = corpus
        self.selector = selector
        self.k = k
        self.candidates = candidates
        self.temperature = temperature
        self.min_confidence = min_confidence
        self._loaded: Selector | None = None
        self._opened: dict[str, IndexRetriever] = {}

    @classmethod
    def load(
        cls,
        run: str | Path | None = None,
        corpus: Corpus | None = None,
        selector: str | Selector = "fusion",
        k: int = MAX_EVIDENCE,
        candidates: int = CANDIDATES,
        device: Any = "cpu",
        min_confidence: float = 0.0,
        precision: str = "auto",
    ) -> Verifier:
        """The verifier of a run folder, a checkpoint or a shipped model; by default the one of the package.

        ``precision`` is ``fp32``, ``int8`` (the encoder in whole numbers) or ``auto``: what suits the device.
        """
        loaded = load_any(run)
        loaded.model.module.to(device)
        set_precision(loaded.model, precision)
        return cls(loaded.model, corpus, selector, k, candidates, loaded.temperature, min_confidence)

    def verify(self, claim: str, corpus: Corpus | None = None) -> Verdict:
        """The verdict on a claim from what the corpus says about it.

        Where nothing is found the verdict is NOT ENOUGH INFO, and its ``reason`` says why.
        """
        if not claim.strip():
            raise ConfigError("The claim is empty.")
        return next(self.verify_many([claim], corpus))

    def verify_many(
        self, claims: Iterable[str | Claim], corpus: Corpus | None = None, inject_gold: bool = False
    ) -> Iterator[Verdict]:
        """A verdict for each claim, in order, holding a few of them in memory.

        Texts are numbered from 0; labels and gold that records may carry are not looked at, unless
        ``inject_gold`` offers the selector the sentences of the gold pages too: every verdict then says so.
        """
        retriever = self.retriever(corpus)
        pipeline = EvidencePipeline(retriever, self.chooser(), self.candidates, self.k)
        if inject_gold:
            if not isinstance(retriever, IndexRetriever):
                raise ConfigError(
                    f"Gold pages can be looked up in an index, not in a {type(retriever).__name__}."
                )
            pipeline = pipeline.with_gold(retriever.retrieve_within)
        return self._verify(claims, pipeline)

    def classify(self, claim: str, evidence: Iterable[str | Evidence]) -> Verdict:
        """A verdict on evidence given by the caller: texts, or records that also say where they stand."""
        if not claim.strip():
            raise ConfigError("The claim is empty.")
        sentences = tuple(Evidence(item) if isinstance(item, str) else item for item in evidence)
        if len(sentences) > MAX_EVIDENCE:
            raise ConfigError(f"{len(sentences)} evidence sentences, expected at most {MAX_EVIDENCE}.")
        return next(self.classify_many([Example(0, claim, sentences)]))

    def classify_many(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        """A verdict for each example, in order, batched."""
        for verdict in predict(self.model, examples, temperature=self.temperature):
            weak = verdict.confidence < self.min_confidence
            yield replace(verdict, abstained=True) if weak else verdict

    def retriever(self, corpus: Corpus | None = None) -> Retriever:
        """What searches a corpus, by default the verifier's own.

        A path is opened once (and documents indexed if need be); later calls see it as it was then.
        """
        corpus = self.corpus if corpus is None else corpus
        if corpus is None:
            raise ConfigError(NO_CORPUS)
        if not isinstance(corpus, (str, os.PathLike)):
            return corpus
        key = os.path.abspath(corpus)
        if key not in self._opened:
            self._opened[key] = IndexRetriever(open_corpus(corpus))
        return self._opened[key]

    def forget(self) -> None:
        """Drop what the selector remembers, so that the next verdicts do not hang on earlier claims."""
        forget(self.chooser())

    def chooser(self) -> Selector:
        """The selector, loaded if it was only named."""
        if self._loaded is None:
            self._loaded = load_selector(self.selector) if isinstance(self.selector, str) else self.selector
        return self._loaded

    def _verify(self, claims: Iterable[str | Claim], pipeline: EvidencePipeline) -> Iterator[Verdict]:
        for window in chunks(_records(claims, pipeline.injected), WINDOW):
            examples = [pipeline.example(claim) for claim in window]
            weighed = iter(self.classify_many([example for example in examples if example.evidence]))
            for example in examples:
                yield next(weighed) if example.evidence else self._nothing_found(example, pipeline.retriever)

    def _nothing_found(self, example: Example, retriever: Retriever) -> Verdict:
        """NOT ENOUGH INFO, which needs no model to say."""
        label = Label.NOT_ENOUGH_INFO.value
        empty = isinstance(retriever, IndexRetriever) and not retriever.index.manifest.sentences
        reason = "the corpus is empty" if empty else "nothing in the corpus matches the claim"
        probabilities = {**dict.fromkeys(self.model.labels, 0.0), label: 1.0}
        return Verdict(
            example.id, example.claim, label, probabilities, (), reason, gold_injected=example.gold_injected
        )


def _records(claims: Iterable[str | Claim], with_gold: bool) -> Iterator[Claim]:
    for number, claim in enumerate(claims):
        if isinstance(claim, str):
            record = Claim(number, claim)
        else:
            record = replace(claim, label=None, gold=claim.gold if with_gold else ())
        if not record.text.strip():
            raise DataError(f"Claim {record.id!r} is empty.")
        yield record
