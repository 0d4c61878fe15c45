"""Load a server on this machine for a while, and see that memory, descriptors and answers stay what they were.

    python tests/soak/run.py --minutes 30              # make soak
    python tests/soak/run.py --minutes 0.5 --clients 2 --model runs/tiny --selector lexical

Clients ask what was asked before the load began and compare the answers; between these they upload and remove corpora,
hang up in the middle, and send what the server has to refuse. Only 127.0.0.1 is asked.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple

DOCUMENTS = Path(__file__).parents[1] / "resources" / "documents"
CLAIMS = (
    "The Ellery Bridge was opened in 1932.",
    "Members of the library may borrow only five books at a time.",
    "Ingrid Solberg played the violin.",
    "The ferry runs every day of the week.",
    "Nothing in these documents speaks of the moons of Saturn.",
)
TOLERANCE = 1e-5
"""What the neighbours in a batch may change a probability by."""
GROWTH, SLACK = 0.05, 24.0
"""Share and megabytes by which memory may be higher in the last quarter than in the second."""
SAMPLE_SECONDS = 2.0
START_SECONDS = 600.0


class Answer(NamedTuple):
    status: int
    body: bytes


class Question(NamedTuple):
    """A request whose answer stays the same."""

    path: str
    body: dict[str, Any]


class Sample(NamedTuple):
    """What the server's process has: megabytes, open files and sockets, threads."""

    memory: float
    descriptors: int
    threads: int


QUESTIONS = (
    *(Question("/v1/verify", {"claim": claim}) for claim in CLAIMS),
    *(Question("/v1/search", {"claim": claim, "k": 5}) for claim in CLAIMS),
    *(Question("/v1/classify", {"claim": claim, "evidence": [CLAIMS[0], claim]}) for claim in CLAIMS),
    Question("/v1/check", {"text": " ".join(CLAIMS), "stream": False}),
)


class Server:
    """``adjudge serve`` in a process of its own."""

    def __init__(self, folder: Path, options: list[str]) -> None:
        # A copy: a folder given as a corpus keeps its index in itself.
        documents = shutil.copytree(DOCUMENTS, folder / "documents")
        command = [sys.executable, "-m", "adjudge", "serve", "--port", "0", "--corpus", str(documents)]
        command += ["--data-dir", str(folder / "data"), "--runs", str(folder / "runs"), *options]
        self._log = (folder / "log").open("w+")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log, text=True)
        assert self.process.stdout is not None
        address = self.process.stdout.readline().strip()
        if not address.startswith("http://127.0.0.1:"):
            raise SystemExit(f"the server did not start: {self.log()}")
        self.port = int(address.rstrip("/").rpartition(":")[2])

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while self.ask("GET", "/readyz").status != 200:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise SystemExit(f"the server did not get ready: {self.log()}")
            time.sleep(0.2)

    def ask(self, method: str, path: str, body: bytes | None = None, kind: str = "json") -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, {"Content-Type": f"application/{kind}"})
            answer = connection.getresponse()
            return Answer(answer.status, answer.read())
        finally:
            connection.close()

    def sample(self) -> Sample:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        values = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        descriptors = len(os.listdir(f"/proc/{self.process.pid}/fd"))
        return Sample(int(values["VmRSS"].split()[0]) / 1024, descriptors, int(values["Threads"]))

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def log(self) -> str:
        self._log.seek(0)
        return self._log.read()[-2000:]


class Load:
    """Clients that ask until a deadline; ``counts`` says how often what, ``problems`` what went wrong."""

    def __init__(self, server: Server, expected: list[Any], seed: int) -> None:
        self._server, self._expected, self._seed = server, expected, seed
        self.counts: Counter[str] = Counter()
        self.problems: Counter[str] = Counter()

    def run_client(self, number: int, deadline: float) -> None:
        rng = random.Random(f"{self._seed} {number}")
        kinds: list[Callable[[random.Random, int], None]] = [self._question] * 12
        kinds += [self._batch, self._refused, self._hang_up, self._page, self._corpus]
        while time.monotonic() < deadline and not self._server.process.poll():
            kind = rng.choice(kinds)
            try:
                kind(rng, number)
                self.counts[kind.__name__.strip("_")] += 1
            except (OSError, HTTPException, ValueError, KeyError) as error:
                self.problems[f"{kind.__name__.strip('_')}: {type(error).__name__}: {error}"[:200]] += 1

    def _question(self, rng: random.Random, number: int) -> None:
        index = rng.randrange(len(QUESTIONS))
        question = QUESTIONS[index]
        answer = self._server.ask("POST", question.path, json.dumps(question.body).encode())
        if answer.status in (429, 503):
            self.counts["asked to wait"] += 1
        elif answer.status != 200:
            self.problems[f"{question.path}: status {answer.status}"] += 1
        elif not alike(json.loads(answer.body), self._expected[index]):
            self.problems[f"{question.path}: another answer to {question.body}"[:200]] += 1

    def _batch(self, rng: random.Random, number: int) -> None:
        lines = [json.dumps({"id": n, "claim": rng.choice(CLAIMS)}) for n in range(8)]
        answer = self._server.ask("POST", "/v1/batch", "\n".join(lines).encode(), "x-ndjson")
        if answer.status not in (200, 429, 503):
            self.problems[f"/v1/batch: status {answer.status}"] += 1
        if answer.status == 200 and [json.loads(line)["id"] for line in answer.body.splitlines()] != list(
            range(8)
        ):
            self.problems["/v1/batch: lines are missing"] += 1

    def _refused(self, rng: random.Random, number: int) -> None:
        path, body = rng.choice(
            (
                ("/v1/verify", b"{"),
                ("/v1/verify", b"[" * 50_000),
                ("/v1/verify", json.dumps({"claim": "a" * 20_000}).encode()),
                ("/v1/verify", json.dumps({"claim": "a", "corpus": "no-such"}).encode()),
                ("/v1/check", b"\xff\xfe"),
                ("/v1/search", json.dumps({"claim": "a", "k": -1}).encode()),
                ("/v1/corpora", json.dumps({"name": "../up"}).encode()),
            )
        )
        status = self._server.ask("POST", path, body).status
        if not 400 <= status < 500:
            self.problems[f"{path}: status {status} for {body[:40]!r}"] += 1

    def _hang_up(self, rng: random.Random, number: int) -> None:
        connection = HTTPConnection("127.0.0.1", self._server.port, timeout=30)
        body = json.dumps({"text": " ".join(CLAIMS * 4)}).encode()
        connection.putrequest("POST", "/v1/check")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body if rng.random() < 0.5 else body[:20])
        time.sleep(rng.random() * 0.2)
        connection.close()

    def _page(self, rng: random.Random, number: int) -> None:
        path = rng.choice(("/", "/metrics", "/v1/corpora", "/openapi.json", "/healthz"))
        status = self._server.ask("GET", path).status
        if status != 200:
            self.problems[f"{path}: status {status}"] += 1

    def _corpus(self, rng: random.Random, number: int) -> None:
        """A corpus comes, gets two documents, is asked, and goes."""
        name = f"soak-{number}-{rng.randrange(1 << 30):x}"
        text = f"The tower of {name} is {rng.randrange(10, 99)} metres high."
        ask = self._server.ask
        if ask("POST", "/v1/corpora", json.dumps({"name": name}).encode()).status != 201:
            raise ValueError("no corpus was made")
        for document, content in (("tower.txt", text), ("other.txt", CLAIMS[0])):
            ask("PUT", f"/v1/corpora/{name}/documents/{document}", content.encode())
        deadline = time.monotonic() + 120
        while json.loads(ask("GET", f"/v1/corpora/{name}").body).get("documents") != 2:
            if time.monotonic() > deadline:
                raise ValueError("uploads were not indexed in 120 s")
            time.sleep(0.1)
        answer = ask(
            "POST", "/v1/search", json.dumps({"claim": f"The tower of {name}", "corpus": name}).encode()
        )
        if answer.status == 200 and text not in [e["text"] for e in json.loads(answer.body)["evidence"]]:
            self.problems["a document that was uploaded is not found"] += 1
        if ask("DELETE", f"/v1/corpora/{name}").status != 204:
            raise ValueError("the corpus was not removed")


def alike(one: Any, other: Any) -> bool:
    """Whether two answers are the same, numbers up to what batches change."""
    if isinstance(one, float) and isinstance(other, (float, int)):
        return abs(one - other) <= TOLERANCE
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


def growth_in(samples: list[Sample], clients: int) -> list[str]:
    """What grew under an even load: the last quarter against the second, since the first warms up."""
    quarter = len(samples) // 4
    if quarter < 2:
        return []
    before, after = samples[quarter : 2 * quarter], samples[-quarter:]
    problems = []
    memory = [statistics.median(sample.memory for sample in part) for part in (before, after)]
    if memory[1] > memory[0] * (1 + GROWTH) + SLACK:
        problems.append(f"memory grew from {memory[0]:.0f} to {memory[1]:.0f} MB")
    for name in ("descriptors", "threads"):
        counts = [statistics.median(getattr(sample, name) for sample in part) for part in (before, after)]
        if counts[1] > counts[0] + clients:
            problems.append(f"{name} grew from {counts[0]:.0f} to {counts[1]:.0f}")
    return problems


def soak(server: Server, minutes: float, clients: int, seed: int) -> dict[str, Any]:
    server.wait_until_ready()
    answers = [server.ask("POST", path, json.dumps(body).encode()) for path, body in QUESTIONS]
    if any(answer.status != 200 for answer in answers):
        raise SystemExit(f"a question was refused before the load began: {answers}")
    load = Load(server, [json.loads(answer.body) for answer in answers], seed)
    deadline = time.monotonic() + 60 * minutes
    threads = [threading.Thread(target=load.run_client, args=(n, deadline)) for n in range(clients)]
    at_rest = server.sample()
    samples: list[Sample] = []
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads) and server.process.poll() is None:
        samples.append(server.sample())
        time.sleep(SAMPLE_SECONDS)
    for thread in threads:
        thread.join()
    problems = [f"{text} ({count} times)" for text, count in load.problems.items()]
    if server.process.poll() is not None:
        return {"problems": [f"the server ended: {server.log()}", *problems]}
    for index, (path, body) in enumerate(QUESTIONS):
        again = server.ask("POST", path, json.dumps(body).encode())
        if again.status != 200 or not alike(json.loads(again.body), load._expected[index]):
            problems.append(f"{path}: another answer to {body} after the load"[:200])
    time.sleep(1)  # connections that were hung up are closed
    after = server.sample()
    problems += growth_in(samples, clients)
    if after.descriptors > at_rest.descriptors + 4:
        problems.append(f"descriptors at rest: {at_rest.descriptors} before, {after.descriptors} after")
    return {
        "minutes": minutes,
        "clients": clients,
        "requests": dict(load.counts),
        "at rest before": at_rest._asdict(),
        "at rest after": after._asdict(),
        "highest": {name: max(getattr(s, name) for s in samples) for name in Sample._fields},
        "problems": problems,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    options, further = parser.parse_known_args()  # further ones are the server's
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        (Path(folder) / "runs").mkdir()
        server = Server(Path(folder), further)
        try:
            report = soak(server, options.minutes, options.clients, options.seed)
        finally:
            code = server.stop()
        if code not in (0, -signal.SIGTERM):
            report["problems"].append(f"the server ended with {code}: {server.log()}")
        left = sorted(path.name for path in (Path(folder) / "data").glob("*"))
        if left:
            report["problems"].append(f"corpora that were removed are left: {left}")
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    raise SystemExit(1 if report["problems"] else 0)


if __name__ == "__main__":
    main()
