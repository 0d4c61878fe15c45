"""Bodies of HTTP requests as a target: any bytes get an answer that is the server's own, never a failure."""

from __future__ import annotations

import functools
import json
import tempfile
import zlib
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from adjudge.errors import DataError

ROUTES = (
    ("/v1/verify", "application/json"),
    ("/v1/classify", "application/json"),
    ("/v1/search", "application/json"),
    ("/v1/check", "application/json"),
    ("/v1/batch", "application/x-ndjson"),
    ("/v1/corpora", "application/json"),
)
_CLAIM = "The Elbe flows through Dresden."
SEEDS = tuple(
    json.dumps(body).encode()
    for body in (
        {"claim": _CLAIM, "id": 1},
        {"claim": _CLAIM, "evidence": ["The Elbe is long.", {"text": "It ends.", "title": "Elbe"}]},
        {"claim": _CLAIM, "evidence": ["The Elbe is long."], "leave_one_out": True},
        {"claim": _CLAIM, "k": 2, "corpus": "rivers"},
        {"text": "The Elbe ends in the sea. Is it long?", "stream": False, "marks": True},
        {"text": "# Rivers\n\nThe Rhine rises in Switzerland, and it is long.", "markdown": True},
        {"name": "rivers"},
    )
) + (b'{"id": 1, "claim": "It is long."}\n{"id": 2, "claim": "It is red.", "evidence": ["It is green."]}\n',)


def ask(path: Path) -> None:
    """Send what a file holds to a route that its bytes choose; an error status is a refusal."""
    content = path.read_bytes()
    route, kind = ROUTES[zlib.crc32(content) % len(ROUTES)]
    answer = _client().post(route, content=content, headers={"content-type": kind})
    assert answer.status_code < 500, f"{route}: {answer.status_code} {answer.text[:200]}"
    if answer.status_code >= 400:
        assert answer.json()["error"]["message"], f"{route}: {answer.text[:200]}"
        raise DataError(answer.text)


@functools.cache
def _client() -> Any:
    """A client of a server in this process, which stays until the process ends."""
    from adjudge import Verifier
    from server_fixtures import asked, write_rivers

    stack = ExitStack()
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    documents = write_rivers(folder / "rivers")
    verifier = Verifier.load("small", selector="lexical", k=2, candidates=4)
    client = stack.enter_context(asked(verifier, documents, data_dir=folder / "data", refresh=3600.0))
    client.kept_open = stack
    return client
