from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import torch

from adjudge.encoders.dataset import tokenize
from adjudge.judges.predict import WINDOW, log_probabilities, outputs, predict
from adjudge.types import Evidence, Example


@pytest.fixture
def model(tiny: ModuleType) -> Any:
    made = tiny.make_model()
    with torch.no_grad():  # so that sentences weigh differently and verdicts differ
        torch.manual_seed(2)
        made.module.node_score.weight.normal_(0, 0.3)
        made.module.verdict.weight.normal_(0, 1)
    return made


def test_verdicts_come_in_the_order_of_the_claims(model: Any, tiny: ModuleType):
    examples = tiny.examples(41)
    verdicts = list(predict(replace(model, batch_tokens=100), examples))
    assert [v.id for v in verdicts] == [e.id for e in examples]
    assert [v.claim for v in verdicts] == [e.claim for e in examples]
    alone = [next(predict(model, [example])) for example in examples]
    for together, single in zip(verdicts, alone, strict=True):
        assert together.probabilities == pytest.approx(single.probabilities, abs=1e-6)
    assert len({round(v.confidence, 4) for v in verdicts}) > 10  # or order would not matter


@pytest.mark.parametrize("kind", ["kgat", "mixture", "concat"])
def test_the_size_of_a_batch_does_not_change_a_verdict(kind: str, tiny: ModuleType):
    model = tiny.make_model(kind=kind)
    examples = tiny.examples(20)
    one, many = (list(predict(replace(model, batch_tokens=size), examples)) for size in (1, 10_000))
    for a, b in zip(one, many, strict=True):
        assert a.label == b.label
        assert a.probabilities == pytest.approx(b.probabilities, abs=1e-6)
        for left, right in zip(a.evidence, b.evidence, strict=True):
            assert left.weight == pytest.approx(right.weight, abs=1e-6)


def test_each_sentence_gets_its_own_weight(model: Any):
    evidence = tuple(
        Evidence(text, page="P", line=i, score=0.5) for i, text in enumerate(["a b", "c d e f", "g"])
    )
    examples = [Example(1, "a", evidence), Example(2, "b", evidence[1:]), Example(3, "c", evidence[::-1])]
    verdicts = list(predict(model, examples))
    for example, verdict in zip(examples, verdicts, strict=True):
        data = tokenize([example], model.writer, model.labels)
        with torch.no_grad():
            [expected] = model.module(data.batch([0])).node_weights.tolist()
        assert [s.weight for s in verdict.evidence] == pytest.approx(expected, abs=1e-6)
        assert [(s.text, s.line, s.score) for s in verdict.evidence] == [
            (s.text, s.line, s.score) for s in example.evidence
        ]
    weights = [s.weight for s in verdicts[0].evidence]
    assert max(weights) - min(weights) > 0.01


def test_the_label_is_the_likeliest_and_probabilities_add_up(model: Any, tiny: ModuleType):
    for verdict in predict(model, tiny.examples(12)):
        assert verdict.label == max(verdict.probabilities, key=lambda label: verdict.probabilities[label])
        assert verdict.confidence == max(verdict.probabilities.values())
        assert sum(verdict.probabilities.values()) == pytest.approx(1.0, abs=1e-5)
        assert list(verdict.probabilities) == list(model.labels)


def test_a_claim_without_evidence_gets_a_verdict_and_a_reason(model: Any):
    [verdict] = predict(model, [Example(1, "a")])
    assert verdict.evidence == () and verdict.reason == "no evidence was given"
    [other] = predict(model, [Example(1, "a", (Evidence("b"),))])
    assert other.reason is None


def test_weights_of_empty_rows_are_not_laid_on_sentences(tiny: ModuleType):
    model = tiny.make_model(options={"released": True})
    [verdict] = predict(model, [Example(1, "a", (Evidence("b"), Evidence("c")))])
    assert len(verdict.evidence) == 2
    assert 0 < sum(s.weight for s in verdict.evidence) < 1  # the rest lies on the three empty rows


def test_concat_lays_no_weights(tiny: ModuleType):
    [verdict] = predict(tiny.make_model(kind="concat"), [Example(1, "a", (Evidence("b"),))])
    assert verdict.evidence == (Evidence("b"),)


def test_gold_labels_play_no_part_even_unknown_ones(model: Any):
    evidence = (Evidence("b"),)
    verdicts = [
        next(predict(model, [Example(1, "a", evidence, label)])) for label in (None, "REFUTES", "DISPUTED")
    ]
    assert verdicts[0] == verdicts[1] == verdicts[2]


def test_a_temperature_flattens_or_sharpens(model: Any):
    example = Example(1, "a", (Evidence("b"),))
    [plain] = predict(model, [example])
    [flat] = predict(replace(model, temperature=2.0), [example])
    # softmax(log p / 2) is √p, normalised
    roots = {label: p**0.5 for label, p in plain.probabilities.items()}
    expected = {label: root / sum(roots.values()) for label, root in roots.items()}
    assert flat.probabilities == pytest.approx(expected, abs=1e-6)
    assert flat.label == plain.label


def test_no_more_than_a_window_is_read_ahead(model: Any):
    read = 0

    def endless() -> Iterator[Example]:
        nonlocal read
        while True:
            read += 1
            yield Example(read, "a")

    verdicts = predict(model, endless())
    assert read == 0
    for expected in (1, 2, 3):
        assert next(verdicts).id == expected
    assert read == WINDOW
    for _ in range(WINDOW - 3):
        next(verdicts)
    assert read == WINDOW
    assert next(verdicts).id == WINDOW + 1
    assert read == 2 * WINDOW


def test_nothing_in_gives_nothing_out(model: Any):
    assert list(predict(model, [])) == []


def test_prediction_uses_no_dropout_even_after_training(model: Any):
    model.module.train()
    example = Example(1, "a", (Evidence("b"),))
    assert list(predict(model, [example])) == list(predict(model, [example]))


def test_the_caller_of_outputs_may_still_compute_gradients(model: Any, tiny: ModuleType):
    data, _ = tiny.data_for(model)
    running = outputs(replace(model, batch_tokens=100), data)
    next(running)
    assert not torch.is_inference_mode_enabled()
    weight = torch.ones(1, requires_grad=True)
    (weight * 2).backward()
    assert weight.grad is not None


def test_training_and_prediction_see_the_same_rows(model: Any, tiny: ModuleType):
    examples = tiny.examples(9)
    model.module.eval()
    data = tokenize(examples, model.writer, model.labels)
    with torch.no_grad():
        expected = model.module(data.batch(range(9))).log_probs.exp()
    for row, verdict in zip(expected, predict(model, examples), strict=True):
        assert list(verdict.probabilities.values()) == pytest.approx(row.tolist(), abs=1e-6)


def test_log_probabilities_stand_in_the_order_of_the_data(model: Any, tiny: ModuleType):
    model.module.eval()
    data, _ = tiny.data_for(model)
    found = log_probabilities(replace(model, batch_tokens=150), data)
    for claim in range(len(data)):
        with torch.no_grad():
            [expected] = model.module(data.batch([claim])).log_probs
        # Single precision: the order of sums differs with the batch, by 1.1e-6 on some CPUs.
        torch.testing.assert_close(found[claim], expected, atol=5e-6, rtol=0)


def test_a_verdict_says_what_sentences_took_from_each_other(model: Any, tiny: ModuleType):
    evidence = (Evidence("one sentence"), Evidence("another one"), Evidence("and a third"))
    examples = [Example(1, "a claim", evidence), Example(2, "a claim", evidence[:2])]
    for verdict, example in zip(predict(model, examples), examples, strict=True):
        edges = verdict.explanation.edges
        [alone] = [output for _, output in outputs(model, tokenize([example], model.writer, model.labels))]
        assert len(edges) == len(example.evidence)
        torch.testing.assert_close(torch.tensor(edges), alone.edge_weights[0], atol=1e-5, rtol=0)
        assert all(sum(taken) == pytest.approx(1, abs=1e-5) for taken in edges)
    assert next(predict(model, [Example(3, "a claim", evidence[:1])])).explanation is None
    assert next(predict(tiny.make_model(kind="mixture"), examples)).explanation is None
