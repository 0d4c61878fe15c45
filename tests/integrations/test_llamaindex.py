"""The LlamaIndex evaluator, called in the ways that LlamaIndex calls one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

pytest.importorskip(
    "llama_index.core", reason='needs the extra: pip install "adjudge[llamaindex]"; make integration-test'
)

from llama_index.core import Response
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.schema import NodeWithScore, TextNode

from adjudge.errors import ConfigError
from adjudge.integrations.llamaindex import AdjudgeFaithfulnessEvaluator
from answers import CONTEXT, HALF, QUESTION, RIGHT


@pytest.fixture(autouse=True)
def event_loop_to_close() -> Iterator[None]:
    """LlamaIndex takes the current event loop and leaves it open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)


def test_a_response_passes_from_the_threshold_on():
    strict, lenient = AdjudgeFaithfulnessEvaluator("rules"), AdjudgeFaithfulnessEvaluator("rules", 0.5)
    right = strict.evaluate(QUESTION, RIGHT, CONTEXT)
    assert (right.passing, right.score, right.query, right.response) == (True, 1.0, QUESTION, RIGHT)
    half = strict.evaluate(QUESTION, HALF, CONTEXT)
    assert (half.passing, half.score) == (False, 0.5) and "95 metres" in half.feedback
    assert lenient.evaluate(QUESTION, HALF, CONTEXT).passing


def test_it_takes_the_response_of_a_query_engine():
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in CONTEXT]
    result = AdjudgeFaithfulnessEvaluator("rules").evaluate_response(QUESTION, Response(HALF, nodes))
    assert result.score == 0.5 and result.contexts == CONTEXT


@pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")  # its own
def test_the_batch_runner_runs_it():
    runner = BatchEvalRunner({"faithfulness": AdjudgeFaithfulnessEvaluator("rules")}, workers=2)
    results = asyncio.run(
        runner.aevaluate_response_strs(
            queries=[QUESTION, QUESTION], response_strs=[RIGHT, HALF], contexts_list=[CONTEXT, CONTEXT]
        )
    )
    assert [result.score for result in results["faithfulness"]] == [1.0, 0.5]


def test_a_response_that_states_nothing_is_invalid():
    result = AdjudgeFaithfulnessEvaluator("rules").evaluate(QUESTION, "Is it?", CONTEXT)
    assert result.invalid_result and result.score is None and "states nothing" in result.invalid_reason


def test_what_is_missing_is_said():
    with pytest.raises(ConfigError, match="expected both"):
        AdjudgeFaithfulnessEvaluator("rules").evaluate(QUESTION, RIGHT)
    with pytest.raises(ConfigError, match="threshold = 2"):
        AdjudgeFaithfulnessEvaluator("rules", 2)
