"""Answers are the verifier's own, whatever shares the batch."""

from __future__ import annotations

import asyncio
import random
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from adjudge import Verifier, VerifierSettings
from adjudge.serving.check.check import CheckOptions
from adjudge.serving.server.engine import Engine
from adjudge.serving.server.faults import NotFound, NotReady, Overloaded, TimedOut, TooLarge
from adjudge.serving.server.settings import MAX_CLAIM, ServerSettings
from adjudge.types import Evidence
from server_fixtures import wait_until

DOCUMENTS = Path(__file__).parents[2] / "resources" / "documents"
CLAIMS = [
    "The Elbe flows through Dresden.",
    "The Rhine flows through Dresden.",
    "Barges carry coal.",
    "The Elbe is long.",
    "Nobody has ever heard of the Tamsin.",
    "The Rhine rises in Switzerland and it ends in the North Sea, which is cold.",
    "Zyzzyva.",
]


def started(verifier, *corpora, tmp_path, **settings) -> Engine:
    values = {
        "verifier": verifier.settings,
        "corpora": corpora,
        "data_dir": tmp_path / "data",
        "refresh": 0.05,
    }
    engine = Engine(ServerSettings(**{**values, **settings}), verifier)
    engine.start()
    wait_until(lambda: engine.is_ready)
    return engine


@pytest.fixture
def engine(river_verifier, river_documents, tmp_path):
    engine = started(river_verifier, river_documents, tmp_path=tmp_path)
    yield engine
    engine.close()


def close_to(one, other, tolerance=1e-4) -> None:
    """The same verdict, probabilities and weights to the tolerance."""
    assert (one.claim, one.label, one.reason, one.abstained) == (
        other.claim,
        other.label,
        other.reason,
        other.abstained,
    )
    assert one.probabilities.keys() == other.probabilities.keys()
    for label, probability in one.probabilities.items():
        assert probability == pytest.approx(other.probabilities[label], abs=tolerance)
    assert [e.ref for e in one.evidence] == [e.ref for e in other.evidence]
    assert [e.text for e in one.evidence] == [e.text for e in other.evidence]
    for mine, theirs in zip(one.evidence, other.evidence, strict=True):
        assert mine.weight == pytest.approx(theirs.weight, abs=tolerance)
        assert mine.score == pytest.approx(theirs.score, abs=tolerance)


def test_verdicts_equal_the_verifiers_whatever_shares_the_batch(engine, river_verifier, river_documents):
    expected = {claim: river_verifier.verify(claim, river_documents) for claim in CLAIMS}
    assert expected["Zyzzyva."].label is None  # nothing found is an answer too
    draw = random.Random(5)

    async def ask_all() -> None:
        for _ in range(6):
            claims = draw.choices(CLAIMS, k=draw.randint(1, 12))
            verdicts = await asyncio.gather(
                *(engine.verify(claim, claim_id=n) for n, claim in enumerate(claims)),
                engine.classify("It is red.", ["It is green.", "x" * draw.randint(1, 300)]),
            )
            for number, (claim, verdict) in enumerate(zip(claims, verdicts[:-1], strict=True)):
                assert verdict.id == number
                close_to(verdict, expected[claim])

    asyncio.run(ask_all())
    assert engine.metrics.registry.get_sample_value("adjudge_batch_requests_sum") > 6
    shared = engine.metrics.registry.get_sample_value("adjudge_batch_requests_count")
    assert shared < engine.metrics.registry.get_sample_value("adjudge_batch_requests_sum")  # some were joined


def test_the_packages_own_model_and_selector_give_the_same_as_well(tmp_path):
    documents = shutil.copytree(DOCUMENTS, tmp_path / "documents")
    verifier = Verifier(VerifierSettings(corpus=documents))
    claims = [
        "The Ellery Bridge was opened in 1932.",
        "Members of the library may borrow only five books at a time.",
        "Ingrid Solberg played the violin.",
        "The main span of the bridge measures 250 metres.",
        "The storm of 1953 destroyed the harbour wall.",
    ]
    expected = []
    for claim in claims:
        verifier.clear_cache()
        expected.append(verifier.verify(claim))
    engine = started(verifier, documents, tmp_path=tmp_path)

    async def ask_all():
        return await asyncio.gather(*(engine.verify(claim) for claim in claims))

    verifier.clear_cache()
    try:
        for mine, theirs in zip(asyncio.run(ask_all()), expected, strict=True):
            close_to(mine, theirs)
    finally:
        engine.close()


def test_given_evidence_is_judged_as_by_classify(engine, river_verifier):
    evidence = ["The Elbe flows through Dresden.", Evidence("It is long.", "p", 3, title="Elbe")]

    async def ask():
        return await engine.classify("The Elbe is long.", evidence, claim_id="a")

    verdict = asyncio.run(ask())
    assert verdict.id == "a"
    close_to(verdict, river_verifier.classify("The Elbe is long.", evidence))


def test_leave_one_out_judges_the_claim_without_each_sentence(engine, river_verifier):
    evidence = ["The Elbe flows.", "It is long.", "The sea is cold."]
    result = asyncio.run(_leave_one_out(engine, evidence))
    close_to(result.verdict, river_verifier.classify("The Elbe is long.", evidence))
    assert len(result.without) == 3
    for number, verdict in enumerate(result.without):
        rest = evidence[:number] + evidence[number + 1 :]
        close_to(verdict, river_verifier.classify("The Elbe is long.", rest))


async def _leave_one_out(engine, evidence):
    return await engine.leave_one_out("The Elbe is long.", evidence)


@pytest.mark.parametrize("facts", [False, True])
def test_a_text_is_checked_as_by_the_verifier(river_verifier, river_documents, tmp_path, facts):
    from adjudge.judges.mixed import with_facts

    verifier = river_verifier
    if facts:
        verifier = Verifier(river_verifier.settings, judge=with_facts(river_verifier.judge))
    text = (
        "# Rivers\n\nThe Elbe flows through Dresden and it is 1,200 kilometres long. "
        + "The Rhine rises in Austria. " * 4
        + "Is that so? Zyzzyva. Barges carry coal."
    )
    options = CheckOptions()
    expected = verifier.check(text, river_documents, options=options).sentences
    engine = started(verifier, river_documents, tmp_path=tmp_path)

    async def check():
        return [sentence async for sentence in engine.check(text, options=options)]

    try:
        sentences = asyncio.run(check())
    finally:
        engine.close()
    assert len(sentences) == len(expected) > 6
    for mine, theirs in zip(sentences, expected, strict=True):
        assert (mine.text, mine.start, mine.end, mine.state, mine.reason, mine.marks) == (
            theirs.text,
            theirs.start,
            theirs.end,
            theirs.state,
            theirs.reason,
            theirs.marks,
        )
        for part, other in zip(mine.parts, theirs.parts, strict=True):
            assert part.facts == other.facts and part.evidence_marks == other.evidence_marks
            if part.verdict is not None:
                close_to(part.verdict, replace(other.verdict, id=part.verdict.id))


def test_search_gives_the_pipelines_order(engine, river_documents):
    async def ask():
        return await engine.search("Where does the Elbe flow?", k=2)

    sentences = asyncio.run(ask())
    assert len(sentences) == 2
    assert all("Elbe" in s.text or "elbe" in s.page for s in sentences)


def test_a_document_is_given_sentence_by_sentence(engine):
    async def ask(page):
        return await engine.document(None, page)

    page = next(s.page for s in asyncio.run(_search(engine)))
    assert [s.line for s in asyncio.run(ask(page))] == [0, 1, 2]
    with pytest.raises(NotFound, match="no document 'nowhere'"):
        asyncio.run(ask("nowhere"))


async def _search(engine):
    return await engine.search("Elbe Dresden", k=1)


def test_an_unknown_corpus_names_those_that_there_are(engine):
    async def ask():
        return await engine.verify("The Elbe flows.", "nowhere")

    with pytest.raises(NotFound, match=r"No corpus is called 'nowhere'; there are: rivers\."):
        asyncio.run(ask())


def test_more_than_the_queue_holds_is_shed_and_the_rest_answered(river_verifier, river_documents, tmp_path):
    gate = threading.Event()

    class Gated:
        labels, max_evidence, identity = river_verifier.judge.labels, 5, river_verifier.judge.identity

        def judge(self, examples):
            gate.wait(10)
            return river_verifier.judge.judge(examples)

    engine = started(
        Verifier(river_verifier.settings, judge=Gated()),
        river_documents,
        tmp_path=tmp_path,
        queue_size=3,
        batch_wait=0,
    )

    async def flood():
        first = asyncio.create_task(engine.verify(CLAIMS[0]))
        await asyncio.sleep(0.2)  # the judge is busy with it
        tasks = [asyncio.create_task(engine.verify(CLAIMS[0])) for _ in range(8)]
        await asyncio.sleep(0.2)
        gate.set()
        results = await asyncio.gather(first, *tasks, return_exceptions=True)
        again = await engine.verify(CLAIMS[1])  # it has recovered
        return results, again

    results, again = asyncio.run(flood())
    engine.close()
    shed = [r for r in results if isinstance(r, Overloaded)]
    assert len(shed) == 5 and len(results) == 9  # one at work, three waiting
    assert engine.metrics.registry.get_sample_value("adjudge_shed_total") == 5
    for verdict in results:
        if not isinstance(verdict, Overloaded):
            close_to(verdict, river_verifier.verify(CLAIMS[0], river_documents))
    close_to(again, river_verifier.verify(CLAIMS[1], river_documents))


def test_what_takes_too_long_is_given_up(river_verifier, river_documents, tmp_path):
    gate = threading.Event()

    class Stuck:
        labels, max_evidence, identity = river_verifier.judge.labels, 5, river_verifier.judge.identity

        def judge(self, examples):
            gate.wait(10)
            return river_verifier.judge.judge(examples)

    engine = started(
        Verifier(river_verifier.settings, judge=Stuck()), river_documents, tmp_path=tmp_path, timeout=0.2
    )

    async def ask():
        return await engine.verify(CLAIMS[0])

    with pytest.raises(TimedOut, match=r"No answer within 0\.2 seconds"):
        asyncio.run(ask())
    gate.set()
    engine.close()


def test_nothing_is_answered_before_the_model_is_loaded(river_verifier, tmp_path):
    engine = Engine(ServerSettings(verifier=river_verifier.settings, data_dir=tmp_path))

    async def ask():
        return await engine.classify("It is red.", ["It is green."])

    with pytest.raises(NotReady, match="is being loaded"):
        asyncio.run(ask())
    engine.close()


def test_a_model_that_cannot_be_loaded_is_reported(tmp_path):
    settings = VerifierSettings(model=str(tmp_path / "none"))
    engine = Engine(ServerSettings(verifier=settings, data_dir=tmp_path))
    failed = threading.Event()
    engine.on_failure = failed.set
    engine.start()
    assert failed.wait(30)
    assert "no trained judge here" in (engine.problem or "")
    engine.close()


def test_limits_on_claim_and_text(river_verifier, river_documents, tmp_path):
    engine = started(river_verifier, river_documents, tmp_path=tmp_path, max_claim=20, max_text=50)

    async def verify():
        return await engine.verify("x" * 21)

    async def check():
        return [s async for s in engine.check("x " * 30)]

    for ask in (verify, check):
        with pytest.raises(TooLarge, match="characters; at most"):
            asyncio.run(ask())
    engine.close()


def test_the_longest_claim_is_what_a_search_reads():
    from adjudge.retrieval.analysis import MAX_QUERY_CHARACTERS

    assert MAX_CLAIM == MAX_QUERY_CHARACTERS
