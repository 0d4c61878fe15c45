from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import ConfigError
from adjudge.objectives.loss import Objective
from adjudge.objectives.weights import class_balanced_weights

S, R, N = 0, 1, 2
RAW_WEIGHTS = class_balanced_weights([80035, 29775, 35639], 0.999999, normalise=False).tolist()


def published_loss(name: str, p: list[list[float]], gold: list[int], lam: float, w: list[float]) -> float:
    """The published loss of one micro-batch, claim by claim, from its four differences to the paper."""

    def term(row: list[float], i: int) -> float:
        return -math.log(min(max(1 - row[i], 1e-7), 1))  # difference 4

    def mean_term(label: int, i: int) -> float:  # difference 2: a mean over the claims of one gold label
        values = [term(row, i) for row, y in zip(p, gold, strict=True) if y == label]
        return sum(values) / len(values) if values else 0.0

    numerator = denominator = 0.0  # difference 3: weights act here only
    for row, y in zip(p, gold, strict=True):
        numerator += w[y] * -math.log(row[y])
        denominator += w[y]
    supports = refutes = nei = 0.0
    if name == "mll":
        supports = mean_term(S, R) + mean_term(S, N)
        refutes = mean_term(R, S) + mean_term(R, N)
    if name in ("sr", "srn"):
        supports = mean_term(S, R)
        if R in gold:
            supports = mean_term(R, S)  # difference 1: meant for the REFUTES term
    if name in ("mll", "srn"):
        nei = mean_term(N, S) + mean_term(N, R)
    return numerator / denominator + lam * (supports + refutes + nei)


GOLDS = {
    "all three": [S, R, N, S, R],
    "no refutes": [S, N, S, N],
    "no supports": [R, N, R],
    "no nei": [R, S, S, R],
    "supports only": [S, S],
    "refutes only": [R, R, R],
    "nei only": [N, N],
    "a single claim": [R],
}


@pytest.mark.parametrize("name", ["ce", "mll", "srn", "sr"])
@pytest.mark.parametrize("gold", GOLDS.values(), ids=GOLDS)
@pytest.mark.parametrize("weights", [None, RAW_WEIGHTS, [0.5, 2.0, 1.0]], ids=["plain", "raw", "strong"])
def test_released_agrees_with_a_loop_written_from_its_description(name, gold, weights):
    torch.manual_seed(len(gold))
    log_probs = (3 * torch.randn(len(gold), 3, dtype=torch.float64)).log_softmax(dim=1)
    objective = Objective(name, lam=0.25, weights=weights, variant="released")
    expected = published_loss(name, log_probs.exp().tolist(), gold, 0.25, weights or [1.0, 1.0, 1.0])
    assert objective(log_probs, torch.tensor(gold)).item() == pytest.approx(expected, abs=1e-6, rel=1e-6)
    assert objective(log_probs.float(), torch.tensor(gold)).item() == pytest.approx(
        expected, abs=1e-6, rel=1e-6
    )


@given(
    st.sampled_from(["ce", "mll", "srn", "sr"]),
    st.lists(
        st.tuples(st.lists(st.floats(-5, 5), min_size=3, max_size=3), st.integers(0, 2)),
        min_size=1,
        max_size=9,
    ),
    st.floats(0, 2),
    st.lists(st.floats(0.01, 10), min_size=3, max_size=3),
)
def test_released_agrees_with_the_loop_on_any_batch(name, rows, lam, weights):
    log_probs = torch.tensor([row for row, _ in rows], dtype=torch.float64).log_softmax(dim=1)
    gold = [y for _, y in rows]
    objective = Objective(name, lam=lam, weights=weights, variant="released")
    expected = published_loss(name, log_probs.exp().tolist(), gold, lam, weights)
    assert objective(log_probs, torch.tensor(gold)).item() == pytest.approx(expected, abs=1e-6, rel=1e-6)


def test_released_by_hand():
    p = torch.tensor([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.5, 0.25, 0.25]])
    gold = torch.tensor([S, R, N])
    # CE: (-log .2 - log .3 - log .25) / 3 = 1.39990; auxiliary: only the REFUTES claim's -log .4 = 0.91629
    loss = Objective("sr", lam=0.5, variant="released")(p.log(), gold)
    assert loss.item() == pytest.approx(1.39990 + 0.5 * 0.91629, abs=1e-5)
    # Without the REFUTES claim: (-log .2 - log .25) / 2 = 1.49787, and SUPPORTS has its own -log .3 = 1.20397
    loss = Objective("sr", lam=0.5, variant="released")(p[[0, 2]].log(), gold[[0, 2]])
    assert loss.item() == pytest.approx(1.49787 + 0.5 * 1.20397, abs=1e-5)


def test_a_refutes_claim_silences_the_auxiliary_gradient_of_supports():
    logits = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]], requires_grad=True)

    def auxiliary_gradient(rows: list[int]) -> torch.Tensor:
        log_probs, gold = logits[rows].log_softmax(dim=1), torch.tensor([S, R])[rows]
        with_aux = Objective("sr", lam=1, variant="released")(log_probs, gold)
        return torch.autograd.grad(with_aux - Objective("ce", variant="released")(log_probs, gold), logits)[0]

    assert auxiliary_gradient([0]).abs().max() > 0.1
    assert auxiliary_gradient([0, 1])[0].abs().max() < 1e-6
    assert auxiliary_gradient([0, 1])[1].abs().max() > 0.1


def test_auxiliary_terms_ignore_the_class_weights():
    log_probs = torch.randn(5, 3, dtype=torch.float64).log_softmax(dim=1)
    gold = torch.tensor([S, S, N, N, N])

    def auxiliary(weights: list[float] | None) -> float:
        full = Objective("srn", lam=1, weights=weights, variant="released")(log_probs, gold)
        return (full - Objective("ce", weights=weights, variant="released")(log_probs, gold)).item()

    assert auxiliary([0.1, 3.0, 7.0]) == pytest.approx(auxiliary(None), rel=1e-12)


def test_the_clamp_caps_the_penalty_where_the_paper_goes_on():
    log_probs = torch.tensor([[-40.0, 0.0, -40.0]]).log_softmax(dim=1)  # 1 - p_R is 8.5e-18, floored to 1e-7
    gold = torch.tensor([S])
    ce = 40.0
    assert Objective("sr", lam=1, variant="released")(log_probs, gold).item() == pytest.approx(
        ce - math.log(1e-7)
    )
    assert Objective("sr", lam=1)(log_probs, gold).item() == pytest.approx(ce + 40 - math.log(2))


@given(
    st.sampled_from(["ce", "mll", "srn", "sr"]),
    st.lists(st.integers(0, 2), min_size=1, max_size=7),
    st.booleans(),
)
def test_shares_have_the_loss_as_their_mean(name, gold, weighted):
    torch.manual_seed(0)
    log_probs = torch.randn(len(gold), 3).log_softmax(dim=1)
    objective = Objective(name, lam=0.5, weights=[0.5, 2.0, 1.0] if weighted else None, variant="released")
    labels = torch.tensor(gold)
    torch.testing.assert_close(objective.per_claim(log_probs, labels).mean(), objective(log_probs, labels))


def test_released_follows_the_label_order_it_is_given():
    order = [2, 1, 0]  # NEI, REFUTES, SUPPORTS
    log_probs = torch.randn(6, 3, dtype=torch.float64).log_softmax(dim=1)
    gold = torch.tensor([S, R, N, S, R, N])
    usual = Objective("srn", lam=0.5, variant="released", weights=[1.0, 2.0, 3.0])
    turned = Objective(
        "srn",
        lam=0.5,
        variant="released",
        weights=[3.0, 2.0, 1.0],
        labels=["NOT ENOUGH INFO", "REFUTES", "SUPPORTS"],
    )
    torch.testing.assert_close(turned(log_probs[:, order], 2 - gold), usual(log_probs, gold))


@pytest.mark.parametrize(
    "settings",
    [
        {"complement": {"SUPPORTS": {"REFUTES"}}},
        {"name": "sr", "weighting": "complement"},
        {"name": "sr", "normalise": "weights"},
    ],
)
def test_released_exists_only_for_what_was_released(settings):
    with pytest.raises(ConfigError, match="variant 'released' is defined for ce, mll, srn, sr"):
        Objective(variant="released", **settings)
