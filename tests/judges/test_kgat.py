"""KGAT against a slow twin that reads one claim at a time, pair by pair, with no padding anywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.batch import Batch, ModelOutput
from adjudge.encoders.dataset import tokenize
from adjudge.encoders.rows import Layout, RowWriter
from adjudge.judges.kgat import KGAT
from adjudge.types import FEVER_LABELS, Evidence, Example
from hf_tiny import load_tiny

# fmt: off
MU = [1.0, 0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.25, 0.15, 0.05,
      -0.05, -0.15, -0.25, -0.35, -0.45, -0.55, -0.65, -0.75, -0.85, -0.95]
# fmt: on
SIGMA = [0.001] + [0.1] * 20

# (claim words, evidence words) of each sentence of each claim of a batch
SHAPES = {
    "one sentence": [[(4, 6)]],
    "two sentences": [[(3, 5), (3, 9)]],
    "five ragged sentences": [[(4, 1), (4, 12), (4, 3), (4, 30), (2, 7)]],
    "no evidence": [[(5, 0)]],
    "one word each": [[(1, 1)]],
    "mixed": [[(3, 4)], [(6, 0)], [(2, 8), (2, 2), (2, 5)], [(5, 20), (5, 3)]],
    "all counts": [[(3, 2 + n) for n in range(count)] for count in range(1, 6)],
}


class Slow(NamedTuple):
    probs: Tensor  # (K,)
    nodes: Tensor  # (N,)
    edges: Tensor  # (N, N)


def build(encoder: Any, dropout: float = 0.0) -> KGAT:
    """KGAT with weights large enough that no softmax is flat."""
    torch.manual_seed(1)
    model = KGAT(Backbone(encoder), classes=3, dropout=dropout)
    with torch.no_grad():
        for layer in (model.node_score, model.token_score):
            layer.weight.normal_(0, 0.1)
        model.attention[2].weight.normal_(0, 1)
        model.verdict.weight.normal_(0, 1)
    return model.eval()


def pooled_kernels(of: list[Tensor], against: list[Tensor]) -> Tensor:
    """φ of each token of ``of`` over all tokens of ``against``: (tokens, 21)."""
    if not against:
        return torch.full((len(of), 21), 1e-10).log()
    unit_of, unit_against = (torch.stack([u / u.norm() for u in tokens]) for tokens in (of, against))
    cosine = unit_of @ unit_against.T
    features = []
    for mu, sigma in zip(MU, SIGMA, strict=True):
        total = torch.exp(-((cosine - mu) ** 2) / (2 * sigma**2)).sum(dim=1)
        features.append(torch.log(total.clamp(min=1e-10)))
    return torch.stack(features, dim=1)


def slow(model: KGAT, rows: list[Any]) -> Slow:
    """One claim, as the specification reads."""
    h, tokens = [], []
    for row in rows:
        ids = torch.tensor([row.ids])
        segments = torch.tensor([[int(i >= row.segment) for i in range(len(row.ids))]])
        output = model.backbone.encoder(input_ids=ids, token_type_ids=segments)
        h.append(output.pooler_output[0])
        tokens.append(list(output.last_hidden_state[0]))
    scores, reads, edges = [], [], []
    for n, row in enumerate(rows):
        claim, evidence = tokens[n][1 : row.segment], tokens[n][row.segment :]
        scores.append(model.node_score(pooled_kernels(claim, evidence).mean(dim=0)))
        summaries, attention = [], []
        for m in range(len(rows)):
            text_m, text_n = tokens[m][1:], tokens[n][1:]
            alpha = model.token_score(pooled_kernels(text_m, text_n)).flatten().softmax(dim=0)
            summaries.append(sum(a * state for a, state in zip(alpha, text_m, strict=True)))
            attention.append(model.attention(torch.cat([h[n], summaries[-1]])))
        edges.append(torch.cat(attention).softmax(dim=0))
        reads.append(sum(weight * summary for weight, summary in zip(edges[-1], summaries, strict=True)))
    nodes = torch.cat(scores).softmax(dim=0)
    verdicts = [model.verdict(torch.cat([h[n], reads[n]])).softmax(dim=0) for n in range(len(rows))]
    return Slow(sum(p * v for p, v in zip(nodes, verdicts, strict=True)), nodes, torch.stack(edges))


def gradients(model: nn.Module, loss: Tensor) -> dict[str, Tensor]:
    model.zero_grad()
    loss.backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def assert_agrees(output: ModelOutput, expected: list[Slow], atol: float = 1e-5) -> None:
    assert output.node_weights is not None and output.edge_weights is not None
    for b, claim in enumerate(expected):
        n = len(claim.nodes)
        torch.testing.assert_close(output.log_probs[b].exp(), claim.probs, atol=atol, rtol=0)
        torch.testing.assert_close(output.node_weights[b, :n], claim.nodes, atol=atol, rtol=0)
        torch.testing.assert_close(output.edge_weights[b, :n, :n], claim.edges, atol=atol, rtol=0)
        assert not output.node_weights[b, n:].any()
        assert not output.edge_weights[b, n:].any()
        assert not output.edge_weights[b, :, n:].any()


@pytest.mark.parametrize("shape", SHAPES)
def test_values_and_gradients_equal_the_slow_twin(shape: str, encoder: Any, rows: Any, to_batch: Any):
    claims = [rows(seed, *lengths) for seed, lengths in enumerate(SHAPES[shape])]
    model = build(encoder)
    output = model(to_batch(claims))
    expected = [slow(model, claim) for claim in claims]
    assert_agrees(output, expected)

    # A loss that every output takes part in.
    target = torch.tensor([0.5, -1.0, 2.0])
    ours = gradients(model, (output.log_probs * target).sum() + (output.edge_weights**2).sum())
    theirs = gradients(
        model,
        sum((claim.probs.log() * target).sum() + (claim.edges**2).sum() for claim in expected),
    )
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        scale = max(1.0, float(theirs[name].abs().max()))
        torch.testing.assert_close(gradient, theirs[name], atol=1e-5 * scale, rtol=1e-4, msg=name)


SENTENCE = st.tuples(st.integers(1, 5), st.integers(1, 12))
CLAIM = st.one_of(
    st.lists(SENTENCE, min_size=1, max_size=5),
    st.integers(1, 6).map(lambda words: [(words, 0)]),  # alone
)


@given(st.lists(CLAIM, min_size=1, max_size=3), st.integers(0, 1000))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_batch_equals_the_slow_twin(
    rows: Any, to_batch: Any, encoder: Any, shape: list[list[tuple[int, int]]], seed: int
):
    claims = [rows(seed + b, *lengths) for b, lengths in enumerate(shape)]
    model = build(encoder)
    with torch.no_grad():
        assert_agrees(model(to_batch(claims)), [slow(model, claim) for claim in claims])


def test_weights_and_verdicts_are_distributions(encoder: Any, rows: Any, to_batch: Any):
    claims = [rows(seed, *lengths) for seed, lengths in enumerate(SHAPES["mixed"])]
    batch = to_batch(claims)
    output = build(encoder)(batch)
    torch.testing.assert_close(output.log_probs.exp().sum(dim=-1), torch.ones(4))
    torch.testing.assert_close(output.node_weights.sum(dim=-1), torch.ones(4))
    torch.testing.assert_close(output.edge_weights.sum(dim=-1), batch.present.float())


def test_a_claim_does_not_change_with_its_neighbours_or_padding(encoder: Any, rows: Any, to_batch: Any):
    claim = rows(0, (3, 5), (3, 11))
    long_neighbour = rows(1, *[(6, 60)] * 5)
    alone_neighbour = rows(2, (2, 0))
    model = build(encoder)
    with torch.no_grad():
        alone = model(to_batch([claim]))
        for others, place, longer in (
            ([claim, long_neighbour], 0, 0),
            ([long_neighbour, alone_neighbour, claim], 2, 0),
            ([claim], 0, 37),
        ):
            output = model(to_batch(others, longer=longer))
            for name in ("log_probs", "node_weights", "edge_weights"):
                expected, found = getattr(alone, name)[0], getattr(output, name)[place]
                found = found[tuple(slice(size) for size in expected.shape)]
                torch.testing.assert_close(found, expected, atol=1e-6, rtol=0, msg=name)


def test_reordering_the_sentences_reorders_their_weights_and_nothing_else(
    encoder: Any, rows: Any, to_batch: Any
):
    claim = rows(5, (4, 3), (4, 9), (4, 6), (4, 2))
    order = [2, 0, 3, 1]
    model = build(encoder)
    with torch.no_grad():
        before, after = model(to_batch([claim])), model(to_batch([[claim[i] for i in order]]))
    assert before.node_weights[0].max() - before.node_weights[0].min() > 0.01  # or the test shows nothing
    torch.testing.assert_close(after.log_probs, before.log_probs, atol=1e-6, rtol=0)
    torch.testing.assert_close(after.node_weights[0], before.node_weights[0][order], atol=1e-6, rtol=0)
    torch.testing.assert_close(
        after.edge_weights[0], before.edge_weights[0][order][:, order], atol=1e-6, rtol=0
    )


def test_absent_sentences_get_no_gradient_even_from_wild_states(encoder: Any, rows: Any, to_batch: Any):
    """Slots beyond a claim's rows point at row 0; here row 0 is nobody's: all it gets is from them."""
    stray, one, two = rows(0, (3, 4))[0], rows(1, (3, 4)), rows(2, (2, 7), (2, 3))
    batch = to_batch([[stray], one, two])
    batch = replace(batch, row_of=batch.row_of[1:], present=batch.present[1:])
    assert batch.row_of[0, 1] == 0 and not batch.present[0, 1]
    states = torch.randn(4, batch.input_ids.shape[1], 32, generator=torch.Generator().manual_seed(0))
    states[0] *= 1e4
    model = build(encoder)

    class Given(nn.Module):
        def forward(self, _: Batch) -> Any:
            return type("Encoded", (), {"states": states, "pooled": states[:, 0]})

    states.requires_grad_()
    model.backbone = Given()  # type: ignore[assignment]
    output = model(batch)
    assert output.node_weights[0].tolist() == [1.0, 0.0]
    (output.log_probs.sum() + (output.edge_weights**2).sum()).backward()
    assert not states.grad[0].any()
    assert all(states.grad[row].any() for row in (1, 2, 3))
    assert torch.isfinite(states.grad).all()


def test_confident_mixtures_stay_finite_in_log_space(encoder: Any, rows: Any, to_batch: Any):
    model = build(encoder)
    with torch.no_grad():
        model.verdict.bias.copy_(torch.tensor([300.0, 0.0, 0.0]))  # p = e^{-300} is 0 in float32
    log_probs = model(to_batch([rows(0, (3, 4), (3, 5))])).log_probs
    assert log_probs[0, 1] < -250
    log_probs[0, 1].backward()
    assert torch.isfinite(log_probs).all()
    assert torch.isfinite(model.verdict.weight.grad).all() and model.verdict.weight.grad.any()


def test_kernels_and_distributions_stay_in_float32_under_autocast(encoder: Any, rows: Any, to_batch: Any):
    model = build(encoder)
    batch = to_batch([rows(0, (3, 6), (3, 4))])
    plain = model(batch)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = model(batch)
    assert {t.dtype for t in (output.log_probs, output.node_weights, output.edge_weights)} == {torch.float32}
    torch.testing.assert_close(output.log_probs.exp(), plain.log_probs.exp(), atol=0.05, rtol=0)
    output.log_probs.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_dropout_acts_in_training_only(encoder: Any, rows: Any, to_batch: Any):
    batch = to_batch([rows(0, (3, 6), (3, 4))])
    model = build(encoder, dropout=0.5)
    assert torch.equal(model(batch).log_probs, model(batch).log_probs)
    model.train()
    assert not torch.equal(model(batch).log_probs, model(batch).log_probs)


def test_every_parameter_of_the_head_moves_the_verdict(encoder: Any, rows: Any, to_batch: Any):
    batch = to_batch([rows(0, (3, 6), (3, 4)), rows(1, (2, 5), (2, 8), (2, 3))])
    model = build(encoder)
    model(batch).log_probs[:, 0].sum().backward()
    # A constant added to all scores of a softmax cancels out.
    cancels = {"node_score.bias", "token_score.bias", "attention.2.bias"}
    for name, parameter in model.named_parameters():
        if not name.startswith("backbone."):
            # Rounding leaves up to 2e-7 of what cancels, depending on the CPU; the smallest real one is 0.06.
            moves = bool((parameter.grad.abs() > 1e-5).any())
            assert moves != (name in cancels), name


# The published forward pass: every claim has five rows of a fixed length, and absent ones are not masked.

LENGTH = 20


def slow_released(model: KGAT, rows: list[tuple[list[int], int]]) -> Slow:
    """Five rows of ``LENGTH``; a row is (ids, segment), and an absent one is all [PAD] with empty masks."""
    padded = [(ids + [0] * (LENGTH - len(ids)), len(ids), segment) for ids, segment in rows]
    padded += [([0] * LENGTH, 0, 0)] * (5 - len(padded))
    h, states, text, claim, evidence = [], [], [], [], []
    for ids, length, segment in padded:
        # −10000 added to every score of a softmax changes nothing: a row without text attends everywhere.
        attended = [1] * length + [0] * (LENGTH - length) if length else [1] * LENGTH
        output = model.backbone.encoder(
            input_ids=torch.tensor([ids]),
            token_type_ids=torch.tensor([[int(segment <= i < length) for i in range(LENGTH)]]),
            attention_mask=torch.tensor([attended]),
        )
        h.append(output.pooler_output[0])
        states.append(output.last_hidden_state[0])
        text.append(torch.tensor([float(0 < i < length) for i in range(LENGTH)]))
        claim.append(torch.tensor([float(0 < i < segment) for i in range(LENGTH)]))
        evidence.append(text[-1] - claim[-1])

    def kernels(a: Tensor, b: Tensor, mask: Tensor) -> Tensor:
        cosine = nn.functional.normalize(a, dim=-1) @ nn.functional.normalize(b, dim=-1).T
        sums = [
            (torch.exp(-((cosine - mu) ** 2) / (2 * sigma**2)) * mask).sum(dim=1)
            for mu, sigma in zip(MU, SIGMA, strict=True)
        ]
        return torch.log(torch.stack(sums, dim=1).clamp(min=1e-10))  # (LENGTH, 21)

    scores, reads, edges = [], [], []
    for n in range(5):
        phi = kernels(states[n], states[n], evidence[n])
        scores.append(model.node_score((phi * claim[n][:, None]).sum(dim=0) / (claim[n].sum() + 1e-10)))
        summaries, attention = [], []
        for m in range(5):
            token_scores = model.token_score(kernels(states[m], states[n], text[n])).squeeze(-1)
            alpha = token_scores.masked_fill(text[m] == 0, -1e4).softmax(dim=0)
            summaries.append(alpha @ states[m])
            attention.append(model.attention(torch.cat([h[n], summaries[-1]])))
        edges.append(torch.cat(attention).softmax(dim=0))
        reads.append(edges[-1] @ torch.stack(summaries))
    for n in range(len(rows), 5):
        assert scores[n].item() == pytest.approx(model.node_score.bias.item())
    nodes = torch.cat(scores).softmax(dim=0)
    verdicts = [model.verdict(torch.cat([h[n], reads[n]])).softmax(dim=0) for n in range(5)]
    return Slow(sum(p * v for p, v in zip(nodes, verdicts, strict=True)), nodes, torch.stack(edges))


@pytest.mark.parametrize("counts", [[1], [2, 5], [0, 3], [5], [4, 1, 0]])
def test_released_equals_the_published_forward_pass(counts: list[int]):
    encoder, tokenizer = load_tiny()
    model = build(encoder.eval())
    sentences = ["ab cd ef", "gh ab", "ij kl mn op qr", "st", "uv wx yz ab cd"]
    examples = [
        Example(i, "ab cd gh", tuple(Evidence(s) for s in sentences[:n])) for i, n in enumerate(counts)
    ]
    writer = RowWriter(tokenizer, Layout(max_length=LENGTH, empty_rows=5))
    batch = tokenize(examples, writer, FEVER_LABELS).batch(range(len(counts)))
    output = model(batch)
    assert batch.present.all() and output.node_weights.shape == (len(counts), 5)

    def pieces(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    claim = [2, *pieces("ab cd gh"), 3]
    expected = []
    for n in counts:
        rows = [([*claim, *pieces(s), 3], len(claim)) for s in sentences[:n]] or [(claim, len(claim))]
        expected.append(slow_released(model, rows))
    assert_agrees(output, expected)

    masked = tokenize(examples, RowWriter(tokenizer, Layout(max_length=LENGTH)), FEVER_LABELS)
    alike = torch.isclose(model(masked.batch(range(len(counts)))).log_probs, output.log_probs, atol=1e-4)
    for n, same in zip(counts, alike.all(dim=1).tolist(), strict=True):
        assert same == (n == 5)  # empty rows carry weight in the one and not in the other
