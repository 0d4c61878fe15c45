from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adjudge import Verifier
from adjudge.config import ModelSettings, RunSettings, settings_from, to_toml
from adjudge.data.kgat import write_examples
from adjudge.errors import ConfigError
from adjudge.judges.folder import save_model
from adjudge.judges.row_model import build
from adjudge.runs.export import compute_figures, export
from adjudge.runs.model_card import without_folders
from adjudge.types import FEVER_LABELS, Evidence, Example


def examples(count: int) -> list[Example]:
    labels = list(FEVER_LABELS)
    return [
        Example(n, f"Claim {n}.", (Evidence(f"Sentence {n * 7} says so.", page="P"),), labels[n % 3])
        for n in range(count)
    ]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    settings = ModelSettings(kind="mixture", backbone="tiny", max_length=48)
    save_model(build(settings, FEVER_LABELS), folder / "checkpoint")
    write_examples(tmp_path / "dev.jsonl", examples(12))
    data = {"train": tmp_path / "dev.jsonl", "dev": tmp_path / "dev.jsonl", "dev_limit": 3}
    values = {"data": data, "model": settings.model_dump()}
    (folder / "config.toml").write_text(to_toml(settings_from(values)))
    return folder


def test_an_export_can_be_loaded_and_tells_its_figures(run: Path, tmp_path: Path):
    write_examples(tmp_path / "test.jsonl", examples(9))
    report = export(run, tmp_path / "out", [tmp_path / "test.jsonl"])
    verifier = Verifier.load(tmp_path / "out")
    assert verifier.judge.identity["temperature"] == report.temperature > 0
    [tuning], [test] = report.tuning, report.test
    assert (tuning.claims, test.claims, test.name) == (
        12,
        9,
        "test.jsonl",
    )  # dev_limit is the loop's, not ours
    right = [verifier.classify(e.claim, e.evidence).label == e.label for e in examples(9)]
    assert test.label_accuracy == pytest.approx(sum(right) / 9)
    assert report.changed == 0 and report.size > 0
    written = json.loads((tmp_path / "out" / "figures.json").read_text())
    assert written["test"][0]["label_accuracy"] == test.label_accuracy
    card = (tmp_path / "out" / "MODEL_CARD.md").read_text()
    for part in (
        "CC BY-SA 3.0",
        f"T = {report.temperature:.3f}",
        "## Limits",
        f"| test.jsonl | 9 | {100 * test.label_accuracy:.1f} |",
    ):
        assert part in card
    assert str(tmp_path) not in card  # no places of this machine


def test_a_softened_export_multiplies_the_fitted_temperature_and_says_so(run: Path, tmp_path: Path):
    fitted = export(run, tmp_path / "plain").temperature
    report = export(run, tmp_path / "soft", soften=1.5)
    assert report.temperature == pytest.approx(1.5 * fitted) and report.fitted == pytest.approx(fitted)
    assert Verifier.load(tmp_path / "soft").judge.identity["temperature"] == report.temperature
    assert "1.50 times what was fitted" in (tmp_path / "soft" / "MODEL_CARD.md").read_text()


def test_the_card_of_a_mix_names_its_sources_and_measures_each(run: Path, tmp_path: Path):
    (tmp_path / "mix.toml").write_text(
        "examples = 12\n"
        '[[source]]\nname = "odd"\nabout = "odd pairs, MIT"\nshare = 3\n'
        '[[source]]\nname = "even"\nkind = "documents"\nshare = 1\n'
    )
    named = [replace(e, id=f"{'odd' if int(e.id) % 2 else 'even'}:{e.id}#0") for e in examples(12)]
    write_examples(tmp_path / "dev.jsonl", named)
    report = export(run, tmp_path / "out")
    assert [(part.name, part.claims) for part in report.tuning] == [
        ("held out", 12),
        ("held out, even", 6),
        ("held out, odd", 6),
    ]
    card = (tmp_path / "out" / "MODEL_CARD.md").read_text()
    assert "| odd | 75.0 | odd pairs, MIT |" in card and "| even | 25.0 | documents |" in card
    assert "held out by page, claim and sentence" in card.replace("\n", " ")


def test_settings_to_hand_out_name_no_folder():
    settings = RunSettings.model_validate(
        {"data": {"train": "/at/me/a.jsonl"}, "model": {"init": "/at/me/before"}}
    )
    shown = without_folders(settings)
    assert shown.model.init == "before" and shown.data.train is None
    assert without_folders(shown) == shown


def test_figures_by_hand():
    p = np.array([[0.8, 0.1, 0.1], [0.6, 0.2, 0.2], [0.2, 0.5, 0.3], [0.1, 0.0 + 1e-9, 0.9 - 1e-9]])
    found = compute_figures("four", np.log(p), np.array([0, 1, 1, 2]), 1.0, list(FEVER_LABELS))
    assert found.label_accuracy == 0.75
    assert found.recall == {"SUPPORTS": 1.0, "REFUTES": 0.5, "NOT ENOUGH INFO": 1.0}
    # Each claim is alone in its bin: |1 − .9|, |1 − .8|, |0 − .6|, |1 − .5|, over 4.
    assert found.ece == found.ece_untempered == pytest.approx((0.1 + 0.2 + 0.6 + 0.5) / 4)
    # Surest first: .9 right, .8 right, .6 wrong, .5 right.
    by_share = {round(share, 2): (threshold, risk) for share, threshold, risk in found.risk}
    assert by_share[0.5] == pytest.approx((0.8, 0.0))
    assert by_share[0.75] == pytest.approx((0.6, 1 / 3))
    assert by_share[1.0] == pytest.approx((0.5, 0.25))


def test_a_temperature_changes_calibration_not_accuracy():
    log_probs = np.log(np.array([[0.9, 0.05, 0.05]] * 4))
    gold = np.array([0, 0, 1, 2])
    sharp, soft = (compute_figures("x", log_probs, gold, t, list(FEVER_LABELS)) for t in (1.0, 4.0))
    assert sharp.label_accuracy == soft.label_accuracy == 0.5
    root = 0.9**0.25 / (0.9**0.25 + 2 * 0.05**0.25)
    assert soft.ece == pytest.approx(abs(0.5 - root)) and soft.ece_untempered == pytest.approx(0.4)
    assert math.isclose(sharp.ece, 0.4, abs_tol=1e-9)


def test_a_run_that_kept_nothing_aside_cannot_be_calibrated(run: Path, tmp_path: Path):
    values = {"data": {"train": tmp_path / "dev.jsonl"}, "model": {"kind": "mixture", "backbone": "tiny"}}
    (run / "config.toml").write_text(to_toml(settings_from(values)))
    with pytest.raises(ConfigError, match="kept no claims aside"):
        export(run, tmp_path / "out")
