"""The verifier: finds evidence for claims and has a judge weigh it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from adjudge.data.text import expect_text
from adjudge.encoders.device import device_name
from adjudge.errors import ConfigError, DataError
from adjudge.io.chunks import chunks
from adjudge.judges.folder import load_judge
from adjudge.judges.protocol import Judge
from adjudge.retrieval.analysis import MAX_QUERY_CHARACTERS
from adjudge.retrieval.corpus import open_corpus
from adjudge.retrieval.index import Index
from adjudge.retrieval.pipeline import WINDOW, EvidencePipeline
from adjudge.retrieval.protocol import (
    Retriever,
    Selector,
    SingleRetriever,
    SingleSelector,
    as_retriever,
    as_selector,
)
from adjudge.retrieval.retriever import IndexRetriever, open_retriever, searches_by_meaning
from adjudge.retrieval.selectors import check_selector, clear_cache, load_selector
from adjudge.serving.settings import VerifierSettings
from adjudge.types import Claim, ClaimId, Evidence, Example, Verdict

if TYPE_CHECKING:
    from adjudge.serving.check.check import CheckOptions
    from adjudge.serving.check.records import Check

Name = str | os.PathLike[str]
Corpus = Name | Retriever | SingleRetriever


class Verifier:
    """Finds evidence for claims and weighs it.

    Args:
        settings: which model, corpus and selector to use, and how; by default the package's own model.
        judge: weighs the evidence, instead of the model that the settings name.
        corpus: where to look when a call names no corpus, instead of the settings' corpus: any object with
            ``retrieve_many(claims, k)`` or ``retrieve(claim, k)``.
        selector: selects among the sentences retrieved, instead of the settings' selector: any object with
            ``select_many(claims, candidates, k)`` or ``select(claim, candidates, k)``.
    """

    def __init__(
        self,
        settings: VerifierSettings | None = None,
        *,
        judge: Judge | None = None,
        corpus: Retriever | SingleRetriever | None = None,
        selector: Selector | SingleSelector | None = None,
    ) -> None:
        self.settings = settings = settings or VerifierSettings()
        self._corpus = None if corpus is None else as_retriever(corpus)
        self._selector = None if selector is None else as_selector(selector)
        self._opened: dict[str, IndexRetriever] = {}
        if self._corpus is None and settings.corpus is not None and not settings.corpus.exists():
            raise DataError(f"{settings.corpus}: no such index, folder or file.")
        if self._selector is None:
            check_selector(settings.selector)
        self._device = device_name(settings.device)
        self.judge = judge or load_judge(
            settings.model, self._device, settings.precision, runtime=settings.runtime
        )
        most = self.judge.max_evidence
        if most is not None and settings.k > most:
            raise ConfigError(f"k = {settings.k}: this model reads at most {most} sentences.")

    @classmethod
    def load(
        cls,
        model: Name | Judge | None = None,
        corpus: Corpus | None = None,
        selector: Name | Selector | SingleSelector | None = None,
        **settings: Any,
    ) -> Verifier:
        """The verifier of a model: ``small`` (the default), the folder of a run, a checkpoint or an export, a judge.

        Args:
            model: which model.
            corpus: where to look when a call names no corpus: an index, a folder or file of documents, or an object.
            selector: what selects the sentences: a name, a ranker's folder, or an object.
            settings: any other field of :class:`VerifierSettings`.
        """
        objects: dict[str, Any] = {}
        for field, role, value in (
            ("model", "judge", model),
            ("corpus", "corpus", corpus),
            ("selector", "selector", selector),
        ):
            if isinstance(value, (str, os.PathLike)):
                settings[field] = value
            elif value is not None:
                objects[role] = value
        if "judge" in objects and not hasattr(model, "judge"):
            raise ConfigError(f"model: expected a name, a folder or a judge, found {type(model).__name__}.")
        return cls(VerifierSettings(**settings), **objects)

    def verify(self, claim: str, corpus: Corpus | None = None) -> Verdict:
        """The verdict on a claim by what the corpus says about it.

        Where nothing is found the verdict has no label, and its ``reason`` says why.
        """
        return next(self.verify_many([claim_text(claim)], corpus))

    def verify_many(
        self, claims: Iterable[str | Claim], corpus: Corpus | None = None, inject_gold: bool = False
    ) -> Iterator[Verdict]:
        """A verdict for each claim, in order, holding a few of them in memory.

        Texts are numbered from 0; labels and gold that records may carry are not looked at, unless
        ``inject_gold`` offers the selector the sentences of the gold pages too: every verdict then says so.
        """
        if isinstance(claims, (str, Claim)):
            raise ConfigError("claims: expected a list of claims, found a single one; use verify.")
        if not isinstance(claims, Iterable):
            raise ConfigError(f"claims: expected a list of claims, found {type(claims).__name__}.")
        return self._verify(claims, self.pipeline(self.retriever(corpus), inject_gold))

    def pipeline(self, retriever: Retriever, inject_gold: bool = False) -> EvidencePipeline:
        """What retrieves and selects evidence; with ``inject_gold`` the selector is offered the gold pages too."""
        pipeline = EvidencePipeline(
            retriever, self.loaded_selector(), self.settings.candidates, self.settings.k
        )
        if not inject_gold:
            return pipeline
        if not isinstance(retriever, IndexRetriever):
            kind = retriever.identity.get("kind")
            raise ConfigError(f"Gold pages can be looked up in an index, not in a {kind}.")
        return pipeline.with_gold(retriever.retrieve_within)

    def retrieve_examples(self, claims: Sequence[Claim], pipeline: EvidencePipeline) -> list[Example]:
        """A few claims with their evidence, the first half of verifying them."""
        return pipeline.examples(list(_claim_records(claims, pipeline.injected)))

    def judge_examples(self, examples: Sequence[Example], retriever: Retriever) -> Iterator[Verdict]:
        """A verdict for each example, the other half; those without evidence get none, and a reason."""
        verdicts = self.classify_many([example for example in examples if example.evidence])
        for example in examples:
            yield next(verdicts) if example.evidence else empty_answer(example, retriever)

    def classify(self, claim: str, evidence: Iterable[str | Evidence]) -> Verdict:
        """A verdict on evidence given by the caller: texts, or records that also say where they stand."""
        return next(self.classify_many([self.example(claim, evidence)]))

    def example(self, claim: str, evidence: Iterable[str | Evidence], claim_id: ClaimId = 0) -> Example:
        """A claim with given evidence, as the judge takes it; ``ConfigError`` where it cannot be judged."""
        if isinstance(evidence, (str, bytes, Evidence)) or not isinstance(evidence, Iterable):
            raise ConfigError(
                f"evidence: expected a list of sentences, found {type(evidence).__name__}; pass [sentence]."
            )
        sentences = tuple(Evidence(item) if isinstance(item, str) else item for item in evidence)
        for sentence in sentences:
            check_sentence(sentence)
        most = self.judge.max_evidence
        if most is not None and len(sentences) > most:
            raise ConfigError(f"{len(sentences)} evidence sentences; this model reads at most {most}.")
        return Example(claim_id, claim_text(claim), sentences)

    def check(
        self,
        text: str,
        corpus: Corpus | None = None,
        *,
        against: Sequence[Name] | None = None,
        options: CheckOptions | None = None,
        name: str = "text",
    ) -> Check:
        """Check a whole text, sentence by sentence: six states, and the words that the evidence does not back.

        Args:
            text: an article, a report, a language model's answer; Markdown unless the options say otherwise.
            corpus: where to look, by default the verifier's own.
            against: instead of a corpus a few documents: texts, or paths of files and folders.
            options: how sentences are split, whether words are marked, how many sentences are checked.
            name: what to call the text in what is made of the result.
        """
        from adjudge.serving.check import check as checking

        if against is not None:
            if corpus is not None:
                raise ConfigError("Give either a corpus or documents to check against, not both.")
            with checking.documents_index(against, self.searches_by_meaning) as index:
                return self.check(text, self.search(Index.open(index)), options=options, name=name)
        retriever = self.retriever(corpus)
        pipeline = EvidencePipeline(
            retriever, self.loaded_selector(), self.settings.candidates, self.settings.k
        )
        options = options or checking.CheckOptions(min_confidence=self.settings.min_confidence)
        find_evidence = partial(pipeline.retrieve_many, k=self.settings.k)
        result = checking.check_text(text, find_evidence, self.judge, options, name)
        return (
            checking.with_passages(result, retriever.index)
            if isinstance(retriever, IndexRetriever)
            else result
        )

    def classify_many(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        """A verdict for each example, in order, batched."""
        for verdict in self.judge.judge(map(_checked_example, examples)):
            weak = verdict.label is not None and verdict.confidence < self.settings.min_confidence
            yield replace(verdict, abstained=True) if weak else verdict

    def retriever(self, corpus: Corpus | None = None, reopen: bool = False) -> Retriever:
        """What searches a corpus, by default the verifier's own.

        A path is opened once (and documents indexed if need be); later calls see it as it was then, unless they
        ``reopen`` it.
        """
        source = corpus or self._corpus or self.settings.corpus
        if source is None:
            raise ConfigError("No corpus: name an index, a folder or a file of documents.")
        if not isinstance(source, (str, os.PathLike)):
            return as_retriever(source)
        key = os.path.abspath(source)
        if reopen or key not in self._opened:
            self._opened[key] = self.search(open_corpus(source, by_meaning=self.searches_by_meaning))
        return self._opened[key]

    def search(self, index: Index) -> IndexRetriever:
        """What searches an opened index for this verifier."""
        settings = self.settings
        return open_retriever(index, self._selects_with, self._device, settings.precision, settings.runtime)

    @property
    def searches_by_meaning(self) -> bool:
        """Whether its corpora are to have sentence vectors."""
        return searches_by_meaning(self._selects_with)

    @property
    def _selects_with(self) -> str | Selector:
        return self.settings.selector if self._selector is None else self._selector

    def loaded_selector(self) -> Selector:
        """The selector, loaded when it is first needed."""
        if self._selector is None:
            self._selector = load_selector(
                self.settings.selector,
                device=self._device,
                precision=self.settings.precision,
                runtime=self.settings.runtime,
            )
        return self._selector

    def clear_cache(self) -> None:
        """Drop what the selector remembers, so that the next verdicts do not depend on earlier claims."""
        clear_cache(self.loaded_selector())

    def _verify(self, claims: Iterable[str | Claim], pipeline: EvidencePipeline) -> Iterator[Verdict]:
        for window in chunks(_claim_records(claims, pipeline.injected), WINDOW):
            yield from self.judge_examples(pipeline.examples(window), pipeline.retriever)


def empty_answer(example: Example, retriever: Retriever) -> Verdict:
    """No label: there is nothing that a judge could weigh."""
    empty = isinstance(retriever, IndexRetriever) and not retriever.index.manifest.sentences
    reason = "the corpus is empty" if empty else "nothing in the corpus matches the claim"
    return Verdict(example.id, example.claim, None, {}, reason=reason, gold_injected=example.gold_injected)


def _checked_example(example: Example) -> Example:
    if not isinstance(example, Example):
        raise ConfigError(f"examples: expected Example records, found {type(example).__name__} among them.")
    expect_text(example.claim, f"claim {example.id!r}")
    for sentence in example.evidence:
        check_sentence(sentence)
    return example


def check_sentence(sentence: Evidence) -> None:
    """``ConfigError`` where a sentence of the evidence is none, or has something else than texts."""
    if not isinstance(sentence, Evidence):
        raise ConfigError(f"evidence: expected texts, found {type(sentence).__name__} among them.")
    for name in ("text", "page", "title", "context", "section"):
        expect_text(getattr(sentence, name), f"evidence: {name}")


def claim_text(claim: str) -> str:
    """The claim itself; ``ConfigError`` or ``DataError`` where it is none."""
    expect_text(claim, "claim")
    if not claim.strip():
        raise ConfigError("The claim is empty.")
    _check_length(claim, "The claim")
    return claim


def _check_length(text: str, name: str) -> None:
    """A claim is one statement; of a text as long as a book only the beginning would be read."""
    if len(text) > MAX_QUERY_CHARACTERS:
        raise DataError(
            f"{name} has {len(text):,} characters, expected one statement of at most {MAX_QUERY_CHARACTERS:,}. "
            "Verify its sentences one by one."
        )


def _claim_records(claims: Iterable[str | Claim], with_gold: bool) -> Iterator[Claim]:
    for index, claim in enumerate(claims):
        if isinstance(claim, Claim):
            record = replace(claim, label=None, gold=claim.gold if with_gold else ())
        elif isinstance(claim, str):
            record = Claim(index, claim)
        else:
            raise ConfigError(f"claim {index}: expected a text or a Claim, found {type(claim).__name__}.")
        expect_text(record.text, f"claim {record.id!r}")
        if not record.text.strip():
            raise DataError(f"Claim {record.id!r} is empty.")
        _check_length(record.text, f"Claim {record.id!r}")
        yield record
