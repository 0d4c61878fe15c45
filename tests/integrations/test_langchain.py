"""The LangChain runnable in a real chain, and the tool as an agent calls it."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip(
    "langchain_core", reason='needs the extra: pip install "adjudge[langchain]"; make integration-test'
)

from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from adjudge import Verdict, Verifier
from adjudge.errors import ConfigError
from adjudge.integrations.langchain import FaithfulnessCheck, verify_tool
from answers import CONTEXT, HALF, QUESTION, RIGHT

DOCUMENTS = [Document(text) for text in CONTEXT]


@pytest.fixture(scope="module")
def check():
    return FaithfulnessCheck("rules")


def test_it_ends_a_chain_that_answers_from_documents(check):
    chain = (
        RunnablePassthrough.assign(context=lambda value: DOCUMENTS)
        | RunnablePassthrough.assign(answer=RunnableLambda(lambda value: AIMessage(HALF)))
        | check
    )
    output = chain.invoke({"question": QUESTION})
    assert output["question"] == QUESTION and output["answer"].content == HALF
    assert output["faithfulness"]["score"] == 0.5
    assert output["faithfulness"]["states"] == ["SUPPORTS", "REFUTES"]
    assert asyncio.run(chain.ainvoke({"question": QUESTION})) == output


def test_it_takes_many_at_once(check):
    answers = check.batch([{"answer": text, "context": CONTEXT} for text in (RIGHT, HALF, QUESTION)])
    assert [answer["faithfulness"]["score"] for answer in answers] == [1.0, 0.5, None]


@pytest.mark.parametrize(
    ("value", "message"),
    [({"answer": RIGHT}, "context: missing"), ({"answer": 3, "context": CONTEXT}, "found int")],
)
def test_what_is_missing_is_said(check, value, message):
    with pytest.raises(ConfigError, match=message):
        check.invoke(value)


def test_the_tool_gives_a_text_to_the_agent_and_the_verdict_to_the_program(tmp_path):
    (tmp_path / "bridge.txt").write_text(CONTEXT[0])
    tool = verify_tool(Verifier.load("rules", corpus=tmp_path, selector="lexical"))
    assert tool.name == "verify_claim" and set(tool.args) == {"claim"} and "documents" in tool.description
    call = {"name": tool.name, "args": {"claim": RIGHT}, "id": "1", "type": "tool_call"}
    message = tool.invoke(call)
    assert message.content.startswith("SUPPORTS") and "opened in 1932" in message.content
    assert isinstance(message.artifact, Verdict) and message.artifact.label == "SUPPORTS"
    nothing = tool.invoke({**call, "args": {"claim": "Zebras gallop."}})
    assert nothing.content == "No verdict: nothing in the corpus matches the claim."
