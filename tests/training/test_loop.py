from __future__ import annotations

import json
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.utils.checkpoint
from torch import Tensor, nn

from adjudge.config import TrainingSettings
from adjudge.encoders.dataset import tokenize
from adjudge.errors import DataError, TrainingError
from adjudge.judges.folder import load_model
from adjudge.judges.predict import log_probabilities
from adjudge.objectives.loss import Objective
from adjudge.training.judge import JudgeTask, train_judge
from adjudge.training.loop import _mix, make_optimizer, schedule, set_rate, step_claims


def metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl without the clock."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def same(a: dict[str, Tensor], b: dict[str, Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


# The schedule


def test_the_rate_rises_over_the_warm_up_and_falls_to_zero():
    # Ten steps, two of them warm-up: ½, 1, then 8/8, 7/8, …, 1/8.
    found = [schedule(step, steps=10, warmup=0.2) for step in range(10)]
    assert found == pytest.approx([0.5, 1, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8])
    assert schedule(10, steps=10, warmup=0.2) == 0


def test_without_warm_up_the_rate_starts_at_its_height():
    assert [schedule(step, steps=4, warmup=0) for step in range(4)] == [1, 0.75, 0.5, 0.25]


def test_a_single_step_has_a_rate():
    assert schedule(0, steps=1, warmup=0.1) == 1
    assert schedule(0, steps=1, warmup=0) == 1


# Which claims a step takes


@pytest.mark.parametrize("claims", [1, 7, 8, 30])
def test_an_epoch_takes_every_claim_once(claims: int):
    settings = TrainingSettings(batch_size=2, accumulation=2)
    per_epoch = math.ceil(claims / 4)
    for epoch in range(3):
        steps = [step_claims(claims, epoch * per_epoch + s, per_epoch, settings) for s in range(per_epoch)]
        assert sorted(claim for step in steps for claim in step) == list(range(claims))
        assert all(len(step) == 4 for step in steps[:-1])


def test_every_epoch_has_its_own_order_and_the_first_is_shuffled_too():
    settings = TrainingSettings(batch_size=50, accumulation=1)
    orders = [step_claims(50, epoch, 1, settings) for epoch in range(3)]
    assert list(range(50)) not in orders
    assert len({tuple(order) for order in orders}) == 3
    assert step_claims(50, 0, 1, settings.model_copy(update={"seed": 1})) != orders[0]
    assert step_claims(50, 0, 1, settings) == orders[0]


def test_the_order_of_a_file_is_kept_where_it_matters():
    settings = TrainingSettings(batch_size=2, accumulation=2, shuffle_claims=False)
    assert [step_claims(6, step, 2, settings) for step in range(4)] == [[0, 1, 2, 3], [4, 5]] * 2


def test_random_streams_of_neighbouring_seeds_steps_and_workers_differ():
    """torch's generator looks at 32 bits of a seed, so these must differ."""
    seeds = [_mix(seed, step, rank) for seed in range(20) for step in range(200) for rank in range(-1, 4)]
    assert len({seed % (1 << 32) for seed in seeds}) == len(seeds)
    assert all(0 <= seed < 1 << 63 for seed in seeds)


# The optimizer


def test_biases_and_normalisation_weights_do_not_decay(tiny: ModuleType):
    model = tiny.make_model(freeze_layers=1).module
    groups = make_optimizer(model, TrainingSettings(weight_decay=0.5)).param_groups
    names = {id(p): name for name, p in model.named_parameters()}
    seen = []
    for group in groups:
        for name in (names[id(p)] for p in group["params"]):
            assert group["weight_decay"] == (0.0 if "bias" in name or "LayerNorm" in name else 0.5), name
            seen.append(name)
    assert sorted(seen) == sorted(name for name, p in model.named_parameters() if p.requires_grad)


@pytest.mark.parametrize(("head_lr", "expected"), [(None, 0.2), (0.5, 1.0)])
def test_what_is_not_backbone_has_its_own_rate(tiny: ModuleType, head_lr: float | None, expected: float):
    model = tiny.make_model().module
    optimizer = make_optimizer(model, TrainingSettings(lr=0.1, head_lr=head_lr))
    assert set_rate(optimizer, 2.0) == 0.2
    names = {id(p): name for name, p in model.named_parameters()}
    for group in optimizer.param_groups:
        for name in (names[id(p)] for p in group["params"]):
            assert group["lr"] == (0.2 if name.startswith("backbone.") else expected), name


# Whole trainings


def test_accumulation_equals_one_big_batch(tiny: ModuleType, tmp_path: Path):
    shapes = {(1, 8), (2, 4), (4, 2), (8, 1)}
    weights = [0.5, 2.0, 1.0]
    runs = {}
    for batch_size, accumulation in shapes:
        folder = tmp_path / f"{batch_size}x{accumulation}"
        objective = Objective("srn", lam=0.5, weights=weights, normalise="weights")
        options = {"batch_size": batch_size, "accumulation": accumulation, "claims": 21, "lr": 1e-4}
        _, _, final = tiny.run(folder, dropout=0.0, objective=objective, **options)
        runs[batch_size] = (final, metrics(folder))
    expected, curve = tiny.comparable(runs[8][0]), runs[8][1]
    assert len([m for m in curve if m["split"] == "train"]) == 6  # ⌈21 / 8⌉ steps, twice
    for final, found in runs.values():
        for name, weight in tiny.comparable(final).items():
            torch.testing.assert_close(weight, expected[name], atol=1e-6, rtol=0, msg=name)
        for a, b in zip(found, curve, strict=True):
            assert a["loss"] == pytest.approx(b["loss"], abs=1e-6)


def test_a_seed_repeats_a_run_bit_for_bit_and_another_does_not(tiny: ModuleType, tmp_path: Path):
    _, first_progress, first = tiny.run(tmp_path / "a")
    torch.rand(17)  # what happened before does not matter
    _, second_progress, second = tiny.run(tmp_path / "b")
    _, _, other = tiny.run(tmp_path / "c", seed=6)
    assert same(first, second) and first_progress == second_progress
    assert metrics(tmp_path / "a") == metrics(tmp_path / "b")
    assert not same(first, other)


FAST = {"epochs": 20, "batch_size": 15, "accumulation": 1, "lr": 1e-2, "eval_every": 4}


def test_training_learns(tiny: ModuleType, tmp_path: Path):
    tiny.run(tmp_path, dropout=0.0, claims=30, objective=Objective("ce"), **FAST)
    curve = [m for m in metrics(tmp_path) if m["split"] == "train"]
    assert curve[0]["loss"] == pytest.approx(math.log(3), abs=0.3)
    assert sum(m["loss"] for m in curve[-8:]) / 8 < 0.3
    assert sum(m["accuracy"] for m in curve[-8:]) / 8 > 0.9
    assert max(m["accuracy"] for m in metrics(tmp_path) if m["split"] == "dev") > 0.8


def test_evaluation_returns_to_training_and_leaves_no_trace(tiny: ModuleType, tmp_path: Path):
    """Evaluating after every step, at the end, or never: the same training, dropout and all."""
    modes: list[bool] = []
    often, never = tiny.make_model(dropout=0.3), tiny.make_model(dropout=0.3)
    dropout = often.module.dropout
    dropout.register_forward_hook(
        lambda module, *_: modes.append(module.training and torch.is_grad_enabled())
    )
    _, _, a = tiny.run(tmp_path / "often", model=often, eval_every=1)
    _, _, b = tiny.run(tmp_path / "never", model=never, eval_every=1000, with_dev=False)
    assert same(a, b)
    curves = [[m for m in metrics(tmp_path / name) if m["split"] == "train"] for name in ("often", "never")]
    assert curves[0] == curves[1]
    # 8 steps of two micro-batches (the last of an epoch has one), two dropouts each, train mode throughout.
    assert modes.count(True) == 2 * (2 * 4 - 1 + 2 * 4 - 1) and modes.count(False) > 0
    assert modes[-1] is False and often.module.training
    _, _, without = tiny.run(tmp_path / "plain", dropout=0.0)
    assert not same(a, without)


def test_metrics_hold_every_step_and_every_evaluation(tiny: ModuleType, tmp_path: Path):
    seen = []
    model, _, _ = tiny.run(
        tmp_path, report=lambda metric, steps: seen.append((metric.step, metric.split, steps))
    )
    lines = metrics(tmp_path)
    # 14 claims in steps of 4: four steps an epoch, eight in all; evaluations after 3, 6 and at the end.
    expected = [(1, "train"), (2, "train"), (3, "train"), (3, "dev"), (4, "train"), (5, "train")]
    expected += [(6, "train"), (6, "dev"), (7, "train"), (8, "train"), (8, "dev")]
    assert [(m["step"], m["split"]) for m in lines] == expected
    assert seen == [(step, split, 8) for step, split in expected]
    assert [m["epoch"] for m in lines if m["split"] == "train"] == [n / 4 for n in range(1, 9)]
    rates = [m["lr"] for m in lines if m["split"] == "train"]
    assert rates == pytest.approx([1e-3 * schedule(step, 8, 0.1) for step in range(8)])
    seconds = [json.loads(line)["seconds"] for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert seconds == sorted(seconds) and seconds[0] > 0
    # The last line is the final model's, measured again here.
    model.module.eval()
    _, dev = tiny.data_for(model)
    log_probs = log_probabilities(model, dev)
    gold = dev.gold(range(len(dev)))
    right = sum(int(p.argmax()) == int(g) for p, g in zip(log_probs, gold, strict=True))
    assert lines[-1]["accuracy"] == pytest.approx(right / len(dev))
    assert lines[-1]["loss"] == pytest.approx(float(Objective("sr", lam=0.5)(log_probs, gold)), abs=1e-6)


def test_the_first_loss_is_the_mean_over_the_claims_of_the_step(tiny: ModuleType, tmp_path: Path):
    model = tiny.make_model(dropout=0.0)
    data, _ = tiny.data_for(model)
    settings = TrainingSettings(**tiny.DEFAULTS)
    claims = step_claims(len(data), 0, 4, settings)
    objective = Objective("mll", lam=0.25)
    with torch.no_grad():
        losses = [float(objective(model.module(data.batch([c])).log_probs, data.gold([c]))) for c in claims]
    tiny.run(tmp_path, dropout=0.0, objective=objective)
    assert metrics(tmp_path)[0]["loss"] == pytest.approx(sum(losses) / 4, abs=1e-6)


@pytest.mark.parametrize("direction", ["towards", "away"])
def test_the_checkpoint_is_the_one_with_the_best_dev_accuracy(
    direction: str, tiny: ModuleType, tmp_path: Path
):
    """Once with labels that teach the dev claims, once with labels that unteach them."""
    model = tiny.make_model(dropout=0.0)
    labels = list(model.labels)
    turned = dict(zip(labels, [*labels[1:], labels[0]], strict=True))
    claims = tiny.examples(30)
    if direction == "away":
        first = tokenize(claims, model.writer, model.labels)
        settings = TrainingSettings(**{**tiny.DEFAULTS, **FAST})
        train_judge(model, first, None, Objective("ce"), settings, tmp_path / "before")
        claims = [type(c)(c.id, c.claim, c.evidence, turned[c.label]) for c in claims]
    data = tokenize(claims, model.writer, model.labels)
    dev = tokenize(tiny.examples(9, start=100), model.writer, model.labels)
    settings = TrainingSettings(**{**tiny.DEFAULTS, **FAST, "warmup": 0.5, "eval_every": 2})
    progress = train_judge(model, data, dev, Objective("ce"), settings, tmp_path / "run")
    measured = [m for m in metrics(tmp_path / "run") if m["split"] == "dev"]
    best = max(reversed(measured), key=lambda m: m["accuracy"])  # the last of equals
    assert (progress.best_step, progress.best_accuracy) == (best["step"], best["accuracy"])
    other = measured[-1 if direction == "away" else 0]
    assert best["accuracy"] > other["accuracy"]
    kept = load_model(tmp_path / "run")
    log_probs, gold = log_probabilities(kept, dev), dev.gold(range(len(dev)))
    assert float(Objective("ce")(log_probs, gold)) == pytest.approx(best["loss"], abs=1e-6)


def test_without_dev_claims_the_last_weights_are_kept(tiny: ModuleType, tmp_path: Path):
    _, progress, final = tiny.run(tmp_path, with_dev=False)
    assert same(dict(load_model(tmp_path).module.state_dict()), final)
    assert progress.step == progress.best_step == 8
    assert {m["split"] for m in metrics(tmp_path)} == {"train"}


def test_frozen_layers_keep_their_weights(tiny: ModuleType, tmp_path: Path):
    before = dict(tiny.make_model(freeze_layers=1).module.state_dict())
    _, _, after = tiny.run(tmp_path, freeze_layers=1)
    for name, weight in before.items():
        if "embeddings." in name or "layer.0." in name:
            assert torch.equal(weight, after[name]), name
    assert not torch.equal(before["verdict.weight"], after["verdict.weight"])
    assert not torch.equal(
        before["backbone.encoder.encoder.layer.1.output.dense.weight"],
        after["backbone.encoder.encoder.layer.1.output.dense.weight"],
    )


CHANGED: dict[str, Any] = {
    "epochs": 3,
    "batch_size": 3,
    "accumulation": 3,
    "lr": 2e-3,
    "head_lr": 2e-3,
    "warmup": 0.5,
    "weight_decay": 0.5,
    "clip": 0.01,
    "freeze_layers": 1,
    "cache_frozen": False,
    "freeze_embeddings": True,
    "eval_every": 2,
    "seed": 9,
    "shuffle_evidence": False,
    "shuffle_claims": False,
    "precision": "bf16",
    "recompute": True,
}
"""But for mixup, which only some heads take (tests/training/test_mixup.py)."""


def test_every_training_setting_is_changed():
    assert CHANGED.keys() == TrainingSettings.model_fields.keys() - {"mixup"}


@pytest.fixture(scope="module")
def usual(tiny: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("usual")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    _, _, final = tiny.run(folder)
    torch.set_num_threads(threads)
    return final, metrics(folder)


@pytest.mark.parametrize("key", CHANGED)
def test_every_training_setting_changes_something(
    key: str, tiny: ModuleType, tmp_path: Path, usual: Any, monkeypatch: pytest.MonkeyPatch
):
    checkpoint, layers = torch.utils.checkpoint.checkpoint, []
    monkeypatch.setattr(
        "torch.utils.checkpoint.checkpoint", lambda *a, **k: layers.append(a[1]) or checkpoint(*a, **k)
    )
    _, _, final = tiny.run(tmp_path, **{key: CHANGED[key]})
    if key == "eval_every":
        assert same(final, usual[0])
        assert [m["step"] for m in metrics(tmp_path) if m["split"] == "dev"] == [2, 4, 6, 8]
    elif key == "cache_frozen":  # which decides where the loop's data comes from
        assert same(final, usual[0])
    elif key == "recompute":  # which changes what is kept, not what is computed
        assert same(final, usual[0]) and layers
    else:
        assert not same(final, usual[0])


# When things go wrong


class After(nn.Module):
    """An objective that turns bad after some calls."""

    variant = "paper"

    def __init__(self, calls: int, how: str) -> None:
        super().__init__()
        self.inner, self.calls, self.how = Objective("ce"), calls, how

    def total(self, gold: Tensor) -> Tensor:
        return self.inner.total(gold)

    def forward(self, log_probs: Tensor, gold: Tensor, total: Tensor | None = None) -> Tensor:
        loss: Tensor = self.inner(log_probs, gold, total)
        if not log_probs.requires_grad:  # an evaluation
            return loss
        self.calls -= 1
        if self.calls >= 0:
            return loss
        if self.how == "gradient":  # √0 is finite, its slope is not
            return loss + (loss - loss.detach()).abs().sqrt()
        return loss * float(self.how)


@pytest.mark.parametrize(("how", "what"), [("nan", "loss"), ("inf", "loss"), ("gradient", "gradient's norm")])
def test_divergence_stops_and_leaves_the_last_good_state(
    how: str, what: str, tiny: ModuleType, tmp_path: Path
):
    # Two calls a step: the third step goes wrong.
    with pytest.raises(TrainingError, match=f"step 3: the {what} is (nan|inf).*Lower training.lr"):
        tiny.run(tmp_path, dropout=0.0, objective=After(4, how), eval_every=1)
    assert [(m["step"], m["split"]) for m in metrics(tmp_path)] == [
        (1, "train"), (1, "dev"), (2, "train"), (2, "dev")
    ]  # fmt: skip
    assert all(torch.isfinite(p).all() for p in load_model(tmp_path).module.parameters())
    # And the state can be gone on with.
    _, progress, resumed = tiny.run(
        tmp_path, dropout=0.0, objective=Objective("ce"), eval_every=1, resume=True
    )
    _, _, expected = tiny.run(tmp_path / "whole", dropout=0.0, objective=Objective("ce"), eval_every=1)
    assert progress.step == 8 and same(resumed, expected)


@pytest.mark.parametrize("eval_every", [1, 100])
def test_a_boundless_rate_is_an_error_not_a_ruined_checkpoint(
    eval_every: int, tiny: ModuleType, tmp_path: Path
):
    with pytest.raises(TrainingError, match="Training diverged"):
        tiny.run(tmp_path, lr=1e30, warmup=0.0, eval_every=eval_every)
    assert not (tmp_path / "resume.safetensors").exists()
    assert not (tmp_path / "checkpoint").exists()
    assert "NaN" not in (tmp_path / "metrics.jsonl").read_text()


def test_claims_without_labels_cannot_be_trained_on(tiny: ModuleType, tmp_path: Path):
    model = tiny.make_model()
    data, dev = tiny.data_for(model)
    bare = tokenize([type(e)(f"c{e.id}", e.claim) for e in tiny.examples(2)], model.writer, model.labels)
    nothing = tokenize([], model.writer, model.labels)
    settings, objective = TrainingSettings(), Objective("ce")
    with pytest.raises(DataError, match="training data has claims without a label, such as c0, c1"):
        train_judge(model, bare, dev, objective, settings, tmp_path)
    with pytest.raises(DataError, match="dev data has claims without a label"):
        train_judge(model, data, bare, objective, settings, tmp_path)
    with pytest.raises(DataError, match="training data holds no claims"):
        train_judge(model, nothing, dev, objective, settings, tmp_path)
    with pytest.raises(DataError, match="dev data holds no claims"):
        train_judge(model, data, nothing, objective, settings, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_judge_without_dev_claims_is_not_evaluated(tiny: ModuleType):
    model = tiny.make_model()
    task = JudgeTask(model, tiny.data_for(model)[0], None, Objective("ce"), TrainingSettings())
    assert task.dev_claims == 0
    with pytest.raises(DataError, match="dev data holds no claims"):
        task.evaluate()
