from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch

from adjudge.judges.folder import load_judge, save_model
from adjudge.judges.predict import predict
from adjudge.types import Evidence, Example

MANY = tuple(Evidence(f"sentence {n}", page=f"page {n}") for n in range(7))


def test_a_judge_answers_as_predicting_does(tiny: ModuleType):
    judge, examples = tiny.make_model(), tiny.examples(9)
    assert list(judge.judge(examples)) == list(predict(judge, examples))


@pytest.mark.parametrize("kind", ["kgat", "mixture", "concat"])
def test_evidence_beyond_what_a_judge_reads_changes_nothing(kind: str, tiny: ModuleType):
    judge = tiny.make_model(kind=kind, max_evidence=3, max_length=60)
    # One call each: rows that share a batch may differ in their last digits.
    [whole], [cut] = (judge.judge([Example(1, "a claim", evidence)]) for evidence in (MANY, MANY[:3]))
    assert whole == cut and len(whole.evidence) == judge.max_evidence == 3
    more = tiny.make_model(kind=kind, max_evidence=7, max_length=60)
    assert len(next(more.judge([Example(1, "a claim", MANY)])).evidence) == 7


def test_the_identity_names_all_that_decides_the_answers(tiny: ModuleType, tmp_path: Path):
    judge = tiny.make_model()
    same = judge.identity
    assert same == tiny.make_model().identity
    assert replace(judge, temperature=2.0).identity != same
    assert replace(judge, settings=judge.settings.model_copy(update={"titles": False})).identity != same
    with torch.no_grad():
        next(judge.module.parameters()).add_(1)
    assert judge.identity != same
    save_model(judge, tmp_path)
    loaded = load_judge(tmp_path, precision="fp32")
    assert loaded.identity == load_judge(tmp_path, precision="fp32").identity != same
    assert {**loaded.identity, "weights": ""} == {**judge.identity, "weights": ""}
