from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from adjudge.errors import ConfigError
from adjudge.objectives.loss import Objective
from adjudge.objectives.weights import class_balanced_weights

S, R, N = 0, 1, 2
NAMES = ["ce", "mll", "srn", "sr"]
RULED_OUT = {  # the table of the definition, written out once more by hand
    "ce": {S: [], R: [], N: []},
    "mll": {S: [R, N], R: [S, N], N: [S, R]},
    "srn": {S: [R], R: [S], N: [S, R]},
    "sr": {S: [R], R: [S], N: []},
}
P = torch.tensor([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.5, 0.25, 0.25]])
GOLD = torch.tensor([S, R, N])


def naive(name: str, p: list[float], y: int, lam: float, w: list[float], weighting: str) -> float:
    """The loss of one claim, term by term."""
    loss = -w[y] * math.log(p[y])
    for i in RULED_OUT[name][y]:
        rest = sum(p[k] for k in range(3) if k != i)
        loss -= lam * (w[y] if weighting == "gold" else w[i]) * math.log(rest)
    return loss


# Batches of up to nine claims with moderate logits, any gold labels.
batches = st.lists(
    st.tuples(st.lists(st.floats(-6, 6), min_size=3, max_size=3), st.integers(0, 2)), min_size=1, max_size=9
)


def tensors(rows: list[tuple[list[float], int]]) -> tuple[torch.Tensor, torch.Tensor]:
    logits = torch.tensor([row for row, _ in rows], dtype=torch.float64)
    return logits.log_softmax(dim=1), torch.tensor([y for _, y in rows])


@given(
    st.sampled_from(NAMES),
    batches,
    st.floats(0, 2),
    st.lists(st.floats(0, 10), min_size=3, max_size=3),
    st.sampled_from(["gold", "complement"]),
)
def test_every_objective_agrees_with_a_naive_loop(name, rows, lam, weights, weighting):
    log_probs, gold = tensors(rows)
    objective = Objective(name, lam=lam, weights=weights, weighting=weighting)
    expected = [
        naive(name, p, y, lam, weights, weighting)
        for p, y in zip(log_probs.exp().tolist(), gold.tolist(), strict=True)
    ]
    assert objective.per_claim(log_probs, gold).tolist() == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert objective(log_probs, gold).item() == pytest.approx(
        sum(expected) / len(expected), rel=1e-6, abs=1e-9
    )


# The appendix's cases leave λ = 1 out. The rows of P: (.2, .7, .1), (.6, .3, .1), (.5, .25, .25).
CE_BY_HAND = [1.60944, 1.20397, 1.38629]  # -log .2, -log .3, -log .25
BY_HAND = {
    "ce": CE_BY_HAND,
    "mll": [
        1.60944 + 1.20397 + 0.10536,  # -log(1 - .7) - log(1 - .1)
        1.20397 + 0.91629 + 0.10536,  # -log(1 - .6) - log(1 - .1)
        1.38629 + 0.69315 + 0.28768,  # -log(1 - .5) - log(1 - .25)
    ],
    "srn": [1.60944 + 1.20397, 1.20397 + 0.91629, 1.38629 + 0.69315 + 0.28768],
    "sr": [1.60944 + 1.20397, 1.20397 + 0.91629, 1.38629],
}


@pytest.mark.parametrize("name", NAMES)
def test_the_cases_of_the_appendix_by_hand(name):
    per_claim = Objective(name, lam=1).per_claim(P.log(), GOLD)
    assert per_claim.tolist() == pytest.approx(BY_HAND[name], abs=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_weighted_cases_of_the_appendix_multiply_by_the_gold_weight(name):
    per_claim = Objective(name, lam=1, weights=[0.5, 2.0, 3.0]).per_claim(P.log(), GOLD)
    expected = [w * value for w, value in zip([0.5, 2.0, 3.0], BY_HAND[name], strict=True)]
    assert per_claim.tolist() == pytest.approx(expected, abs=1e-4)


def test_complement_weighting_is_equation_10_by_hand():
    # SUPPORTS: .5·(-log .2) + 2·(-log .3); REFUTES: 2·(-log .3) + .5·(-log .4);
    # NEI: 3·(-log .25) + .5·(-log .5) + 2·(-log .75)
    expected = [
        0.5 * 1.60944 + 2 * 1.20397,
        2 * 1.20397 + 0.5 * 0.91629,
        3 * 1.38629 + 0.5 * 0.69315 + 2 * 0.28768,
    ]
    objective = Objective("srn", lam=1, weights=[0.5, 2.0, 3.0], weighting="complement")
    assert objective.per_claim(P.log(), GOLD).tolist() == pytest.approx(expected, abs=1e-4)


def test_both_weightings_agree_when_all_weights_are_equal():
    objectives = [Objective("mll", lam=0.5, weights=[2.0] * 3, weighting=w) for w in ("gold", "complement")]
    torch.testing.assert_close(*(objective.per_claim(P.log(), GOLD) for objective in objectives))


def test_cross_entropy_is_pytorch_s_cross_entropy():
    logits, gold, weight = torch.randn(16, 3), torch.arange(16) % 3, torch.tensor([0.5, 2.0, 1.0])
    log_probs = logits.log_softmax(dim=1)
    torch.testing.assert_close(Objective("ce")(log_probs, gold), cross_entropy(logits, gold))
    by_weight = Objective("ce", weights=weight, normalise="weights")
    torch.testing.assert_close(by_weight(log_probs, gold), cross_entropy(logits, gold, weight))
    by_claims = Objective("ce", weights=weight)
    expected = cross_entropy(logits, gold, weight, reduction="sum") / 16
    torch.testing.assert_close(by_claims(log_probs, gold), expected)


@pytest.mark.parametrize("name", NAMES)
def test_lambda_zero_is_cross_entropy(name):
    torch.testing.assert_close(Objective(name, lam=0)(P.log(), GOLD), Objective("ce")(P.log(), GOLD))


@pytest.mark.parametrize("name", ["mll", "srn", "sr"])
def test_lambda_scales_the_penalty_alone(name):
    ce, half, one = (Objective(name, lam=lam).per_claim(P.log(), GOLD) for lam in (0.0, 0.5, 1.0))
    torch.testing.assert_close(half - ce, (one - ce) / 2)
    assert (one - ce).sum() > 1


@pytest.mark.parametrize("variant", ["paper", "released"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gold", [S, R, N])
def test_each_class_moves_the_loss_by_itself(name, gold, variant):
    """A batch of one gold class: what it loses is felt, and falls when that class's probability rises."""
    objective = Objective(name, lam=0.5, variant=variant)
    logits = torch.zeros(1, 3, requires_grad=True)
    loss = objective(logits.log_softmax(dim=1), torch.tensor([gold]))
    loss.backward()
    assert logits.grad is not None and logits.grad[0, gold] < -0.1
    better = objective((-logits.grad).log_softmax(dim=1), torch.tensor([gold]))
    assert better < loss
    expected = math.log(3) + 0.5 * math.log(1.5) * len(RULED_OUT[name][gold])  # p = 1/3 each, -log(1 - 1/3)
    assert loss.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("gold", [S, R, N])
def test_each_class_weight_moves_only_its_own_claims(gold):
    weights = torch.ones(3)
    weights[gold] = 5.0
    change = Objective("srn", weights=weights).per_claim(P.log(), GOLD) / Objective("srn").per_claim(
        P.log(), GOLD
    )
    assert change.tolist() == pytest.approx([5.0 if y == gold else 1.0 for y in range(3)])


EXTREMES = [
    [1e3, -1e3, 0.0],
    [-1e3, 1e3, 0.0],
    [0.0, -1e3, 1e3],
    [3e4, -3e4, -3e4],
    [-3e4, 3e4, -3e4],
    [-3e4, -3e4, 3e4],
    [90.0, 0.0, 0.0],
    [0.0, 17.0, 0.0],
]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("autocast", [False, True], ids=["plain", "autocast"])
def test_confidently_wrong_predictions_have_finite_losses_and_gradients(dtype, name, autocast):
    weights = class_balanced_weights([80035, 29775, 35639], 0.999999, normalise=False)
    objective = Objective(name, lam=0.25, weights=weights)
    for row in EXTREMES:
        wrong = [y for y in (S, R, N) if row[y] < max(row)]
        logits = torch.tensor([row] * len(wrong), dtype=dtype, requires_grad=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            per_claim = objective.per_claim(logits.log_softmax(dim=1), torch.tensor(wrong))
        assert per_claim.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        assert per_claim.isfinite().all() and (per_claim > 0).all()
        per_claim.sum().backward()
        assert logits.grad is not None and logits.grad.isfinite().all()
        for i, y in enumerate(wrong):
            assert logits.grad[i, y] < 0, f"{row} does not pull {y} up"
            assert logits.grad[i].max() > 0


@pytest.mark.parametrize("name", ["mll", "srn", "sr"])
def test_the_penalty_itself_pushes_a_certain_contradiction_down(name):
    """What a clamp of 1 - p would silence: p_R is 1 to every digit, and SUPPORTS is right."""
    logits = torch.tensor([[0.0, 500.0, 0.0]], requires_grad=True)
    gold = torch.tensor([S])
    log_probs = logits.log_softmax(dim=1)
    only_penalty = Objective(name, lam=1)(log_probs, gold) - Objective("ce")(log_probs, gold)
    only_penalty.backward()
    # -log(1 - p_R) = 500 - log 2: slope 1 in the logit of R.
    assert only_penalty.item() == pytest.approx(500 - math.log(2))
    assert logits.grad is not None and logits.grad[0, R].item() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gold", [S, R, N])
def test_certainty_in_the_right_label_costs_nothing_and_breaks_nothing(name, gold):
    log_probs = torch.full((1, 3), -math.inf)
    log_probs[0, gold] = 0.0
    log_probs.requires_grad_()
    loss = Objective(name)(log_probs, torch.tensor([gold]))
    loss.backward()
    assert loss.item() == 0
    assert log_probs.grad is not None and log_probs.grad.isfinite().all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("weighting", ["gold", "complement"])
def test_gradients_agree_with_finite_differences(name, weighting):
    torch.manual_seed(0)
    logits = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    objective = Objective(name, lam=0.5, weights=[0.5, 2.0, 1.0], weighting=weighting)
    gold = torch.tensor([S, R, N, S])
    assert torch.autograd.gradcheck(lambda z: objective.per_claim(z.log_softmax(dim=1), gold), logits)


@given(
    st.sampled_from(NAMES),
    batches,
    st.lists(st.integers(0, 9), max_size=4),
    st.booleans(),
    st.sampled_from(["claims", "weights"]),
)
def test_micro_batches_of_any_size_add_up_to_one_big_batch(name, rows, cuts, weighted, normalise):
    log_probs, gold = tensors(rows)
    objective = Objective(name, lam=0.5, weights=[0.5, 2.0, 1.0] if weighted else None, normalise=normalise)
    edges = sorted({0, len(rows), *(min(cut, len(rows)) for cut in cuts)})
    parts = [slice(a, b) for a, b in pairwise(edges)]
    total = sum(objective.total(gold[part]) for part in parts)
    accumulated = sum(objective(log_probs[part], gold[part], total=total) for part in parts)
    torch.testing.assert_close(accumulated, objective(log_probs, gold), rtol=1e-6, atol=1e-9)


def test_averaging_unequal_micro_batches_would_not_equal_one_big_batch():
    objective = Objective("sr")
    averaged = (objective(P[:1].log(), GOLD[:1]) + objective(P[1:].log(), GOLD[1:])) / 2
    assert abs(averaged - objective(P.log(), GOLD)) > 0.1


def test_accumulated_gradients_equal_those_of_one_big_batch():
    logits = torch.randn(7, 3, requires_grad=True)
    gold = torch.tensor([S, R, N, S, S, R, N])
    objective = Objective("srn", lam=0.25, weights=[0.5, 2.0, 1.0])
    (whole,) = torch.autograd.grad(objective(logits.log_softmax(dim=1), gold), logits)
    for part in (slice(0, 3), slice(3, 4), slice(4, 7)):
        objective(logits[part].log_softmax(dim=1), gold[part], total=7).backward()
    torch.testing.assert_close(logits.grad, whole)


@given(st.sampled_from(NAMES), batches, st.booleans())
def test_the_call_is_the_mean_of_the_claims(name, rows, weighted):
    log_probs, gold = tensors(rows)
    objective = Objective(name, lam=0.5, weights=[0.5, 2.0, 1.0] if weighted else None)
    torch.testing.assert_close(objective(log_probs, gold), objective.per_claim(log_probs, gold).mean())


def test_a_claim_s_value_does_not_depend_on_the_rest_of_its_batch():
    objective = Objective("srn", lam=0.5, weights=[0.5, 2.0, 1.0])
    together = objective.per_claim(P.log(), GOLD)
    alone = torch.cat([objective.per_claim(P[i : i + 1].log(), GOLD[i : i + 1]) for i in range(3)])
    torch.testing.assert_close(together, alone)


def test_a_worker_without_claims_adds_nothing():
    empty = Objective("sr")(torch.empty(0, 3), torch.empty(0, dtype=torch.long), total=4)
    assert empty.item() == 0


def test_any_label_set_with_any_table():
    # Four labels; A and B exclude each other, CONFLICTING excludes C.
    labels = ["A", "B", "C", "CONFLICTING"]
    objective = Objective(
        complement={"A": {"B"}, "B": {"A"}, "CONFLICTING": {"C"}},
        labels=labels,
        lam=0.5,
        weights=[1, 2, 3, 4],
    )
    log_probs = torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log().expand(4, 4)
    expected = [
        -math.log(0.1) - 0.5 * math.log(0.8),
        2 * (-math.log(0.2) - 0.5 * math.log(0.9)),
        3 * -math.log(0.3),
        4 * (-math.log(0.4) - 0.5 * math.log(0.7)),
    ]
    assert objective.per_claim(log_probs, torch.arange(4)).tolist() == pytest.approx(expected, rel=1e-6)


def test_two_labels_make_mll_a_doubled_cross_entropy():
    # With two labels 1 - p_other is p_gold, so λ = 1 counts the same term twice.
    log_probs = torch.randn(5, 2).log_softmax(dim=1)
    gold = torch.tensor([0, 1, 1, 0, 1])
    ce, mll = (Objective(name, labels=["TRUE", "FALSE"]) for name in ("ce", "mll"))
    torch.testing.assert_close(mll(log_probs, gold), 2 * ce(log_probs, gold))


def test_labels_in_another_order_give_the_same_loss():
    order = [N, S, R]
    turned = Objective("sr", labels=["NOT ENOUGH INFO", "SUPPORTS", "REFUTES"], lam=0.5)
    gold = torch.tensor([order.index(y) for y in GOLD.tolist()])
    torch.testing.assert_close(turned(P[:, order].log(), gold), Objective("sr", lam=0.5)(P.log(), GOLD))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.uint8], ids=str)
def test_gold_of_any_integer_type_is_understood(dtype):
    expected = Objective("sr")(P.log(), GOLD)
    torch.testing.assert_close(Objective("sr")(P.log(), GOLD.to(dtype)), expected)
    by_weight = Objective("sr", weights=[1.0, 1.0, 1.0], normalise="weights")
    torch.testing.assert_close(by_weight(P.log(), GOLD.to(dtype)), expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "mcc"}, "objective 'mcc' is not one of ce, mll, srn, sr"),
        ({}, r"name \(ce, mll, srn, sr\) or its complement table, one of the two"),
        ({"name": "sr", "complement": {}}, "one of the two"),
        ({"name": "sr", "lam": -0.1}, "lam is -0.1, expected a finite number >= 0"),
        ({"name": "sr", "lam": math.nan}, "lam is nan"),
        ({"name": "sr", "lam": math.inf}, "lam is inf"),
        ({"name": "sr", "variant": "official"}, "variant 'official' is not one of paper, released"),
        ({"name": "sr", "weighting": "both"}, "weighting 'both' is not one of gold, complement"),
        ({"name": "sr", "normalise": "tokens"}, "normalise 'tokens' is not one of claims, weights"),
        ({"name": "sr", "weights": [1.0, 2.0]}, "expected 3 finite numbers >= 0"),
        ({"name": "sr", "weights": [1.0, 2.0, -1.0]}, "expected 3 finite numbers >= 0"),
        ({"name": "sr", "weights": [1.0, 2.0, math.nan]}, "expected 3 finite numbers >= 0"),
        ({"name": "sr", "labels": ["TRUE", "FALSE"]}, "--complement 'TRUE=FALSE;FALSE=TRUE' or complement="),
        (
            {"complement": {"A": {"Z"}}, "labels": ["A", "B"]},
            r"names \['Z'\], expected labels of \['A', 'B'\]",
        ),
    ],
)
def test_a_wrong_setting_is_refused_with_what_was_expected(settings, message):
    with pytest.raises(ConfigError, match=message):
        Objective(**settings)


@pytest.mark.parametrize(
    ("log_probs", "gold", "message"),
    [
        (torch.zeros(2, 4), torch.zeros(2, dtype=torch.long), r"\(2, 4\).*expected \(B, 3\) and \(B,\)"),
        (torch.zeros(2, 3), torch.zeros(3, dtype=torch.long), r"gold \(3,\)"),
        (torch.zeros(3), torch.zeros(3, dtype=torch.long), r"log_probs is \(3,\)"),
        (torch.zeros(2, 3), torch.zeros(2), "gold is torch.float32, expected class indices"),
    ],
)
def test_tensors_of_the_wrong_shape_or_type_are_refused(log_probs, gold, message):
    with pytest.raises(ConfigError, match=message):
        Objective("sr")(log_probs, gold)


def test_names_are_understood_in_any_case():
    assert Objective("SRN").table == Objective("srn").table


def test_printing_an_objective_shows_its_settings():
    text = repr(Objective("sr", lam=0.25, weights=[1.0, 2.0, 3.0], variant="released"))
    assert text == "Objective(sr, lam=0.25, variant=released, weighting=gold, weights=[1.0, 2.0, 3.0])"


def test_an_objective_adds_nothing_to_a_checkpoint():
    objective = Objective("sr", weights=[1.0, 2.0, 3.0])
    assert not objective.state_dict() and not list(objective.parameters())


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_raw_logits_and_classes_that_do_not_exist_are_refused(variant: Any) -> None:
    loss = Objective("sr", lam=0.25, variant=variant)
    log_probs = torch.tensor([[0.2, 0.7, 0.1]]).log()
    with pytest.raises(
        ConfigError, match="add up to 11.11, expected 1. Raw logits go through torch.log_softmax"
    ):
        loss(torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([0]))  # e² + e + 1
    for gold in (3, -1):
        with pytest.raises(ConfigError, match=f"gold holds {gold}, expected class indices from 0 to 2"):
            loss(log_probs, torch.tensor([gold]))
    with pytest.raises(ConfigError, match="gold a list, expected tensors"):
        loss(log_probs, [0])
    assert torch.isfinite(loss(log_probs.to(torch.bfloat16), torch.tensor([0])))
    assert torch.isnan(
        loss(torch.full((1, 3), torch.nan), torch.tensor([0]))
    )  # the training loop says it diverged
