"""Load on a server on this machine: many clients at once, beside one at a time and beside a handler without batching.

    python benchmarks/bench_serve.py --clients 32 --seconds 20 --rounds 3

Servers run in processes of their own and are asked in turn, round by round, so that other load on the machine meets
all of them. Every answer is compared with that of a ``Verifier``. Requests go to 127.0.0.1 alone and end by themselves.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

DOCUMENTS = Path(__file__).parents[1] / "tests" / "resources" / "documents"
PLAIN = """
import sys
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from adjudge import Verifier
from adjudge.data.verdicts import verdict_record

class Body(BaseModel):
    claim: str

app = FastAPI()
verifier = Verifier.load(corpus=sys.argv[1])
verifier.verify("warm up")

@app.get("/readyz")
def ready():
    return {}

@app.post("/v1/verify")
async def verify(body: Body):
    return verdict_record(verifier.verify(body.claim))

uvicorn.run(app, port=int(sys.argv[2]), log_level="error")
"""


@dataclass
class Figures:
    """What came out of some seconds of load."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    statuses: Counter = field(default_factory=Counter)
    wrong: int = 0

    def add(self, other: Figures) -> None:
        self.seconds += other.seconds
        self.latencies += other.latencies
        self.statuses += other.statuses
        self.wrong += other.wrong

    def row(self, name: str) -> str:
        good = self.statuses[200]
        cuts = statistics.quantiles(self.latencies, n=100) if len(self.latencies) > 1 else [0.0] * 99
        p50, p95, p99 = (f"{1000 * cuts[n - 1]:.0f}" for n in (50, 95, 99))
        others = ", ".join(f"{count} × {status}" for status, count in self.statuses.items() if status != 200)
        rate = f"{good / self.seconds:.1f}"
        return f"| {name} | {rate} | {p50} | {p95} | {p99} | {good} | {others or '–'} | {self.wrong} |"


def sample_claims(verifier, most: int) -> list[str]:
    """Claims like the sample documents' own sentences."""
    index = verifier.retriever().index
    sentences = [s.text.replace("\n", " ") for _, group in index.all_pages() for s in group]
    return [text for text in dict.fromkeys(sentences) if 20 < len(text) < 200][:most]


async def ask(reader, writer, body: bytes) -> tuple[int, bytes]:
    """One request on a connection that stays open."""
    writer.write(
        b"POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head[9:12])
    length = next(
        int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
    )
    return status, await reader.readexactly(length)


async def load(port: int, clients: int, seconds: float, expected: dict[str, dict[str, float]]) -> Figures:
    """Keep a server busy for a while."""
    figures, claims = Figures(), list(expected)
    end = time.monotonic() + seconds

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        turn = number * 7
        while time.monotonic() < end:
            claim = claims[turn % len(claims)]
            turn += 1
            began = time.monotonic()
            status, content = await ask(reader, writer, json.dumps({"claim": claim}).encode())
            figures.statuses[status] += 1
            if status == 200:
                figures.latencies.append(time.monotonic() - began)
                given = json.loads(content)["probabilities"]
                other = expected[claim]
                if given.keys() != other.keys() or any(abs(given[k] - other[k]) > 1e-4 for k in other):
                    figures.wrong += 1
            else:
                await asyncio.sleep(0.05)
        writer.close()

    began = time.monotonic()
    await asyncio.gather(*(client(n) for n in range(clients)))
    figures.seconds = time.monotonic() - began
    return figures


def memory(process: int) -> float:
    """MB that a process holds."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1000


def start(command: list[str], port: int) -> subprocess.Popen:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5)
            return process
        except OSError:
            time.sleep(0.2)
            if process.poll() is not None:
                raise SystemExit(f"{command[:3]}: ended with {process.returncode}") from None
    raise SystemExit("a server did not become ready")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--claims", type=int, default=60)
    parser.add_argument("--port", type=int, default=18080)
    options = parser.parse_args()
    from adjudge import Verifier

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cp", "-r", str(DOCUMENTS), folder], check=True)
        corpus, data = f"{folder}/documents", f"{folder}/data"
        verifier = Verifier.load(corpus=corpus)
        verdicts = {claim: verifier.verify(claim) for claim in sample_claims(verifier, options.claims)}
        expected = {claim: dict(verdict.probabilities) for claim, verdict in verdicts.items()}
        adjudge = [sys.executable, "-m", "adjudge", "serve", "--corpus", corpus, "--data-dir", data]
        ports = options.port, options.port + 1, options.port + 2
        servers = [
            start([*adjudge, "--port", str(ports[0])], ports[0]),
            start([sys.executable, "-c", PLAIN, corpus, str(ports[1])], ports[1]),
            start([*adjudge, "--port", str(ports[2]), "--queue-size", "4"], ports[2]),
        ]
        try:
            run(options, ports, servers, expected)
        finally:
            for server in servers:
                server.terminate()
            for server in servers:
                server.wait(60)


def run(options, ports, servers, expected) -> None:
    many, single, plain, shed, after = Figures(), Figures(), Figures(), Figures(), Figures()
    asyncio.run(load(ports[0], 4, 2, expected))  # warm
    asyncio.run(load(ports[1], 4, 2, expected))
    before = memory(servers[0].pid)
    ratios = []
    for number in range(options.rounds):
        rates = []
        for port, clients, figures in ((ports[0], options.clients, many), (ports[1], options.clients, plain)):
            part = asyncio.run(load(port, clients, options.seconds, expected))
            rates.append(part.statuses[200] / part.seconds)
            figures.add(part)
        single.add(asyncio.run(load(ports[0], 1, options.seconds / 2, expected)))
        ratios.append(rates[0] / rates[1])
        print(f"round {number + 1}: batched {rates[0]:.1f}/s, plain {rates[1]:.1f}/s", file=sys.stderr)
    end = memory(servers[0].pid)
    shed.add(asyncio.run(load(ports[2], options.clients, options.seconds / 2, expected)))
    after.add(asyncio.run(load(ports[2], 1, options.seconds / 4, expected)))
    print(f"threads {os.environ.get('OMP_NUM_THREADS', 'default')}, load average {os.getloadavg()[0]:.1f}\n")
    print("| | requests/s | p50 ms | p95 ms | p99 ms | answers | refused | not as Verifier |")
    print("|---|--:|--:|--:|--:|--:|---|--:|")
    print(many.row(f"adjudge serve, {options.clients} clients"))
    print(single.row("adjudge serve, one request at a time"))
    print(plain.row(f"handler without batching, {options.clients} clients"))
    print(shed.row(f"queue of 4, {options.clients} clients"))
    print(after.row("the same afterwards, one at a time"))
    print(f"\nbatched / without, median of {len(ratios)} rounds: {statistics.median(ratios):.2f}")
    print(f"memory of the server: {before:.0f} MB before, {end:.0f} MB after")


if __name__ == "__main__":
    main()
