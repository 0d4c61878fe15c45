"""The deepeval metric, measured by deepeval itself. Its pytest plugin and its telemetry stay out (see the Makefile)."""

from __future__ import annotations

import asyncio
import os

import pytest

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
pytest.importorskip(
    "deepeval", reason='needs the extra: pip install "adjudge[deepeval]"; make integration-test'
)

from deepeval import assert_test
from deepeval.test_case import LLMTestCase

from adjudge.errors import ConfigError
from adjudge.integrations.deepeval import AdjudgeFaithfulnessMetric
from answers import CONTEXT, HALF, QUESTION, RIGHT


def case(output: str | None, context: list[str] | None = CONTEXT) -> LLMTestCase:
    return LLMTestCase(input=QUESTION, actual_output=output, retrieval_context=context)


def test_the_score_is_the_share_of_supported_statements():
    metric = AdjudgeFaithfulnessMetric(threshold=0.6, model="rules")
    assert metric.measure(case(RIGHT)) == 1.0 and metric.is_successful()
    assert metric.measure(case(HALF)) == 0.5 and not metric.is_successful()
    assert "95 metres" in metric.reason
    assert asyncio.run(metric.a_measure(case("Is it?"))) == 1.0 and metric.is_successful()


def test_the_strict_mode_passes_only_what_is_wholly_supported():
    metric = AdjudgeFaithfulnessMetric(0.3, model="rules", strict_mode=True, include_reason=False)
    assert metric.measure(case(HALF)) == 0.0 and not metric.is_successful() and metric.reason is None


def test_deepevals_own_assertion_measures_it():
    metric = AdjudgeFaithfulnessMetric(threshold=0.6, model="rules")
    assert_test(case(RIGHT), [metric], run_async=False)
    with pytest.raises(AssertionError, match=r"Faithfulness \(adjudge\)"):
        assert_test(case(HALF), [metric], run_async=False)


def test_what_is_missing_is_said():
    with pytest.raises(ConfigError, match="needs actual_output and retrieval_context"):
        AdjudgeFaithfulnessMetric(model="rules").measure(case(RIGHT, None))
