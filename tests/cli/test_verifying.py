"""What the command that verifies claims loads, and what it does not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command import adjudge

SCRIPT = """
import sys
from adjudge.cli import main
for arguments in sys.argv[1].split("|"):
    sys.argv = ["adjudge", "verify", *arguments.split(";")]
    main_ended = 0
    try:
        main()
    except SystemExit as ended:
        main_ended = ended.code
    assert not main_ended, arguments
print(*sorted(name for name in sys.modules if name.startswith("adjudge.")), file=sys.stderr)
"""
RESEARCH = (
    "adjudge.experiments",
    "adjudge.evaluation",
    "adjudge.data.world",
    "adjudge.training",
    "adjudge.runs",
)


def test_verify_imports_nothing_of_experiments_evaluation_or_made_up_worlds(
    untrained_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "rivers.txt").write_text("The Rhine flows through Cologne.")
    (tmp_path / "claims.jsonl").write_text('{"id": 1, "claim": "The Rhine flows through Cologne."}\n')
    shared = ["--model", untrained_run, "--corpus", tmp_path / "rivers.txt", "--selector", "lexical"]
    calls = [
        ["The Rhine flows through Cologne.", "--json", *shared],
        ["--claims", tmp_path / "claims.jsonl", "--out", tmp_path / "v.jsonl", "--json", *shared],
    ]
    script = [sys.executable, "-c", SCRIPT, "|".join(";".join(map(str, call)) for call in calls)]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    loaded = done.stderr.splitlines()[-1].split()
    assert "adjudge.serving.verifier" in loaded and "adjudge.serving.bulk" in loaded
    assert [name for name in loaded if name.startswith(RESEARCH)] == []


def test_every_setting_of_a_verifier_is_an_option() -> None:
    from adjudge.serving.settings import VerifierSettings

    shown = adjudge("verify", "--help").stdout
    for name, field in VerifierSettings.model_fields.items():
        assert f"--{name.replace('_', '-')}" in shown
        assert field.description, name


def test_an_error_message_cannot_steer_the_terminal(tmp_path: Path) -> None:
    done = adjudge("verify", "A claim.", "--corpus", tmp_path / "no\x1b[2Jsuch")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr and "no\ufffd[2Jsuch: no such index" in done.stderr


@pytest.mark.parametrize("name", ["small", None])
def test_a_model_can_be_shown_without_loading_it(name: str | None, untrained_run: Path) -> None:
    wanted = name or untrained_run
    record = json.loads(adjudge("model", "show", wanted, "--json").stdout)
    assert record["labels"] == ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"] and record["bytes"] > 0
    shown = adjudge("model", "show", wanted)
    assert shown.returncode == 0 and record["sha256"] in shown.stdout


def test_the_models_of_the_package_are_listed() -> None:
    names = [record["name"] for record in json.loads(adjudge("model", "list", "--json").stdout)]
    assert names == ["small", "large", "fever"]
    assert "minilm" in adjudge("model", "list").stdout
    assert "no trained judge here" in adjudge("model", "show", "nowhere").stderr
