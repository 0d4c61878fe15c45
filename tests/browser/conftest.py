"""Chromium, a server of the sample documents, and a page that must not complain nor ask other hosts.

Run by ``make browser-test``. ``CHROMIUM`` names another browser, ``AXE`` the file axe.min.js.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from adjudge import Evidence, Example, LabelSet, Verdict, Verifier
from adjudge.serving.page.samples import sample_documents
from adjudge.serving.settings import VerifierSettings
from adjudge.types import FEVER_LABELS, Explanation
from browsing import PATIENCE
from server_fixtures import listening

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP, PHONE = (1280, 860), (390, 844)
EDGES = ((0.2, 0.7, 0.1), (0.6, 0.3, 0.1), (0.5, 0.4, 0.1))

expect.set_options(timeout=1000 * PATIENCE)


def copy_samples(folder: Path) -> Path:
    """A copy of the package's sample documents, for one server: two would write the same index."""
    folder.mkdir()
    for file in sample_documents():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    assert path, "The browser tests need Chromium: apt-get install chromium, or set CHROMIUM=/path/to/chrome."
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def axe() -> str:
    path = os.environ.get("AXE", "")
    assert Path(path).is_file(), "AXE must name axe.min.js; make browser-test fetches it."
    return Path(path).read_text("utf-8")


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server that users start, with a model of the package."""
    folder = tmp_path_factory.mktemp("server")
    samples = copy_samples(folder / "samples")
    verifier = Verifier(VerifierSettings(model="fever"))
    with listening(verifier, samples, data_dir=folder / "uploads", timeout=PATIENCE) as (url, _):
        yield url


@dataclass(frozen=True)
class GraphJudge:
    """Supports everything, and says how much each of three sentences took from the others.

    Claims with the word "waiting" have no verdict before ``gate`` is opened.
    """

    gate: Event = field(default_factory=Event)

    @property
    def labels(self) -> LabelSet:
        return FEVER_LABELS

    @property
    def max_evidence(self) -> int:
        return 3

    @property
    def identity(self) -> dict[str, Any]:
        return {"kind": "graph", "weights": "0123456789abcdef" * 4}

    def judge(self, examples: Sequence[Example]) -> Iterator[Verdict]:
        for example in examples:
            if "waiting" in example.claim:
                self.gate.wait(PATIENCE)
            weights = (0.6, 0.3, 0.1)[: len(example.evidence)]
            evidence = tuple(
                replace(sentence, weight=weight)
                for sentence, weight in zip(example.evidence, weights, strict=False)
            )
            edges = EDGES if len(evidence) == 3 else ()
            yield self._verdict(example, evidence, Explanation(edges=edges))

    @staticmethod
    def _verdict(example: Example, evidence: tuple[Evidence, ...], explanation: Explanation) -> Verdict:
        shares = {"SUPPORTS": 0.9, "REFUTES": 0.05, "NOT ENOUGH INFO": 0.05}
        return Verdict(example.id, example.claim, "SUPPORTS", shares, evidence, explanation=explanation)


@pytest.fixture(scope="session")
def graph_judge() -> GraphJudge:
    return GraphJudge()


@pytest.fixture(scope="session")
def graph_address(graph_judge: GraphJudge, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose judge has edge weights, and a threshold."""
    folder = tmp_path_factory.mktemp("graph-server")
    samples = copy_samples(folder / "samples")
    settings = VerifierSettings(model="rules", selector="lexical", k=3, min_confidence=0.6)
    verifier = Verifier(settings, judge=graph_judge)
    with listening(verifier, samples, data_dir=folder / "uploads", timeout=PATIENCE) as (url, _):
        yield url
        graph_judge.gate.set()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens an address in a new window; at the end no page may have complained or asked another host."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_address(
        url: str,
        size: tuple[int, int] = DESKTOP,
        scheme: str = "light",
        script: bool = True,
        status: int = 200,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,  # type: ignore[arg-type]
            java_script_enabled=script,
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(1000 * PATIENCE)
        contexts.append(context)
        page = context.new_page()
        home = urlsplit(url).netloc
        expected = f"status of {status}"

        def hear(message: Any) -> None:
            if message.type in ("error", "warning") and not (status != 200 and expected in message.text):
                complaints.append(f"{message.type}: {message.text}")

        def watch(request: Any) -> None:
            if urlsplit(request.url).netloc not in (home, "") and not request.url.startswith(
                ("data:", "blob:")
            ):
                complaints.append(f"a request to {request.url}")

        page.on("console", hear)
        page.on("pageerror", lambda error: complaints.append(f"uncaught: {error}"))
        page.on("request", watch)
        response = page.goto(url)
        assert response is not None and response.status == status
        return page

    yield open_address
    for context in contexts:
        context.close()
    assert not complaints
