"""The page as a program without scripts sees it. The model is random: its verdicts are compared with the verifier's."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from adjudge.serving.check.records import WORDS
from adjudge.serving.page.session import MOST_LINK, permalink
from server_fixtures import asked

CLAIM = "The Rhine flows through Cologne."
TEXT = f"{CLAIM} The Elbe is 1,094 kilometres long.\n\nIs it?"
ATTACK = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def client(
    river_verifier: Any, river_documents: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    with asked(river_verifier, river_documents, data_dir=tmp_path_factory.mktemp("uploads")) as one:
        yield one


@pytest.fixture(scope="module")
def truth(river_verifier: Any, river_documents: Path) -> Any:
    return river_verifier.check(TEXT, river_documents)


def events(client: Any, text: str) -> list[dict[str, Any]]:
    answer = client.post("/page/check", data={"text": text, "corpus": "rivers"})
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def test_the_first_page_is_a_form_that_works_without_scripts(client: Any) -> None:
    page = client.get("/").text
    assert '<form class="composer" id="composer" method="post" action="/">' in page
    assert "rivers (2 documents)" in page and "autofocus" in page


def test_documents_that_are_not_ready_are_said_to_be_so(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = client.app.state.engine.library.get("rivers")
    assert 'id="indexing"' not in client.get("/").text
    monkeypatch.setattr(corpus, "index", None)
    assert 'id="indexing"' in client.get("/").text
    monkeypatch.setattr(corpus, "state", "failed")
    monkeypatch.setattr(corpus, "problem", "rivers: disk gone")
    page = client.get("/").text
    assert 'id="indexing"' not in page and "rivers: disk gone" in page


def test_the_form_leads_to_the_permalink_which_shows_the_verifiers_answer(client: Any, truth: Any) -> None:
    answer = client.post("/", data={"text": TEXT, "corpus": "rivers"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, permalink(TEXT, "rivers"))
    page = client.get(answer.headers["location"]).text
    states = re.findall(r'class="row ([a-z-]+)[ "]', page)
    assert states == [sentence.state.value.lower().replace(" ", "-") for sentence in truth.sentences]
    for sentence in truth.sentences[:2]:
        [part] = sentence.parts
        for label, share in part.verdict.probabilities.items():
            assert f"<b>{share:.0%}</b>" in page, label
        assert all(one.text in page for one in part.evidence)


def test_a_text_too_long_for_an_address_is_answered_at_once(client: Any) -> None:
    text = f"{CLAIM} " + "Is it? " * 1000
    assert "#text=" in permalink(text, "rivers")
    answer = client.post("/", data={"text": text, "corpus": "rivers"}, follow_redirects=False)
    assert answer.status_code == 200 and "1001 sentences" in answer.text


def test_a_permalink_is_as_long_as_a_server_takes() -> None:
    assert len(permalink("x" * (MOST_LINK - 30), "c")) <= MOST_LINK
    long = permalink("é " * MOST_LINK, "c")
    assert long == "/?corpus=c#text=" + quote("é " * MOST_LINK)


def test_the_stream_has_the_outline_then_each_sentence_then_the_counts(client: Any, truth: Any) -> None:
    outline, *sentences, end = events(client, f"{TEXT} ")
    assert outline["kind"] == "outline" and outline["html"].count("row checking") == 2
    assert [event["number"] for event in sentences] == [0, 1, 2]
    assert [event["checked"] for event in sentences] == [1, 2, 2]
    for event, sentence in zip(sentences, truth.sentences, strict=True):
        assert ("card" in event) == bool(sentence.parts)
        if sentence.parts:
            assert WORDS[sentence.state] in event["card"] and f'id="s{event["number"]}"' in event["row"]
    assert end["kind"] == "end" and end["summary"] == truth.summary


def test_the_tally_is_that_of_each_sentence_judged_alone(client: Any, truth: Any) -> None:
    exported = client.post("/export", data={"text": TEXT, "corpus": "rivers", "format": "json"}).json()
    parts = [part for sentence in exported["sentences"] for part in sentence.get("parts", ())]
    assert len(parts) == 2
    for part in parts:
        labels = [one["label"] for one in part["alone"]]
        assert len(labels) == len(part["evidence"]) == part["tally"]["considered"]
        assert part["tally"]["support"] == labels.count("SUPPORTS")
        assert part["tally"]["refute"] == labels.count("REFUTES")


def test_exports_say_what_the_verifier_says(client: Any, truth: Any) -> None:
    answer = client.post("/export", data={"text": TEXT, "corpus": "rivers", "format": "csv"})
    assert answer.headers["content-disposition"] == 'attachment; filename="check.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["state"] for row in rows] == [sentence.state.value for sentence in truth.sentences]
    assert float(rows[0]["p refutes"]) == pytest.approx(
        truth.sentences[0].parts[0].verdict.probabilities["REFUTES"], abs=1e-4
    )
    page = client.post("/export", data={"text": TEXT, "corpus": "rivers", "format": "html"}).text
    assert "Content-Security-Policy" in page and "1,094 kilometres" in page
    wrong = client.post("/export", data={"text": TEXT, "format": "exe"})
    assert wrong.status_code == 422 and "expected one of json, csv, html" in wrong.text


def test_leaving_out_each_sentence_judges_the_others_as_a_check_does(client: Any, truth: Any) -> None:
    [part] = truth.sentences[0].parts
    sent = json.dumps(
        [{"text": one.text, "title": one.title, "context": one.context} for one in part.evidence]
    )
    answer = client.post("/page/leave-one-out", data={"statement": part.statement, "evidence": sent})
    assert answer.status_code == 200
    assert answer.text.count("<tr>") == 1 + len(part.evidence)
    assert f"probability of “{WORDS[part.state]}”" in answer.text
    for wrong in ("", "[1]", '{"text": "x"}'):
        refusal = client.post("/page/leave-one-out", data={"statement": CLAIM, "evidence": wrong})
        assert refusal.status_code == 422 and "not as the page sends it" in refusal.json()["error"]["message"]


def test_a_document_is_shown_with_its_sentence_lit(client: Any, truth: Any) -> None:
    page = truth.sentences[0].parts[0].evidence[0].page
    answer = client.get("/document", params={"corpus": "rivers", "page": page, "line": 0, "mark": "4-9"})
    assert re.search(r'<span class="lit" id="line-0">The <mark class="against">\w+</mark>', answer.text)
    assert "<html" in answer.text
    piece = client.get("/document", params={"page": page, "line": 0, "fragment": True}).text
    assert "<html" not in piece and "Whole document" in piece and "fragment" not in piece
    assert client.get("/document", params={"page": page, "line": 0, "mark": "x"}).status_code == 422
    gone = client.get("/document", params={"page": "nothing"})
    assert gone.status_code == 404 and "Not found." in gone.text


def test_many_claims_get_the_state_that_each_has_alone(client: Any, truth: Any) -> None:
    texts = [CLAIM, "The Elbe is 1,094 kilometres long.", "Is it?", "Xylophones were quacking."]
    body = "\n".join(json.dumps({"id": f"c{n}", "claim": text}) for n, text in enumerate(texts))
    answer = client.post("/page/claims?corpus=rivers", content=body.encode())
    records = [json.loads(line) for line in answer.text.splitlines()]
    assert [(record["id"], record["claim"]) for record in records] == [
        (f"c{n}", t) for n, t in enumerate(texts)
    ]
    assert [record["state"] for record in records[:3]] == [s.state.value for s in truth.sentences]
    assert records[0]["probability"] == pytest.approx(truth.sentences[0].parts[0].confidence, abs=1e-4)
    assert records[2]["reason"] == "question" and records[3]["state"] == "NO EVIDENCE FOUND"
    assert records[0]["evidence"]["document"] in ("rhine.txt", "elbe.txt")
    for wrong in (b"{", b'{"text": "no claim"}', b'"text"', b"\xff"):
        assert client.post("/page/claims", content=wrong).status_code == 422


def test_a_claim_that_is_too_long_spoils_only_itself(client: Any) -> None:
    body = json.dumps({"claim": "x" * 20_000}) + "\n" + json.dumps({"claim": CLAIM})
    first, second = (json.loads(line) for line in client.post("/page/claims", content=body).text.splitlines())
    assert first["state"] == "ERROR" and "20,000 characters" in first["reason"]
    assert second["state"] != "ERROR"


def test_problems_are_told_on_the_page(client: Any) -> None:
    answer = client.get("/", params={"text": CLAIM, "corpus": "oceans"})
    assert answer.status_code == 404 and "No corpus is called &#39;oceans&#39;" in answer.text
    answer = client.get("/", params={"text": CLAIM, "corpus": "../etc"})
    assert answer.status_code == 404
    assert (
        client.post("/page/check", data={"text": " "})
        .json()["error"]["message"]
        .startswith("There is no text.")
    )
    assert client.post("/", data={"text": "", "corpus": ""}).status_code == 200


def test_everything_is_escaped(client: Any) -> None:
    text = f"The Rhine {ATTACK} flows through Cologne."
    pages = [
        client.get("/", params={"text": text}).text,
        client.get("/", params={"text": text, "corpus": ATTACK}).text,
        client.get("/document", params={"page": ATTACK}).text,
        client.get("/claims", params={"corpus": ATTACK}).text,
        *(event.get("card", "") + event.get("row", "") for event in events(client, text)),
    ]
    assert "&lt;script&gt;" in pages[0]
    for page in pages:
        assert "<script>" not in page
        assert "style=" not in page and "javascript:" not in page and not re.search(r"\son\w+=", page)


def test_broken_bytes_and_control_characters_are_no_error(client: Any) -> None:
    for body in (b"text=%FF%FE%00%1B[31m&corpus=rivers", b"text=\xff\xfe", b"\x00" * 100, b"text=a%0D%0Ab"):
        answer = client.post("/", content=body, headers={"content-type": "application/x-www-form-urlencoded"})
        assert answer.status_code in (200, 303)
    assert events(client, "The Rhine\x00 flows\x1b through Cologne.")[-1]["kind"] == "end"
