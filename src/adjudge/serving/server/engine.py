"""What answers requests: one verifier, and a queue that has it judge together what arrives together."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from adjudge.errors import ConfigError
from adjudge.serving.server.corpora import Corpora
from adjudge.serving.server.corpus import Corpus
from adjudge.serving.server.faults import Fault, NotFound, NotReady, Overloaded, Stopping, TimedOut, TooLarge
from adjudge.serving.server.metrics import Metrics
from adjudge.serving.server.pieces import QueuedJudge, Work, carry_out
from adjudge.serving.server.settings import ServerSettings
from adjudge.serving.server.work import QueueClosed, QueueFull, WorkQueue
from adjudge.types import ClaimId, Evidence, Example, Verdict

if TYPE_CHECKING:
    from adjudge.data.documents import Problem
    from adjudge.judges.protocol import Judge
    from adjudge.retrieval.index import Index, StoredSentence
    from adjudge.retrieval.pipeline import EvidencePipeline
    from adjudge.retrieval.progress import ProgressCallback
    from adjudge.serving.check.check import CheckOptions
    from adjudge.serving.check.records import CheckedSentence
    from adjudge.serving.verifier import Verifier

CHECKS = 8
"""Texts that are checked at the same time; further ones wait."""
MOST_CHECKS = 32
"""Texts that are checked or wait for it; further ones are refused."""
MOST_EVIDENCE = 100
"""Sentences that a search gives at most."""

Value = TypeVar("Value")


class Queue(Protocol):
    """What the engine asks of a queue; :class:`WorkQueue` says what each method does."""

    def __len__(self) -> int: ...

    @property
    def is_full(self) -> bool:
        """Whether more would be refused."""

    def submit(self, item: Work, cost: int = 1, always: bool = False) -> Future[list[Any]]:
        """Queue a piece of work."""

    def close(self, timeout: float | None = None) -> None:
        """Finish what waits, and end."""


MakeQueue = Callable[..., Queue]


class LeaveOneOut(NamedTuple):
    """A verdict, and what it were without each sentence of its evidence, in their order."""

    verdict: Verdict
    without: tuple[Verdict, ...]


class Engine:
    """Answers claims, texts and searches; all methods may be called from any task of the event loop.

    Errors are those of :mod:`adjudge.serving.server.faults`, and ``AdjudgeError`` for what a caller got wrong.

    Args:
        settings: of the server.
        verifier: to use instead of the one that the settings make.
        make_queue: gives the queue, called as :class:`WorkQueue` is.
    """

    def __init__(
        self, settings: ServerSettings, verifier: Verifier | None = None, make_queue: MakeQueue = WorkQueue
    ) -> None:
        self.settings = settings
        self.metrics = Metrics(self)
        self.problem: str | None = None
        """Why the model could not be loaded."""
        self.on_failure: Callable[[], None] = lambda: None
        """Called when the model could not be loaded."""
        self._verifier = verifier
        self._reader: Judge | None = None
        self._ready = threading.Event()
        self._checking = 0
        self._checks = ThreadPoolExecutor(CHECKS, thread_name_prefix="adjudge-check")
        self._queue = make_queue(
            self._carry_out,
            settings.batch_tokens,
            settings.batch_wait,
            settings.queue_size,
            self.metrics.observe_batch,
        )
        self.library = Corpora(settings.corpora, data_dir(settings), self._open_corpus, settings.refresh)
        """The corpora by name."""

    def start(self) -> None:
        """Load the model and open the corpora, in the background."""
        threading.Thread(target=self._load, name="adjudge-load", daemon=True).start()

    def wait_until_ready(self) -> None:
        """Wait until model and corpora are loaded; ``ConfigError`` where the model cannot be."""
        while not self.is_ready:
            if self.problem is not None:
                raise ConfigError(self.problem)
            time.sleep(0.05)

    def close(self) -> None:
        """Finish what is under way, and end."""
        self.library.close()
        self._checks.shutdown(wait=True, cancel_futures=True)
        self._queue.close(timeout=self.settings.timeout)

    @property
    def is_ready(self) -> bool:
        """Whether the model is loaded and each corpus has been opened or has failed."""
        return self._ready.is_set() and self.library.are_open

    @property
    def queue_length(self) -> int:
        """Requests that wait."""
        return len(self._queue)

    @property
    def verifier(self) -> Verifier:
        """The verifier; ``NotReady`` while it is being loaded."""
        if self.problem is not None:
            raise NotReady(f"The model could not be loaded: {self.problem}")
        if not self._ready.is_set() or self._verifier is None:
            raise NotReady("The model is being loaded. Try again in a moment.")
        return self._verifier

    async def verify(self, claim: str, corpus: str | None = None, claim_id: ClaimId = 0) -> Verdict:
        """The verdict on a claim by what a corpus says about it; as ``Verifier.verify``."""
        verifier = self.verifier
        _, pipeline = self.library.pipeline(corpus)
        example = Example(claim_id, self._claim(claim))
        verdict: Verdict
        [verdict] = await self._ask(Work("verdict", (example,), pipeline, verifier.settings.k))
        self.metrics.count_verdict(verdict)
        return verdict

    async def classify(
        self, claim: str, evidence: Iterable[str | Evidence], claim_id: ClaimId = 0
    ) -> Verdict:
        """The verdict on given evidence; as ``Verifier.classify``."""
        example = self.verifier.example(self._claim(claim), evidence, claim_id)
        verdict: Verdict
        [verdict] = await self._ask(Work("verdict", (example,)))
        self.metrics.count_verdict(verdict)
        return verdict

    async def leave_one_out(self, claim: str, evidence: Sequence[str | Evidence]) -> LeaveOneOut:
        """What the verdict on given evidence were without each of its sentences."""
        example = self.verifier.example(self._claim(claim), evidence)
        sentences = example.evidence
        others = [
            replace(example, evidence=sentences[:n] + sentences[n + 1 :]) for n in range(len(sentences))
        ]
        verdict, *without = await self._ask(Work("verdict", (example, *others)))
        return LeaveOneOut(verdict, tuple(without))

    async def search(self, claim: str, corpus: str | None = None, k: int = 10) -> list[Evidence]:
        """The sentences of a corpus that may decide a claim, best first."""
        if not 1 <= k <= MOST_EVIDENCE:
            raise Fault(f"k = {k}: expected 1 to {MOST_EVIDENCE}.")
        self.verifier  # noqa: B018  # raises while it is being loaded
        _, pipeline = self.library.pipeline(corpus)
        [evidence] = await self._ask(Work("evidence", (Example(0, self._claim(claim)),), pipeline, k))
        return list(evidence)

    async def check(
        self, text: str, corpus: str | None = None, options: CheckOptions | None = None
    ) -> AsyncIterator[CheckedSentence]:
        """The sentences of a text as they are checked, in order; as those of ``Verifier.check``."""
        from adjudge.serving.check.check import CheckOptions, check_windows

        verifier = self.verifier
        if len(text) > self.settings.max_text:
            raise TooLarge(
                f"The text has {len(text):,} characters; at most {self.settings.max_text:,} are checked."
            )
        _, pipeline = self.library.pipeline(corpus)
        self._admit()
        options = options or CheckOptions(min_confidence=verifier.settings.min_confidence)

        def find_evidence(claims: Sequence[str]) -> Sequence[Sequence[Evidence]]:
            examples = tuple(Example(0, claim) for claim in claims)
            return self._ask_and_wait(Work("evidence", examples, pipeline, verifier.settings.k))

        windows = check_windows(text, find_evidence, self._comparing_judge(), options)
        loop = asyncio.get_running_loop()
        self._checking += 1
        try:
            while (sentences := await loop.run_in_executor(self._checks, next, windows, None)) is not None:
                for sentence in sentences:
                    self.metrics.count_state(sentence.state.value)
                    yield sentence
        finally:
            self._checking -= 1

    async def weigh(self, examples: Sequence[Example], admitted: bool = False) -> list[Verdict]:
        """Verdicts on given evidence as :meth:`check` makes them: with facts compared.

        ``admitted`` where they are part of a check that goes on, which is not refused half-way.
        """
        judge = self._comparing_judge()
        if not admitted:
            self._admit()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._checks, lambda: list(judge.judge(examples)))

    async def corpora(self) -> list[Corpus]:
        """The corpora of the server, the default one first."""
        return list(self.library)

    async def document(self, corpus: str | None, page: str) -> list[StoredSentence]:
        """All sentences of a document, in order."""
        held, _ = self.library.pipeline(corpus)
        index = held.index
        sentences = [] if index is None else await asyncio.to_thread(index.page_sentences, page)
        if not sentences:
            raise NotFound(f"Corpus {held.name!r} has no document {page[:200]!r}.")
        return sentences

    def _comparing_judge(self) -> Judge:
        """The verifier's judge with facts compared, for threads: what it reads goes through the queue."""
        from adjudge.judges.mixed import replace_reader
        from adjudge.serving.check.check import comparing

        judge = self.verifier.judge
        if self._reader is not None:
            judge = replace_reader(judge, QueuedJudge(self._reader, self._ask_and_wait))
        return comparing(judge)

    def _claim(self, claim: str) -> str:
        from adjudge.serving.verifier import claim_text

        if len(claim) > self.settings.max_claim:
            raise TooLarge(
                f"The claim has {len(claim):,} characters; at most {self.settings.max_claim:,} are taken. "
                "A whole text goes to /v1/check."
            )
        return claim_text(claim)

    def _admit(self) -> None:
        if self._queue.is_full or self._checking >= MOST_CHECKS:
            self.metrics.shed.inc()
            raise Overloaded("Too many requests are waiting. Try again in a moment.")

    async def _ask(self, work: Work) -> Sequence[Any]:
        try:
            future = self._queue.submit(work, work.cost)
        except QueueFull as error:
            self.metrics.shed.inc()
            raise Overloaded(str(error)) from None
        except QueueClosed as error:
            raise Stopping(str(error)) from None
        return await self._within_timeout(asyncio.wrap_future(future))

    def _ask_and_wait(self, work: Work) -> Sequence[Any]:
        """For a thread that checks a text, whose request was admitted before."""
        try:
            return self._queue.submit(work, work.cost, always=True).result(self.settings.timeout)
        except TimeoutError:
            raise self._timed_out() from None
        except QueueClosed as error:
            raise Stopping(str(error)) from None

    async def _within_timeout(self, answer: Awaitable[Value]) -> Value:
        try:
            return await asyncio.wait_for(answer, self.settings.timeout)
        except TimeoutError:
            raise self._timed_out() from None

    def _timed_out(self) -> TimedOut:
        return TimedOut(f"No answer within {self.settings.timeout:g} seconds. Try again later.")

    def _carry_out(self, works: Sequence[Work]) -> list[list[Any]]:
        verifier = self.verifier
        reader = self._reader or verifier.judge
        return carry_out(works, verifier.classify_many, reader.judge, self.metrics.stage)

    def _load(self) -> None:
        from adjudge.judges.mixed import reading_judge, replace_reader
        from adjudge.judges.row_model import RowJudge
        from adjudge.serving.verifier import Verifier

        try:
            verifier = self._verifier or Verifier(self.settings.verifier)
            verifier.loaded_selector()
        except Exception as error:  # whatever it is, somebody must hear of it
            self.problem = str(error) or type(error).__name__
            self.on_failure()
            return
        verifier = copy(verifier)  # the caller's own stays as it is
        reader = reading_judge(verifier.judge)
        if isinstance(reader, RowJudge):
            reader = replace(reader, observe=self.metrics.observe_stage)
            verifier.judge = replace_reader(verifier.judge, reader)
        self._verifier, self._reader = verifier, reader
        self._ready.set()
        self.library.start()

    def _open_corpus(
        self, path: Path, progress: ProgressCallback, report: Callable[[Problem], None]
    ) -> tuple[Index, EvidencePipeline]:
        from adjudge.retrieval.corpus import open_corpus
        from adjudge.retrieval.pipeline import EvidencePipeline

        verifier = self.verifier
        index = open_corpus(path, progress, report, verifier.searches_by_meaning)
        settings = verifier.settings
        pipeline = EvidencePipeline(
            verifier.search(index), verifier.loaded_selector(), settings.candidates, settings.k
        )
        return index, pipeline


def data_dir(settings: ServerSettings) -> Path:
    """Where uploaded corpora are kept."""
    if settings.data_dir is not None:
        return settings.data_dir
    from platformdirs import user_data_path

    return user_data_path("adjudge") / "corpora"
