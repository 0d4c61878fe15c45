from __future__ import annotations

import json

import pytest

from adjudge.data.verdicts import verdict_record
from adjudge.serving.server.app import create_app
from adjudge.serving.server.settings import ServerSettings
from server_fixtures import asked

CLAIM = "The Elbe flows through Dresden."


@pytest.fixture(scope="module")
def client(river_verifier, river_documents, tmp_path_factory):
    with asked(
        river_verifier, river_documents, data_dir=tmp_path_factory.mktemp("data"), max_batch=50
    ) as client:
        yield client


def events(response) -> list[tuple[str, object]]:
    """(name, value) of the server-sent events of an answer."""
    blocks = [block.splitlines() for block in response.text.split("\n\n") if block]
    return [
        (lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))) for lines in blocks
    ]


def rounded(value):
    """JSON with its numbers to four digits, without the paths of files."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items() if key != "source"}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return round(value, 4) if isinstance(value, float) else value


def test_a_verdict_is_what_the_command_prints_but_for_the_servers_paths(
    client, river_verifier, river_documents
):
    answer = client.post("/v1/verify", json={"claim": CLAIM, "id": "x7"}).json()
    expected = verdict_record(river_verifier.verify(CLAIM, river_documents)) | {"id": "x7"}
    assert rounded(answer) == rounded(expected)
    assert {e["source"] for e in answer["evidence"]} <= {"elbe.txt", "rhine.txt"}


def test_given_evidence_needs_no_corpus(client, river_verifier):
    body = {"claim": CLAIM, "evidence": ["The Elbe flows.", {"text": "It is wet.", "title": "Elbe"}]}
    answer = client.post("/v1/classify", json=body).json()
    assert [e["text"] for e in answer["evidence"]] == ["The Elbe flows.", "It is wet."]
    assert sum(answer["probabilities"].values()) == pytest.approx(1, abs=1e-5)
    assert "without" not in answer and '"cut"' not in json.dumps(answer)
    long = client.post("/v1/classify", json={"claim": CLAIM, "evidence": ["Wet. " * 200, "Dry."]}).json()
    assert [e.get("cut", False) for e in long["evidence"]] == [True, False] and "claim_cut" not in long
    assert client.post("/v1/classify", json={"claim": "Wet. " * 200, "evidence": ["Dry."]}).json()[
        "claim_cut"
    ]
    more = client.post("/v1/classify", json={**body, "leave_one_out": True, "id": 4}).json()
    assert more["id"] == 4 and len(more["without"]) == 2
    alone = client.post("/v1/classify", json={**body, "evidence": body["evidence"][1:]}).json()
    assert more["without"][0]["probabilities"] == pytest.approx(alone["probabilities"], abs=1e-4)


def test_a_check_streams_one_event_for_each_sentence_and_a_summary(client, river_verifier, river_documents):
    text = f"{CLAIM} The Rhine rises in Austria. Barges carry coal. Zyzzyva is a word."
    response = client.post("/v1/check", json={"text": text})
    assert response.headers["content-type"].startswith("text/event-stream")
    names, values = zip(*events(response), strict=True)
    assert names == ("start", "sentence", "sentence", "sentence", "sentence", "summary")
    check = river_verifier.check(text, river_documents)
    assert [v["state"] for v in values[1:-1]] == [s.state.value for s in check.sentences]
    assert values[-1]["summary"] == check.summary
    whole = client.post("/v1/check", json={"text": text, "stream": False}).json()
    assert whole["summary"] == check.summary
    assert [s["text"] for s in whole["sentences"]] == [v["text"] for v in values[1:-1]]


def test_an_empty_text_has_no_sentences(client):
    whole = client.post("/v1/check", json={"text": "", "stream": False}).json()
    assert whole["sentences"] == []
    assert [name for name, _ in events(client.post("/v1/check", json={"text": " \n "}))] == [
        "start",
        "summary",
    ]


def test_a_search_gives_sentences_best_first(client):
    answer = client.post("/v1/search", json={"claim": CLAIM, "k": 2}).json()
    assert answer["corpus"] == "rivers" and len(answer["evidence"]) == 2
    assert answer["evidence"][0]["text"] == CLAIM


def test_a_batch_answers_every_line_in_order_and_keeps_the_ids(client):
    lines = [
        json.dumps({"id": "b", "claim": CLAIM, "label": "SUPPORTS", "verifiable": "not looked at"}),
        "",
        "not json",
        json.dumps({"claim": "It is red.", "evidence": ["It is green."]}),
        json.dumps({"id": 9, "claim": ""}),
        json.dumps({"id": 3, "claim": "Barges carry coal.", "corpus": "nowhere"}),
        json.dumps({"id": 4, "claim": "Zyzzyva."}),
    ]
    response = client.post(
        "/v1/batch", content="\n".join(lines), headers={"content-type": "application/x-ndjson"}
    )
    assert response.status_code == 200
    answers = [json.loads(line) for line in response.text.splitlines()]
    assert [a["id"] for a in answers] == ["b", None, 4, 9, 3, 4]
    assert [("error" in a) for a in answers] == [False, True, False, True, True, False]
    assert answers[1]["line"] == 3 and answers[3]["line"] == 5
    assert answers[4]["error"]["code"] == "not_found"
    assert answers[5]["label"] is None and "matches" in answers[5]["reason"]
    alone = client.post("/v1/verify", json={"claim": CLAIM, "id": "b"}).json()
    assert rounded(answers[0]) == rounded(alone)  # its neighbours change the last digits


def test_a_batch_is_answered_however_much_longer_than_the_queue_it_is(
    river_verifier, river_documents, tmp_path
):
    with asked(river_verifier, river_documents, data_dir=tmp_path, queue_size=2) as client:
        lines = "\n".join(json.dumps({"id": n, "claim": f"The Elbe is {n} metres long."}) for n in range(40))
        answer = client.post("/v1/batch", content=lines, headers={"content-type": "application/x-ndjson"})
    records = [json.loads(line) for line in answer.text.splitlines()]
    assert [r["id"] for r in records] == list(range(40)) and all("label" in r for r in records)


def test_a_batch_of_too_many_lines_is_refused(client):
    lines = "\n".join(['{"claim": "It is."}'] * 60)
    response = client.post("/v1/batch", content=lines, headers={"content-type": "application/x-ndjson"})
    assert response.status_code == 413 and "More than 50 lines" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/v1/verify", {"claim": ""}, 422, "claim: String should have at least 1 character"),
        ("/v1/verify", {"claim": "   "}, 422, "claim: is empty."),
        ("/v1/verify", {"claim": 7}, 422, "claim: Input should be a valid string"),
        ("/v1/verify", {}, 422, "claim: Field required"),
        ("/v1/verify", {"claim": CLAIM, "corpora": "x"}, 422, "corpora: Extra inputs are not permitted"),
        ("/v1/verify", {"claim": CLAIM, "corpus": "../../etc"}, 404, "No corpus is called '../../etc'"),
        ("/v1/verify", {"claim": "x" * 10_001}, 422, "at most 10000 characters"),
        ("/v1/verify", {"claim": "x" * 1_000_000}, 422, "at most 10000 characters"),
        ("/v1/verify", {"claim": "x" * 3_000_000}, 413, "more than 2,097,152 bytes"),
        ("/v1/check", {"text": "x" * 200_001}, 413, "at most 200,000 are checked"),
        ("/v1/classify", {"claim": CLAIM, "evidence": "x"}, 422, "evidence: Input should be a valid list"),
        ("/v1/classify", {"claim": CLAIM, "evidence": ["x"] * 6}, 422, "this model reads at most 5"),
        ("/v1/search", {"claim": CLAIM, "k": 0}, 422, "k: Input should be greater than or equal to 1"),
        ("/v1/nothing", {}, 404, "Not Found"),
    ],
)
def test_bad_requests_say_what_was_wrong_in_one_shape(client, path, body, status, message):
    response = client.post(path, json=body)
    assert response.status_code == status
    assert set(response.json()) == {"error"}
    assert message in response.json()["error"]["message"]


def test_text_that_utf8_cannot_write_is_refused_and_control_characters_are_not(client):
    headers = {"content-type": "application/json"}
    response = client.post("/v1/verify", content=b'{"claim": "The Elbe \\ud800 flows."}', headers=headers)
    assert response.status_code == 422 and "unicode" in response.json()["error"]["message"]
    claim = "The \0 Elbe \x1b[31m flows\u202e through \u2028 Dresden."
    assert client.post("/v1/verify", json={"claim": claim}).json()["claim"] == claim


def test_script_in_a_claim_comes_back_as_data(client):
    claim = "<script>alert(1)</script> The Elbe flows."
    response = client.post("/v1/verify", json={"claim": claim})
    assert response.json()["claim"] == claim
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/xml", "application/x-www-form-urlencoded", ""]
)
def test_another_content_type_is_refused(client, content_type):
    headers = {"content-type": content_type} if content_type else {}
    response = client.post("/v1/verify", content=json.dumps({"claim": CLAIM}), headers=headers)
    assert response.status_code == 415
    response = client.post("/v1/batch", content=b"{}", headers={"content-type": "application/pdf"})
    assert response.status_code == 415


@pytest.mark.parametrize(
    "body", [b'{"claim": "\xff\xfe"}', b"{", b"[" * 100_000, b"\0", b"null", b"[]", b'"x"']
)
def test_broken_bodies_are_refused(client, body):
    response = client.post("/v1/verify", content=body, headers={"content-type": "application/json"})
    assert response.status_code in (400, 422)
    assert set(response.json()) == {"error"}


def test_probes_and_metrics(client):
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}
    client.post("/v1/verify", json={"claim": CLAIM})
    text = client.get("/metrics").text
    for name in (
        'adjudge_request_seconds_count{method="POST",route="/v1/verify",status="200"}',
        'adjudge_stage_seconds_count{stage="queue"}',
        'adjudge_stage_seconds_count{stage="retrieval"}',
        'adjudge_stage_seconds_count{stage="tokenisation"}',
        'adjudge_stage_seconds_count{stage="inference"}',
        "adjudge_queue_requests",
        "adjudge_batch_requests_count",
        "adjudge_verdicts_total{state=",
        "adjudge_ready 1.0",
    ):
        assert name in text


def test_before_the_model_is_loaded_requests_are_put_off(river_verifier, river_documents, tmp_path):
    from starlette.testclient import TestClient

    settings = ServerSettings(verifier=river_verifier.settings, corpora=(river_documents,), data_dir=tmp_path)
    client = TestClient(create_app(settings), base_url="http://localhost")  # without a start: it never loads
    assert client.get("/healthz").status_code == 200
    for response in (client.get("/readyz"), client.post("/v1/verify", json={"claim": CLAIM})):
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) >= 1
        assert response.json()["error"]["code"] == "loading"


def test_the_description_has_an_example_for_every_request(client):
    description = client.get("/openapi.json").json()
    schemas = description["components"]["schemas"]
    for name in ("VerifyRequest", "ClassifyRequest", "CheckRequest", "SearchRequest", "CorpusRequest"):
        assert schemas[name]["examples"]
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (path, method)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/check", '{"text": "The bridge \\ud800 is old.", "stream": false}'),
        ("/v1/verify", '{"claim": "The bridge is old.", "id": "\\udfff"}'),
        ("/v1/verify", '{"claim": "The bridge \\ud800 is old."}'),
        ("/v1/classify", '{"claim": "It is old.", "evidence": ["\\udc00"], "id": 1}'),
    ],
)
def test_half_a_surrogate_pair_is_refused(client, path, body):
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422 and answer.json()["error"]["code"] == "invalid"


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("verify", b'{"claim": "x",', "body: is not JSON, at character 15 ("),
        ("verify", b'{"claim": "\xff"}', "The body cannot be read: expected JSON in UTF-8"),
        (
            "verify",
            b'{"claim": "x", "id": true}',
            "id: Input should be a valid integer or Input should be a valid string.",
        ),
        (
            "classify",
            b'{"claim": "x", "evidence": [1]}',
            "evidence.0: Input should be a valid string or Input",
        ),
        (
            "classify",
            b'{"claim": "x", "evidence": [{"text": "y", "line": -2}]}',
            "evidence.0.line: Input should be gr",
        ),
    ],
)
def test_errors_name_the_fields_of_the_request(client, path, body, expected):
    answer = client.post(f"/v1/{path}", content=body, headers={"content-type": "application/json"})
    message = answer.json()["error"]["message"]
    assert answer.status_code in (400, 422) and expected in message
    assert "constrained" not in message and "GivenEvidence" not in message
