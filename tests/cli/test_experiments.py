from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.data.kgat import write_examples
from command import adjudge
from toy import toy_comparison, toy_examples


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CE and SR, seeds 0 and 1."""
    return toy_comparison(tmp_path_factory.mktemp("toy"))


@pytest.fixture
def others(tmp_path: Path) -> Path:
    path = tmp_path / "others.jsonl"
    write_examples(path, toy_examples(6, "another claim"))
    return path


def test_retest_gives_what_predict_and_score_give(trained: Path, others: Path, tmp_path: Path) -> None:
    done = adjudge("retest", trained, "--test", others, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("finished") == 4
    runs = {
        (row["arm"]["objective"], run["seed"]): run
        for row in json.loads(done.stdout)["arms"]
        for run in row["runs"]
    }
    for entry in json.loads((trained / "comparison.json").read_text())["runs"]:
        run = runs[entry["arm"]["objective"], entry["seed"]]
        verdicts = tmp_path / f"{entry['run']}.jsonl"
        adjudge("predict", trained / "runs" / entry["run"], others, "--out", verdicts)
        assert verdicts.read_text() == (tmp_path / "out" / run["folder"] / "predictions.jsonl").read_text()
        scores = json.loads(adjudge("score", verdicts, others, "--json").stdout)
        assert scores["label_accuracy"] == run["scores"]["label_accuracy"]
        assert scores["confusion"] == run["scores"]["confusion"]


def test_a_retest_is_shown_and_reported_as_a_comparison(trained: Path, others: Path, tmp_path: Path) -> None:
    command = ("retest", trained, "--test", others, "--arms", "chosen", "--title", "Six claims")
    done = adjudge(*command, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "6 test claims, 1 seed each" in done.stdout and "McNemar p" in done.stdout
    assert "each arm's with the best tuning LA" in " ".join(done.stdout.split())
    assert adjudge("report", tmp_path / "out", "--format", "md").returncode == 0
    report = (tmp_path / "out" / "report.md").read_text()
    assert "Six claims" in report and "others.jsonl" in report and "Trained in" in report


def test_retest_of_no_comparison_ends_with_2(others: Path, tmp_path: Path) -> None:
    done = adjudge("retest", tmp_path, "--test", others, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "holds no comparison" in done.stderr and "Traceback" not in done.stderr
