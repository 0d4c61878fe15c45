"""The retriever of docs/scale.md, as it stands there, against a small search service."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from adjudge import Verifier, VerifierSettings

DOCS = Path(__file__).parents[2] / "docs" / "scale.md"
SENTENCES = [
    {
        "text": "The Ellery Bridge was opened in 1932.",
        "page": "Ellery_Bridge",
        "line": 0,
        "title": "Ellery Bridge",
    },
    {"text": "It has three arches.", "page": "Ellery_Bridge", "line": 1, "title": "Ellery Bridge"},
    {"text": "The harbour froze in 1940.", "page": "Harbour", "line": 0, "title": "Harbour"},
]


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


class Service(BaseHTTPRequestHandler):
    """What OpenSearch answers to ``_msearch``, by the number of words shared."""

    requests: list[str] = []

    def do_POST(self) -> None:
        lines = self.rfile.read(int(self.headers["Content-Length"])).decode().splitlines()
        self.requests.append(self.path)
        responses: list[dict[str, Any]] = []
        for line in lines[1::2]:
            asked = json.loads(line)
            query = words(asked["query"]["multi_match"]["query"])
            if "broken" in query:
                responses.append({"error": {"reason": "no such index"}, "status": 404})
                continue
            scored = [(len(query & words(f"{s['title']} {s['text']}")), s) for s in SENTENCES]
            best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])[: asked["size"]]
            hits = [{"_score": float(score), "_source": sentence} for score, sentence in best]
            responses.append({"hits": {"hits": hits}})
        body = json.dumps({"responses": responses}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[str]:
    Service.requests = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def example() -> dict[str, Any]:
    """The names that the page's code defines."""
    [code] = re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), flags=re.DOTALL)
    names: dict[str, Any] = {"__name__": "scale"}
    exec(compile(code, str(DOCS), "exec"), names)
    return names


def test_it_finds_sentences_for_all_claims_in_one_request(service: str):
    cluster = example()["SearchCluster"](service, "sentences")
    bridge, none, harbour = cluster.retrieve_many(
        ["The Ellery Bridge was opened in 1932.", "xyz", "Harbour froze"], 2
    )
    assert [e.text for e in bridge] == [SENTENCES[0]["text"], SENTENCES[1]["text"]] and none == []
    assert (harbour[0].page, harbour[0].line, harbour[0].title) == ("Harbour", 0, "Harbour")
    assert bridge[0].score > bridge[1].score > 0
    assert Service.requests == ["/sentences/_msearch"]


def test_a_verifier_decides_by_what_the_service_finds(service: str):
    cluster = example()["SearchCluster"](service, "sentences")
    verifier = Verifier(VerifierSettings(model="rules", selector="lexical"), corpus=cluster)
    verdicts = list(verifier.verify_many(["The Ellery Bridge was opened in 1945.", "xyz"]))
    assert verdicts[0].label == "REFUTES" and verdicts[0].evidence[0].page == "Ellery_Bridge"
    assert verdicts[1].label is None


def test_an_error_of_the_service_is_not_taken_for_silence(service: str):
    cluster = example()["SearchCluster"](service, "sentences")
    with pytest.raises(RuntimeError, match="no such index"):
        cluster.retrieve_many(["broken"], 1)
