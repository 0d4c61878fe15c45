"""The Haystack component, in a real pipeline, beside Haystack's own evaluator."""

from __future__ import annotations

import asyncio
import math

import pytest

pytest.importorskip(
    "haystack", reason='needs the extra: pip install "adjudge[haystack]"; make integration-test'
)

from haystack import Pipeline
from haystack.components.evaluators import FaithfulnessEvaluator

from adjudge.errors import ConfigError
from adjudge.integrations.haystack import AdjudgeFaithfulnessEvaluator
from adjudge.judges.mixed import MixedJudge
from answers import CONTEXT, HALF, QUESTION, RIGHT

INPUTS = {
    "questions": [QUESTION, QUESTION, QUESTION],
    "contexts": [CONTEXT, CONTEXT, CONTEXT],
    "predicted_answers": [RIGHT, HALF, "Is it?"],
}


def check_output(output):
    assert output["individual_scores"] == [1.0, 0.5, 0.0]
    assert output["score"] == pytest.approx(0.5)
    half = output["results"][1]
    assert half["statements"] == ["The Vel bridge was opened in 1932.", "The Vel bridge is 95 metres long."]
    assert (half["statement_scores"], half["status"]) == ([1, 0], "evaluated")


def test_a_pipeline_runs_it_and_reads_it_back_from_its_file():
    pipeline = Pipeline()
    pipeline.add_component("faithfulness", AdjudgeFaithfulnessEvaluator("rules"))
    # Haystack reads classes of other packages only where its user trusts them.
    copy = Pipeline.loads(pipeline.dumps(), allowed_modules=["adjudge.integrations.haystack"])
    assert copy.get_component("faithfulness").model == "rules"
    check_output(copy.run({"faithfulness": INPUTS})["faithfulness"])


def test_it_runs_asynchronously():
    check_output(asyncio.run(AdjudgeFaithfulnessEvaluator("rules").run_async(**INPUTS)))
    assert AdjudgeFaithfulnessEvaluator("rules").__haystack_supports_async__


def test_it_can_stand_in_for_haystacks_own(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "not used")
    own, other = AdjudgeFaithfulnessEvaluator("rules"), FaithfulnessEvaluator()
    inputs = other.__haystack_input__._sockets_dict
    assert {name: socket.type for name, socket in own.__haystack_input__._sockets_dict.items()} == {
        name: socket.type for name, socket in inputs.items()
    }
    outputs = other.__haystack_output__._sockets_dict
    for name, socket in own.__haystack_output__._sockets_dict.items():
        assert socket.type == outputs[name].type


def test_what_cannot_be_checked_is_an_error_or_nan(monkeypatch):
    def fail(*arguments, **names):
        raise RuntimeError("no search today")

    strict, lenient = AdjudgeFaithfulnessEvaluator("rules"), AdjudgeFaithfulnessEvaluator("rules", False)
    for evaluator in (strict, lenient):
        evaluator.warm_up()
    monkeypatch.setattr(MixedJudge, "judge", fail)
    output = lenient.run([QUESTION], [CONTEXT], [RIGHT])
    assert output["results"][0]["status"] == "error" and math.isnan(output["score"])
    with pytest.raises(Exception, match="could not be checked: .*no search today"):
        strict.run([QUESTION], [CONTEXT], [RIGHT])


def test_inputs_of_different_length_are_refused():
    with pytest.raises(ConfigError, match="1 questions, 2 contexts and 1 answers"):
        AdjudgeFaithfulnessEvaluator("rules").run([QUESTION], [CONTEXT, CONTEXT], [RIGHT])
