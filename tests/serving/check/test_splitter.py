"""A language model splits sentences, behind an address on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from adjudge.errors import ConfigError, DataError
from adjudge.serving.check.splitter import ModelSplitter, parse_statements


class Answering(BaseHTTPRequestHandler):
    """Answers every question with what the server was given, and keeps the questions."""

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.server.questions.append((self.path, dict(self.headers), json.loads(self.rfile.read(length))))  # type: ignore[attr-defined]
        content = self.server.answer.encode()  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Answering)
    server.questions = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def completion(content: str) -> str:
    return json.dumps({"choices": [{"message": {"content": content}}]})


def test_the_model_is_asked_and_its_list_is_the_parts(server):
    server.answer = completion('Here: ["A is old.", "A is tall."]')
    split = ModelSplitter(f"http://127.0.0.1:{server.server_port}/v1", "tiny", key="secret")
    assert split("A is old and tall.") == ["A is old.", "A is tall."]
    ((path, headers, question),) = server.questions
    assert path == "/v1/chat/completions" and headers["Authorization"] == "Bearer secret"
    assert question["model"] == "tiny" and question["messages"][0]["content"].endswith("A is old and tall.")
    assert "secret" not in repr(split)


@pytest.mark.parametrize("content", ["no list", "[1, 2]", "[]", "[not json]", '{"a": 1}'])
def test_an_answer_that_is_no_list_leaves_the_sentence_whole(content):
    assert parse_statements(content, "A is old.") == ["A is old."]


def test_an_answer_that_is_no_completion_is_an_error_that_says_so(server):
    server.answer = "{}"
    with pytest.raises(DataError, match="not a chat completion"):
        ModelSplitter(f"http://127.0.0.1:{server.server_port}/v1")("A is old.")


def test_a_server_that_is_not_there_is_named():
    with pytest.raises(DataError, match=r"127\.0\.0\.1:9/v1/chat/completions: no answer"):
        ModelSplitter("http://127.0.0.1:9/v1", timeout=2)("A is old.")


def test_an_address_must_be_one():
    with pytest.raises(ConfigError, match="expected an address"):
        ModelSplitter("file:///etc/passwd")
