"""The share of an answer's statements that its contexts support."""

from __future__ import annotations

import pytest

from adjudge.errors import ConfigError
from adjudge.integrations.faithfulness import faithfulness, load_verifier
from adjudge.serving.check.records import State
from answers import CONTEXT, HALF, QUESTION, RIGHT


@pytest.fixture(scope="module")
def verifier():
    return load_verifier("rules")


def test_one_of_two_statements_is_half(verifier):
    result = faithfulness(verifier, HALF, CONTEXT)
    assert [part.state for part in result.parts] == [State.SUPPORTS, State.REFUTES]  # 1932 = 1932, 95 ≠ 120
    assert (result.scores, result.score) == ([1, 0], 0.5)
    assert "95 metres" in result.feedback and "120 metres" in result.feedback


def test_what_states_nothing_has_no_score(verifier):
    result = faithfulness(verifier, QUESTION, CONTEXT)
    assert result.score is None and result.statements == []


def test_without_contexts_nothing_is_supported(verifier):
    result = faithfulness(verifier, RIGHT, ["", "  "])
    assert result.score == 0.0
    assert [part.state for part in result.parts] == [State.NO_EVIDENCE]


def test_a_context_that_looks_like_a_path_is_text(verifier, tmp_path):
    file = tmp_path / "secret.txt"
    file.write_text(CONTEXT[0])
    assert faithfulness(verifier, RIGHT, [str(file)]).score == 0.0


def test_a_model_is_a_name_or_a_verifier(verifier):
    assert load_verifier(verifier) is verifier
    with pytest.raises(ConfigError, match="expected a name or a Verifier, found int"):
        load_verifier(3)
