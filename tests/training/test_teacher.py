from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from adjudge.config import settings_from
from adjudge.data.formats import read_examples
from adjudge.data.verdicts import write_verdicts
from adjudge.errors import DataError
from adjudge.judges.folder import load_model
from adjudge.runs.execute import execute
from adjudge.runs.folder import run_id
from adjudge.training.teacher import Teacher, read_teacher
from adjudge.types import FEVER_LABELS, Verdict

CERTAIN = {"SUPPORTS": 0.9, "REFUTES": 0.05, "NOT ENOUGH INFO": 0.05}


def verdict(claim_id: object, probabilities: dict[str, float]) -> Verdict:
    return Verdict(claim_id, "A claim.", "SUPPORTS", probabilities)  # type: ignore[arg-type]


def test_the_loss_is_mixed_by_share_and_averaged_over_the_step() -> None:
    teacher = Teacher(torch.tensor([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]), share=0.25)
    log_probs = torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]).log()
    # claim 0: −(.5 ln .2 + .25 ln .3 + .25 ln .5), claim 1: −ln .6, over a step of four claims
    to_teacher = -(0.5 * math.log(0.2) + 0.25 * math.log(0.3) + 0.25 * math.log(0.5) + math.log(0.6)) / 4
    mixed = teacher.mix(torch.tensor(2.0), log_probs, [0, 1], 4)
    assert float(mixed) == pytest.approx(0.75 * 2.0 + 0.25 * to_teacher, abs=1e-6)


def test_verdicts_join_the_training_claims_by_id(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    write_verdicts(path, [verdict("b", CERTAIN), verdict("a", dict.fromkeys(FEVER_LABELS, 1 / 3))])
    teacher = read_teacher(path, ("a", "b"), FEVER_LABELS, 0.5)
    torch.testing.assert_close(
        teacher.probabilities, torch.tensor([[1 / 3, 1 / 3, 1 / 3], [0.9, 0.05, 0.05]]), atol=1e-5, rtol=0
    )


def test_a_claim_without_a_verdict_and_other_labels_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    write_verdicts(path, [verdict("a", CERTAIN)])
    with pytest.raises(DataError, match="no verdict for 1 of 2 training claims, such as b"):
        read_teacher(path, ("a", "b"), FEVER_LABELS, 0.5)
    write_verdicts(path, [verdict("a", {"YES": 0.8, "NO": 0.2})])
    with pytest.raises(DataError, match="add up to 0, expected 1"):
        read_teacher(path, ("a",), FEVER_LABELS, 0.5)


def test_a_run_follows_its_teacher_against_the_labels(toy_files: dict[str, Path], tmp_path: Path) -> None:
    """With the whole loss on a teacher that always says SUPPORTS, the model ends by saying SUPPORTS."""
    examples = list(read_examples(toy_files["train"], labels=FEVER_LABELS))
    teacher = tmp_path / "teacher.jsonl"
    write_verdicts(teacher, [verdict(example.id, CERTAIN) for example in examples])
    values = {
        "data": {"train": toy_files["train"], "teacher": teacher},
        "objective": {"teacher_share": 1.0},
        "model": {"backbone": "tiny", "max_length": 32},
        "training": {"epochs": 8, "batch_size": 8, "accumulation": 1, "lr": 5e-3},
    }
    settings = settings_from(values)
    execute(settings, tmp_path / "run")
    assert {v.label for v in load_model(tmp_path / "run").judge(examples)} == {"SUPPORTS"}
    alone = settings_from({**values, "data": {"train": toy_files["train"]}})
    assert run_id(settings) != run_id(alone)
