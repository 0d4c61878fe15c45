from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from adjudge.config import TrainingSettings
from adjudge.encoders.batch import Batch
from adjudge.errors import ConfigError
from adjudge.objectives.loss import Objective
from adjudge.training.distributed import Workers
from adjudge.training.judge import JudgeTask, mix_claims
from tiny_run import data_for, make_model, run


def test_claims_are_mixed_with_a_partner_of_their_batch(encoder: Any, rows: Any, to_batch: Any):
    batch = to_batch([rows(n, (3, 4 + n)) for n in range(5)])
    states = torch.arange(10.0).view(5, 2)
    assert torch.equal(batch.mix(states), states)
    mixed = mix_claims(batch, 0.4, torch.Generator().manual_seed(0))
    assert mixed.partner is not None and sorted(mixed.partner.tolist()) == [0, 1, 2, 3, 4]
    assert 0 <= mixed.share <= 1
    for claim, partner in enumerate(mixed.partner.tolist()):
        expected = mixed.share * states[claim] + (1 - mixed.share) * states[partner]
        torch.testing.assert_close(mixed.mix(states)[claim], expected)


def test_slots_that_the_partner_lacks_stay_as_they_are(rows: Any, to_batch: Any):
    batch: Batch = to_batch([rows(0, (3, 4), (3, 5)), rows(1, (3, 4))])
    mixed = Batch(**{**vars(batch), "partner": torch.tensor([1, 0]), "share": 0.25})
    states = torch.tensor([[[1.0], [2.0]], [[5.0], [9.0]]])  # (claims, slots, 1)
    # Slot 0 of both: ¼ · 1 + ¾ · 5 = 4 and ¼ · 5 + ¾ · 1 = 2; slot 1 only the first claim has.
    assert mixed.mix(states).flatten().tolist() == [4.0, 2.0, 2.0, 9.0]


def test_the_loss_is_that_of_both_labels_by_their_shares():
    model = make_model(dropout=0.0, kind="concat")
    data, _ = data_for(model)
    settings = TrainingSettings(batch_size=8, accumulation=1, mixup=0.5, shuffle_evidence=False)
    objective = Objective("sr", lam=0.5)
    claims = list(range(8))
    task = JudgeTask(model, data, None, objective, settings)
    quality = task.backward(claims, torch.Generator().manual_seed(1), Workers())
    ordered = sorted(claims, key=data.longest_row)
    batch = mix_claims(data.batch(ordered), 0.5, torch.Generator().manual_seed(1))
    gold, log_probs = data.gold(ordered), model.module(batch).log_probs.detach()
    expected = 0.0
    for claim, partner in enumerate(batch.partner.tolist()):
        own, other = (objective.per_claim(log_probs[[claim]], gold[[who]]) for who in (claim, partner))
        expected += float(batch.share * own + (1 - batch.share) * other) / 8
    assert quality.loss == pytest.approx(expected, rel=1e-5)


def test_it_changes_the_training_and_not_the_verdicts_of_a_model(tmp_path: Path):
    weights = {}
    for alpha in (0.0, 0.4):
        model = make_model(kind="concat")
        weights[alpha] = run(tmp_path / str(alpha), model=model, mixup=alpha)[2]
    assert any(not torch.equal(weights[0.0][name], weights[0.4][name]) for name in weights[0.0])


def test_a_head_that_does_not_mix_refuses_it(tmp_path: Path):
    with pytest.raises(ConfigError, match="mixup is 0.4, but kgat does not mix claims"):
        run(tmp_path, mixup=0.4)
