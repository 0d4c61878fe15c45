from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import ConfigError
from adjudge.objectives.loss import complement_mask, log_one_minus, penalty
from adjudge.objectives.tables import OBJECTIVES, complement, complement_of, parse_complement
from adjudge.types import LabelSet

S, R, N = "SUPPORTS", "REFUTES", "NOT ENOUGH INFO"


def test_the_four_tables_are_those_of_the_paper():
    assert {"ce", "mll", "srn", "sr"} <= OBJECTIVES.keys()
    assert complement_of("ce") == {S: set(), R: set(), N: set()}
    assert complement_of("mll") == {S: {R, N}, R: {S, N}, N: {S, R}}
    assert complement_of("srn") == {S: {R}, R: {S}, N: {S, R}}
    assert complement_of("sr") == {S: {R}, R: {S}, N: set()}


def penalty_of(name: str, log_probs: torch.Tensor, gold: torch.Tensor) -> torch.Tensor:
    return penalty(complement_mask(complement_of(name)), log_probs, gold)


def test_sr_penalises_only_the_opposite_verdict():
    p = torch.tensor([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.3, 0.3, 0.4]])
    gold = torch.tensor([0, 1, 2])
    expected = torch.tensor([1.2040, 0.9163, 0.0])  # -log .3, -log .4, NEI has no opposite
    torch.testing.assert_close(penalty_of("sr", p.log(), gold), expected, atol=1e-4, rtol=0)


def test_srn_penalises_both_verdicts_when_nothing_can_be_said():
    p = torch.tensor([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.3, 0.3, 0.4]])
    expected = torch.tensor([1.2040, 0.9163, 0.7133])  # -log .3, -log .4, -log .7 - log .7
    torch.testing.assert_close(
        penalty_of("srn", p.log(), torch.tensor([0, 1, 2])), expected, atol=1e-4, rtol=0
    )


def test_mll_penalises_every_other_label():
    p = torch.tensor([[0.2, 0.7, 0.1]]).expand(3, 3)
    # -log .3 - log .9 | -log .8 - log .9 | -log .8 - log .3
    expected = torch.tensor([1.3093, 0.3285, 1.4271])
    torch.testing.assert_close(
        penalty_of("mll", p.log(), torch.tensor([0, 1, 2])), expected, atol=1e-4, rtol=0
    )


def test_the_mask_has_gold_in_rows_and_ruled_out_classes_in_columns():
    table = complement({"A": {"B"}}, LabelSet(("A", "B", "C")))
    assert complement_mask(table, LabelSet(("A", "B", "C"))).int().tolist() == [
        [0, 1, 0],
        [0, 0, 0],
        [0, 0, 0],
    ]


@given(st.lists(st.floats(-8, 8), min_size=2, max_size=6))
def test_log_one_minus_is_the_logarithm_of_one_minus_p(logits):
    log_probs = torch.tensor(logits, dtype=torch.float64).log_softmax(dim=0)
    naive = [
        math.log(sum(math.exp(v) for j, v in enumerate(log_probs.tolist()) if j != i))
        for i in range(len(logits))
    ]
    torch.testing.assert_close(log_one_minus(log_probs), torch.tensor(naive, dtype=torch.float64))


def test_log_one_minus_keeps_its_digits_where_one_minus_p_would_be_zero():
    # p_0 = 1 - 2e^-50 rounds to 1; log(1 - p_0) is log 2 - 50.
    log_probs = torch.tensor([50.0, 0.0, 0.0]).log_softmax(dim=0)
    assert log_probs.exp()[0] == 1
    assert log_one_minus(log_probs)[0].item() == pytest.approx(math.log(2) - 50, rel=1e-6)


def test_log_one_minus_keeps_leading_dimensions():
    log_probs = torch.randn(4, 5, 3).log_softmax(dim=-1)
    assert log_one_minus(log_probs).shape == (4, 5, 3)
    torch.testing.assert_close(log_one_minus(log_probs)[2, 3], log_one_minus(log_probs[2, 3]))


def test_a_label_left_out_rules_out_nothing():
    labels = LabelSet(("A", "B", "C"))
    assert complement({"A": ["B", "C"]}, labels) == {"A": frozenset("BC"), "B": frozenset(), "C": frozenset()}


def test_unknown_labels_are_named_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"\['MAYBE'\].*\['SUPPORTS', 'REFUTES', 'NOT ENOUGH INFO'\]"):
        complement({S: {"MAYBE"}})
    with pytest.raises(ConfigError, match=r"\['MAYBE'\]"):
        complement({"MAYBE": {S}})


def test_a_label_cannot_rule_itself_out():
    with pytest.raises(ConfigError, match="'SUPPORTS' rule itself out"):
        complement({S: {S}})


def test_a_table_can_be_written_on_one_line():
    text = f"{S} = {R}; {R}={S},{N};"
    assert parse_complement(text) == {S: (R,), R: (S, N)}
    assert parse_complement("") == {}


@pytest.mark.parametrize("text", ["SUPPORTS", "SUPPORTS=", "=REFUTES", "A=B;A=C"])
def test_a_table_that_cannot_be_read_is_refused_with_an_example(text):
    with pytest.raises(ConfigError, match="expected each gold label once .* such as SUPPORTS=REFUTES;"):
        parse_complement(text)
