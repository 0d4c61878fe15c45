"""What the command that verifies claims loads, and what it does not."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.io import files
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


def test_a_prover_is_trained_and_explains_the_verdict_of_another_judge(
    untrained_run: Path, tmp_path: Path
) -> None:
    rows = [
        {
            "id": n,
            "claim": f"The bridge was opened in {year}.",
            "label": label,
            "evidence": [["Bridge", 0, text, 1.0]],
        }
        for n, (year, label, text) in enumerate(
            [
                (1932, "SUPPORTS", "It was opened in 1932 ."),
                (1940, "REFUTES", "It was opened in 1932 ."),
                (1950, "NOT ENOUGH INFO", "It is long ."),
            ]
            * 4
        )
    ]
    train = tmp_path / "train.jsonl"
    train.write_text("".join(json.dumps(row) + "\n" for row in rows))
    steps, texts = tmp_path / "steps.jsonl", tmp_path / "texts.jsonl"
    made = adjudge("data", "proofs", train, "--out", steps, "--texts", texts)
    assert made.returncode == 0 and "36 steps of 12 proofs" in made.stdout, made.stderr
    first = json.loads(texts.read_text().splitlines()[0])
    assert first["target"].startswith("{ The bridge } [")
    names = '["EQUIVALENCE","FORWARD","REVERSE","NEGATION","ALTERNATION","INDEPENDENCE"]'
    trained = adjudge(
        *("train", "--train", steps, "--out", tmp_path / "prover", "--set", f"data.labels={names}"),
        *("--set", "model.kind=concat", "--set", "model.backbone=tiny", "--set", "model.max_length=48"),
        *("--set", "training.epochs=1"),
    )
    assert trained.returncode == 0, trained.stderr
    (tmp_path / "bridge.txt").write_text("The bridge was opened in 1932.")
    shared = [
        "verify",
        "The bridge was opened in 1932.",
        "--corpus",
        tmp_path / "bridge.txt",
        "--selector",
        "lexical",
    ]
    shown = adjudge(*shared, "--model", untrained_run, "--prover", tmp_path / "prover")
    assert shown.returncode == 0, shown.stderr
    assert "proof" in shown.stdout and "was opened" in shown.stdout
    record = json.loads(adjudge(*shared, "--model", f"prover:{tmp_path / 'prover'}", "--json").stdout)
    assert len(record["explanation"]["proof"]) == 3
    silent = adjudge(*shared, "--model", untrained_run, "--explain")
    assert "name a prover" in silent.stdout


def test_claims_come_from_standard_input_and_what_states_nothing_is_noted(
    untrained_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rivers.txt").write_text("The Rhine flows through Cologne.")
    shared = ("verify", "--corpus", tmp_path, "--model", untrained_run, "--selector", "lexical", "--json")
    claims = "The Rhine flows\u2028through Cologne\n\nDoes the Rhine flow through Cologne?\r\nthe Rhine\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(claims.encode())))
    done = adjudge(*shared, "-")
    records = json.loads(done.stdout)
    assert [record["claim"] for record in records] == [line.strip() for line in claims.split("\n") if line]
    assert " ".join(done.stderr.split()).count("A verdict on it means little") == 2
    assert "“Does the Rhine flow through Cologne?”: question." in " ".join(done.stderr.split())
    empty = adjudge(*shared, "-")  # all of it was read before
    assert (empty.returncode, empty.stdout) == (2, "")
    assert "standard input: is empty, expected claims, one a line." in empty.stderr


def test_standard_input_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_TEXT", 100)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"The Rhine flows.\n" * 10)))
    done = adjudge("verify", "--corpus", tmp_path, "-")
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard input: has more than" in done.stderr and "--claims FILE" in done.stderr


def test_a_name_that_is_no_model_is_answered_with_those_that_are() -> None:
    assert "Expected small, large, fever, rules, hf:ID or a model's folder." in " ".join(
        adjudge("model", "show", "smal").stderr.split()
    )
