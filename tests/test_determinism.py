"""The same seed, data and threads give the same bytes; threads and batches change nothing that matters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch

from adjudge.config import settings_from
from adjudge.judges.folder import load_model
from adjudge.runs.execute import execute
from adjudge.types import Verdict
from toy import TINY_RUN, toy_files

TOLERANCE = 1e-5
"""Between probabilities computed in other batches or with other threads, which sum in another order."""


@pytest.mark.usefixtures("one_thread")
def test_the_same_seed_and_data_give_the_same_weights_and_verdicts_bit_for_bit(tmp_path: Path) -> None:
    files = toy_files(tmp_path)
    outputs = []
    for name, seed in (("first", 3), ("second", 3), ("other", 4)):
        training = {**TINY_RUN["training"], "seed": seed}
        settings = settings_from({**TINY_RUN, "training": training, "data": files})
        execute(settings, tmp_path / name, cache=tmp_path / f"cache-{name}")
        weights = (tmp_path / name / "checkpoint" / "model.safetensors").read_bytes()
        [predictions] = (tmp_path / name).glob("judgements/*/predictions.jsonl")
        outputs.append((weights, predictions.read_bytes()))
    assert outputs[0] == outputs[1]
    assert outputs[0][0] != outputs[2][0]


def test_verdicts_do_not_depend_on_batch_threads_or_neighbours(untrained_run: Path, tiny: ModuleType) -> None:
    judge = load_model(untrained_run)
    examples = tiny.examples(40)
    threads = torch.get_num_threads()
    answers: list[list[Verdict]] = []
    try:
        for batch_tokens, count in ((4096, 1), (64, 1), (4096, 3), (700, 2)):
            torch.set_num_threads(count)
            answers.append(list(replace(judge, batch_tokens=batch_tokens).judge(examples)))
        answers.append([next(judge.judge([example])) for example in examples])
        answers.append(list(judge.judge(examples[::-1]))[::-1])
    finally:
        torch.set_num_threads(threads)
    expected = answers[0]
    for answer in answers[1:]:
        assert [verdict.label for verdict in answer] == [verdict.label for verdict in expected]
        for verdict, reference in zip(answer, expected, strict=True):
            assert verdict.probabilities == pytest.approx(reference.probabilities, abs=TOLERANCE)
            weights = [sentence.weight for sentence in verdict.evidence]
            assert weights == pytest.approx([s.weight for s in reference.evidence], abs=TOLERANCE)
