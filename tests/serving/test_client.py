"""A client's answers are those of the verifier behind the server."""

from __future__ import annotations

import asyncio
import inspect
import socket
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import adjudge
from adjudge import AsyncClient, CheckOptions, Claim, Client, Evidence, Verifier
from adjudge.errors import ConfigError
from adjudge.serving import calls
from adjudge.serving.calls import ServerError, sentence_of
from adjudge.serving.check.export import check_record
from adjudge.serving.check.records import Check
from server_fixtures import listening

CLAIMS = ["The Elbe flows through Dresden.", "Barges carry coal.", "Zyzzyva."]
TEXT = "# Rivers\n\nThe Elbe is 1,200 kilometres long and flows through Dresden. The Rhine rises in Austria. Zyzzyva."


@pytest.fixture(scope="module")
def server(river_verifier, river_documents, tmp_path_factory):
    with listening(river_verifier, river_documents, data_dir=tmp_path_factory.mktemp("data")) as (
        address,
        app,
    ):
        yield address


@pytest.fixture
def client(server):
    with Client(server) as client:
        yield client


def comparable(verdict):
    """A verdict without what only the server's machine knows, numbers rounded."""
    return replace(
        verdict,
        probabilities={label: round(p, 4) for label, p in verdict.probabilities.items()},
        evidence=tuple(
            replace(e, source=None, links=(), weight=round(e.weight, 4), score=round(e.score, 4))
            for e in verdict.evidence
        ),
        explanation=None,
    )


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("name", ["verify", "verify_many", "classify", "check"])
def test_it_has_the_methods_of_the_verifier(kind, name):
    own = inspect.signature(getattr(Verifier, name)).parameters
    theirs = inspect.signature(getattr(kind, name)).parameters
    # What only a verifier in this process can do is left out; what is there is called, ordered and filled alike.
    assert [p for p in own if p not in ("inject_gold", "against")] == list(theirs)
    assert all(own[p].default == theirs[p].default and own[p].kind == theirs[p].kind for p in theirs)


def test_verdicts_are_the_verifiers(client, river_verifier, river_documents):
    for claim in CLAIMS:
        expected = comparable(river_verifier.verify(claim, river_documents))
        assert comparable(client.verify(claim)) == expected
        assert comparable(client.verify(claim, "rivers")) == expected
    evidence = ["The Elbe flows.", Evidence("It is long.", "p", 3, title="Elbe")]
    assert comparable(client.classify(CLAIMS[0], evidence)) == comparable(
        river_verifier.classify(CLAIMS[0], evidence)
    )


def test_many_claims_come_back_in_order_with_their_ids(client, river_verifier, river_documents, monkeypatch):
    monkeypatch.setattr(calls, "CHUNK", 2)
    claims = [CLAIMS[0], Claim("x", CLAIMS[1], "SUPPORTS"), CLAIMS[2]]
    verdicts = list(client.verify_many(claims))
    assert [v.id for v in verdicts] == [0, "x", 2]
    expected = river_verifier.verify_many(claims, river_documents)
    assert [comparable(v) for v in verdicts] == [comparable(v) for v in expected]
    with pytest.raises(ServerError, match="Claim 0: .*at least 1 character"):
        list(client.verify_many([""]))


def test_a_check_is_the_verifiers(client, river_verifier, river_documents):
    options = CheckOptions(max_sentences=2)
    for given in (None, options):
        expected = check_record(river_verifier.check(TEXT, river_documents, options=given))
        check = client.check(TEXT, options=given)
        assert _rounded(check_record(check)) == _rounded(expected)
        assert list(client.check_sentences(TEXT, options=given)) == list(check.sentences)


def test_a_sentence_read_from_json_is_written_as_it_was(river_verifier, river_documents):
    record = check_record(river_verifier.check(TEXT, river_documents))
    check = Check(TEXT, tuple(sentence_of(s) for s in record["sentences"]))
    assert _rounded(check_record(check)) == _rounded(record)


def _rounded(value):
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items() if key != "source"}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return round(value, 4) if isinstance(value, float) else value


SEPARATED = [f"The Elbe{mark}flows through Dresden." for mark in "\u2028\u2029\x85\x0b\x0c\x1c\r\n"]


def test_ends_of_lines_of_unicode_end_no_line_of_an_answer(server, client):
    claims = ["It flows.", *SEPARATED]
    assert [verdict.claim for verdict in client.verify_many(claims)] == claims
    sentences = list(client.check_sentences(SEPARATED[0]))
    assert [s.text for s in sentences] == [s.text for s in client.check(SEPARATED[0]).sentences]

    async def ask():
        async with AsyncClient(server) as other:
            return (
                [v.claim async for v in other.verify_many(claims)],
                [s async for s in other.check_sentences(SEPARATED[0])],
            )

    assert asyncio.run(ask()) == (claims, sentences)


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_lines_are_the_same_in_whatever_pieces_they_come(size):
    answer = 'data: "ü\u2028"\n\n{}\nrest'.encode()
    lines = calls.Lines()
    cut = [line for n in range(0, len(answer), size) for line in lines.cut(answer[n : n + size])]
    assert [*cut, *lines.rest()] == ['data: "ü\u2028"', "", "{}", "rest"]


@pytest.mark.parametrize("value", [b"It flows.", None, 5, "It \ud800 flows."])
def test_what_is_no_text_is_refused_as_the_verifier_does(value, client, river_verifier, river_documents):
    asked = [
        lambda one: one.verify(value),
        lambda one: one.classify(value, ["It flows."]),
        lambda one: one.classify("It flows.", [Evidence(value)]),
        lambda one: one.check(value),
        lambda one: list(one.verify_many([Claim("x", value)])),
    ]
    verifier = Verifier(river_verifier.settings.model_copy(update={"corpus": river_documents}))
    for ask in asked:
        messages = []
        for one in (verifier, client):
            with pytest.raises(ConfigError) as caught:
                ask(one)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]


def test_given_evidence_comes_back_as_it_was_given(client, river_verifier):
    given = Evidence(
        "The Elbe flows.",
        "p",
        3,
        0.5,
        source="a.txt",
        start=1,
        end=9,
        title="T",
        location="A1",
        links=("Elbe",),
    )
    [back] = client.classify(CLAIMS[0], (sentence for sentence in [given])).evidence
    assert replace(back, weight=None) == given and back.weight is not None


def test_the_headings_of_given_evidence_are_judged_as_the_verifier_judges_them(client, river_verifier):
    claim = "Falcon X weighs 5 kg."
    given = [
        Evidence("Weight: 3 kg", title="Kettles", section="Kettles: Falcon X"),
        Evidence("Weight: 5 kg", title="Kettles", section="Kettles: Eagle Y"),
    ]
    own, alone = (
        river_verifier.classify(claim, evidence)
        for evidence in (given, [replace(s, section="") for s in given])
    )
    assert client.classify(claim, given).probabilities == pytest.approx(own.probabilities, abs=1e-4)
    assert own.probabilities != pytest.approx(alone.probabilities, abs=1e-4)
    with pytest.raises(ConfigError, match="evidence: section: expected a text"):
        client.classify(claim, [Evidence("Weight: 3 kg", section=5)])


def test_a_weak_verdict_of_a_check_is_one_for_the_client_too(client, river_verifier, river_documents):
    options = CheckOptions(min_confidence=1.0)
    check = client.check(TEXT, options=options)
    own = river_verifier.check(TEXT, river_documents, options=options)

    def abstained(check):
        return [p.verdict and p.verdict.abstained for s in check.sentences for p in s.parts]

    assert abstained(check) == abstained(own) and any(abstained(own))


def test_search_and_corpora(client):
    assert client.search(CLAIMS[0], k=1)[0].text == CLAIMS[0]
    assert [c["name"] for c in client.corpora()] == ["rivers"]


def test_the_async_client_gives_the_same(server, client):
    async def ask():
        async with AsyncClient(server) as other:
            return (
                await asyncio.gather(*(other.verify(claim) for claim in CLAIMS)),
                [v async for v in other.verify_many(CLAIMS)],
                await other.classify(CLAIMS[0], ["The Elbe flows."]),
                await other.check(TEXT),
                [s async for s in other.check_sentences(TEXT)],
                await other.search(CLAIMS[0], k=2),
                await other.corpora(),
            )

    verdicts, many, classified, check, sentences, evidence, corpora = asyncio.run(ask())
    assert [comparable(v) for v in verdicts] == [comparable(client.verify(c)) for c in CLAIMS]
    assert [comparable(v) for v in many] == [comparable(v) for v in client.verify_many(CLAIMS)]
    assert comparable(classified) == comparable(client.classify(CLAIMS[0], ["The Elbe flows."]))
    assert _rounded(check_record(check)) == _rounded(check_record(client.check(TEXT)))
    assert [s.text for s in sentences] == [s.text for s in check.sentences]
    assert evidence == client.search(CLAIMS[0], k=2)
    assert [c["name"] for c in corpora] == ["rivers"]


def test_errors_say_what_the_server_said(client):
    with pytest.raises(ServerError, match="No corpus is called 'nowhere'") as caught:
        client.verify(CLAIMS[0], "nowhere")
    assert caught.value.status == 404 and caught.value.code == "not_found"
    assert isinstance(caught.value, adjudge.AdjudgeError)
    with pytest.raises(ConfigError, match="expected a list of sentences, found str"):
        client.classify(CLAIMS[0], "The Elbe flows.")
    with pytest.raises(ConfigError, match="splitter"):
        client.check(TEXT, options=CheckOptions(splitter=lambda sentence: []))


def test_no_server_is_said_so():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with Client(address) as client, pytest.raises(ServerError, match="Is the server running"):
            client.verify(CLAIMS[0])


LOST = 0
"""In place of a status: the connection is closed without an answer."""


class Busy(BaseHTTPRequestHandler):
    """Answers 429 or 503 a few times or not at all, then gives a verdict."""

    refusals: list[int] = []
    requests = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        type(self).requests += 1
        body = b'{"id": 0, "claim": "x", "label": null, "probabilities": {}, "evidence": []}'
        status = self.refusals.pop(0) if self.refusals else 200
        if status == LOST:
            return
        if status != 200:
            body = b'{"error": {"code": "overloaded", "message": "Too much to do."}}'
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.send_header("retry-after", "0")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *values: object) -> None:
        pass


@pytest.fixture
def busy():
    Busy.requests = 0
    with HTTPServer(("127.0.0.1", 0), Busy) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_server_that_has_too_much_to_do_is_asked_again(busy):
    Busy.refusals = [429, 503, 429]
    with Client(busy) as client:
        assert client.verify("x").label is None
    assert Busy.requests == 4
    Busy.refusals = [429, 503]

    async def ask():
        async with AsyncClient(busy) as client:
            return await client.verify("x")

    assert asyncio.run(ask()).label is None


def test_it_is_not_asked_for_ever(busy):
    Busy.refusals = [429] * 9
    with Client(busy, retries=2) as client, pytest.raises(ServerError, match="Too much to do") as caught:
        client.verify("x")
    assert Busy.requests == 3 and caught.value.status == 429


def test_a_request_whose_connection_was_lost_is_sent_again_but_not_for_ever(busy):
    Busy.refusals = [LOST, 429, LOST]
    with Client(busy) as client:
        assert client.verify("x").label is None
    assert Busy.requests == 4

    async def ask():
        async with AsyncClient(busy, retries=1) as client:
            return await client.verify("x")

    Busy.refusals = [LOST]
    assert asyncio.run(ask()).label is None
    Busy.refusals = [LOST] * 2
    with pytest.raises(ServerError, match="no answer .*Is the server running"):
        asyncio.run(ask())


def test_lines_are_asked_for_again_after_a_refusal_and_not_after_a_loss(busy):
    async def ask():
        async with AsyncClient(busy, retries=1) as client:
            return [verdict async for verdict in client.verify_many(["x"])]

    Busy.refusals = [429]
    with Client(busy, retries=1) as client:
        assert [verdict.claim for verdict in client.verify_many(["x"])] == ["x"]
        Busy.refusals = [503]
        assert [verdict.claim for verdict in asyncio.run(ask())] == ["x"]
        Busy.refusals, Busy.requests = [LOST, LOST], 0
        for lose in (lambda: list(client.verify_many(["x"])), lambda: asyncio.run(ask())):
            with pytest.raises(ServerError, match="no answer"):
                lose()
        assert Busy.requests == 2
        Busy.refusals = [429, 429]
        with pytest.raises(ServerError, match="Too much to do"):
            list(client.verify_many(["x"]))
