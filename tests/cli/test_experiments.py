from __future__ import annotations

import json
from pathlib import Path

from adjudge.data.kgat import write_examples
from command import adjudge
from toy import toy_examples

PLAN = """
title = "Toy claims"
[run.model]
max_length = 32
[run.training]
epochs = 1
batch_size = 8
accumulation = 1
[grid]
backbones = ["tiny"]
objectives = ["sr"]
weighting = [false]
seeds = [0, 1]
"""


def test_another_test_file_gives_another_table_of_the_same_runs(
    toy_files: dict[str, Path], tmp_path: Path
) -> None:
    plan, others = tmp_path / "plan.toml", tmp_path / "others.jsonl"
    plan.write_text(PLAN)
    write_examples(others, toy_examples(6, "another claim"))
    files = [part for name in ("train", "dev") for part in (f"--{name}", toy_files[name])]
    compare = ("compare", plan, *files)
    first = adjudge(*compare, "--test", toy_files["test"], "--out", tmp_path / "first")
    assert first.returncode == 0, first.stderr
    assert "9 test claims" in first.stdout and "McNemar p" in first.stdout
    again = (*compare, "--test", others, "--runs", tmp_path / "first" / "runs", "--out", tmp_path / "second")
    done = adjudge(*again, "--json")
    assert done.returncode == 0, done.stderr
    assert "step" not in done.stderr  # nothing was trained
    for run in (run for row in json.loads(done.stdout)["arms"] for run in row["runs"]):
        verdicts = tmp_path / "verdicts.jsonl"
        adjudge("predict", tmp_path / "second" / run["folder"], others, "--out", verdicts, "--force")
        assert verdicts.read_text() == (tmp_path / "second" / run["predictions"]).read_text()
        scores = json.loads(adjudge("score", verdicts, others, "--json").stdout)
        assert scores["label_accuracy"] == run["scores"]["label_accuracy"]
        assert scores["confusion"] == run["scores"]["confusion"]
    best = adjudge(*again, "--best-only", "--title", "Six claims", "--json")
    assert best.returncode == 0, best.stderr
    assert [len(row["runs"]) for row in json.loads(best.stdout)["arms"]] == [1, 1]
    assert adjudge("report", tmp_path / "second", "--format", "md").returncode == 0
    report = (tmp_path / "second" / "report.md").read_text()
    assert "Six claims" in report and "others.jsonl" in report
