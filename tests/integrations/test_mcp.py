"""The tools for agents, asked by the real client: in the process, over standard input and output, and over HTTP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason='needs the extra: pip install "adjudge[mcp]"')

from mcp import Client, StdioServerParameters

from adjudge import __version__
from adjudge.integrations.mcp import mcp_server, mount
from adjudge.serving.check.export import check_record
from adjudge.serving.server.engine import Engine
from adjudge.serving.server.settings import ServerSettings
from command import adjudge
from server_fixtures import listening

CLAIM = "The Elbe flows through Dresden."
TEXT = "The Elbe flows through Dresden. Is it long?"
SECONDS = 120.0


def ask(server: Any, questions: Callable[[Client], Awaitable[Any]]) -> Any:
    """What a client gets to hear from a server."""

    async def talk() -> Any:
        async with Client(server, read_timeout_seconds=SECONDS) as client:
            return await questions(client)

    return asyncio.run(talk())


@pytest.fixture
def server(river_verifier, river_documents, tmp_path) -> Any:
    settings = ServerSettings(verifier=river_verifier.settings, corpora=(river_documents,), data_dir=tmp_path)
    return mcp_server(Engine(settings, river_verifier), starts=True)


def test_it_tells_what_its_tools_take_and_give(server):
    async def questions(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in ask(server, questions)}
    assert set(tools) == {"verify_claim", "check_text", "search_evidence"}
    assert tools["verify_claim"].input_schema["required"] == ["claim"]
    assert {"label", "probabilities", "evidence"} <= set(tools["verify_claim"].output_schema["properties"])
    assert tools["search_evidence"].input_schema["properties"]["k"]["maximum"] == 100
    assert all(tool.description and tool.annotations.read_only_hint for tool in tools.values())


def test_its_verdict_is_the_verifiers_own(server, river_verifier, river_documents):
    async def questions(client: Client) -> Any:
        return await client.call_tool("verify_claim", {"claim": CLAIM})

    answer = ask(server, questions)
    assert not answer.is_error
    expected = river_verifier.verify(CLAIM, river_documents)
    record = answer.structured_content
    assert record["label"] == expected.label
    assert record["probabilities"] == pytest.approx(dict(expected.probabilities), abs=1e-4)
    assert [e["text"] for e in record["evidence"]] == [e.text for e in expected.evidence]
    assert record["evidence"][0]["source"] == "elbe.txt", "told from the corpus's folder"


def test_its_check_is_the_verifiers_own(server, river_verifier, river_documents):
    async def questions(client: Client) -> Any:
        return await client.call_tool("check_text", {"text": TEXT})

    record = ask(server, questions).structured_content
    expected = check_record(river_verifier.check(TEXT, river_documents))
    assert record["counts"] == expected["counts"]
    assert [s["state"] for s in record["sentences"]] == [s["state"] for s in expected["sentences"]]
    assert record["sentences"][1]["reason"] == "question"


def test_it_finds_as_many_sentences_as_asked_for(server):
    async def questions(client: Client) -> Any:
        return await client.call_tool("search_evidence", {"claim": "the Elbe", "corpus": "rivers", "k": 2})

    record = ask(server, questions).structured_content
    assert record["corpus"] == "rivers" and len(record["evidence"]) == 2
    assert all("Elbe" in sentence["text"] for sentence in record["evidence"])


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("verify_claim", {"claim": "  "}, "The claim is empty"),
        ("verify_claim", {"claim": CLAIM, "corpus": "lakes"}, "lakes"),
        ("check_text", {"text": TEXT, "corpus": "lakes"}, "lakes"),
        ("search_evidence", {"claim": CLAIM, "k": 0}, "greater than or equal to 1"),
        ("verify_claim", {}, "claim"),
    ],
)
def test_what_a_caller_gets_wrong_is_said(server, tool, arguments, message):
    async def questions(client: Client) -> Any:
        return await client.call_tool(tool, arguments)

    answer = ask(server, questions)
    assert answer.is_error and message in answer.content[0].text


def test_a_model_that_cannot_be_loaded_is_an_answer(river_documents, tmp_path):
    settings = ServerSettings(verifier={"model": tmp_path}, corpora=(river_documents,), data_dir=tmp_path)

    async def questions(client: Client) -> Any:
        return await client.call_tool("verify_claim", {"claim": CLAIM})

    answer = ask(mcp_server(Engine(settings), starts=True), questions)
    assert answer.is_error and "could not be loaded" in answer.content[0].text


def test_the_command_speaks_over_standard_input_and_output(river_documents):
    source = str(Path(__file__).parents[2] / "src")
    command = StdioServerParameters(
        command=sys.executable,
        args=[
            "-m",
            "adjudge",
            "mcp",
            "--corpus",
            str(river_documents),
            "--model",
            "rules",
            "--selector",
            "lexical",
        ],
        env={"PYTHONPATH": source, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )

    async def questions(client: Client) -> Any:
        answer = await client.call_tool("verify_claim", {"claim": "The Elbe is 900 kilometres long."})
        return client.server_info, answer

    info, answer = ask(command, questions)
    assert (info.name, info.version) == ("adjudge", __version__)
    assert answer.structured_content["label"] == "REFUTES"  # the document says 1,094


def test_the_command_needs_a_corpus_that_exists(tmp_path):
    done = adjudge("mcp", "--model", "rules")
    assert done.returncode == 2 and "--corpus" in done.stderr
    done = adjudge("mcp", "--corpus", tmp_path / "none")
    assert done.returncode == 2 and "no such index" in done.stderr


def test_a_server_answers_agents_at_its_own_address(river_verifier, river_documents, tmp_path):
    async def questions(client: Client) -> Any:
        return await client.call_tool("verify_claim", {"claim": CLAIM})

    with listening(river_verifier, river_documents, data_dir=tmp_path, parts=[mount]) as (address, _):
        answer = ask(f"{address}/mcp", questions)
    expected = river_verifier.verify(CLAIM, river_documents)
    assert answer.structured_content["probabilities"] == pytest.approx(dict(expected.probabilities), abs=1e-4)
