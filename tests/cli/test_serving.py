"""The command starts a server that answers, stops when it is told to, and says what it cannot do."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from command import adjudge
from server_fixtures import write_rivers


@pytest.fixture
def server(untrained_run: Path, tmp_path: Path):
    """A server in a process of its own, and its address."""
    documents = write_rivers(tmp_path / "rivers")
    command = [sys.executable, "-m", "adjudge", "serve", "--corpus", documents, "--model", untrained_run]
    command += ["--selector", "lexical", "--port", "0", "--data-dir", tmp_path / "data"]
    process = subprocess.Popen(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def wait_until_ready(address: str) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{address}readyz", timeout=10)
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not become ready")


def ask(address: str, claim: str) -> dict:
    body = json.dumps({"claim": claim}).encode()
    request = urllib.request.Request(
        f"{address}v1/verify", body, {"content-type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def test_it_serves_and_finishes_what_is_under_way_when_terminated(server):
    process, address = server
    assert address.startswith("http://127.0.0.1:") and "token" not in address
    wait_until_ready(address)
    answers: list[dict] = []

    def attempt() -> None:
        with contextlib.suppress(OSError):  # those that come too late find nobody
            answers.append(ask(address, "The Elbe flows through Dresden."))

    threads = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 60
    while not answers and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGTERM)
    for thread in threads:
        thread.join(60)
    _, log = process.communicate(timeout=60)
    assert process.returncode in (0, 128 + signal.SIGTERM, -signal.SIGTERM)
    answered = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    verified = [line for line in answered if line.get("route") == "/v1/verify"]
    assert answers and all(line["status"] == 200 for line in verified)
    assert len(verified) == len(answers)  # what was accepted was answered
    assert "Elbe" not in log and "Traceback" not in log


def test_what_is_wrong_is_said_at_once(tmp_path, untrained_run):
    done = adjudge("serve", "--corpus", tmp_path / "nowhere")
    assert done.returncode == 2 and "no such index, folder or file" in done.stderr
    for content in (b"short\n", b"\xff\xfe\xff\xfe", b"two words are no token\n", b""):
        (tmp_path / "token").write_bytes(content)
        done = adjudge("serve", "--token-file", tmp_path / "token")
        assert done.returncode == 2 and "expected a token on the first line: 16 or more" in done.stderr


def test_a_port_that_is_taken_is_said(tmp_path):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = adjudge("serve", "--port", taken.getsockname()[1])
    assert done.returncode == 2 and "cannot listen there" in done.stderr


def test_a_model_that_is_not_there_ends_the_server(tmp_path):
    command = [sys.executable, "-m", "adjudge", "serve", "--model", str(tmp_path), "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ})
    assert done.returncode == 2 and "no trained judge here" in done.stderr
