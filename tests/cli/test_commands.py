from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.data.kgat import write_examples
from adjudge.types import Evidence, Example
from command import adjudge

LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
TINY = (
    "--backbone",
    "tiny",
    "--epochs",
    "1",
    "--batch-size",
    "4",
    "--accumulation",
    "1",
    "--set",
    "model.max_length=32",
)


def test_the_installed_command_exits_with_2_and_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "adjudge", "data", "stats", str(tmp_path / "missing.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == f"adjudge: {tmp_path / 'missing.jsonl'}: no such file.\n"
    assert done.stdout == ""


def record(identity: int = 1, **changes: object) -> dict[str, object]:
    line: dict[str, object] = {
        "id": identity,
        "claim": f"Claim {identity}.",
        "label": LABELS[identity % 3],
        "evidence": [["Page", 0, f"Sentence {identity}.", 1.0]],
    }
    return {**line, **changes}


def write(path: Path, *records: object) -> Path:
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder made by the command itself."""
    folder = tmp_path_factory.mktemp("cli")
    claims = write(folder / "claims.jsonl", *(record(i) for i in range(12)))
    done = adjudge(
        "train",
        "--train",
        claims,
        "--dev",
        claims,
        "--test",
        claims,
        *TINY,
        "--out",
        folder / "run",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    assert 0 <= json.loads(done.stdout)["scores"]["label_accuracy"] <= 1
    return folder / "run"


def test_predict_then_score_agrees_with_the_run(run: Path, tmp_path: Path) -> None:
    claims = run.parent / "claims.jsonl"
    done = adjudge(
        "predict", run, claims, "--out", tmp_path / "v.jsonl", "--submission", tmp_path / "s.jsonl"
    )
    assert done.returncode == 0, done.stderr
    scores = json.loads((run / "scores.json").read_text())
    for predictions in ("v.jsonl", "s.jsonl"):
        scored = adjudge("score", tmp_path / predictions, claims, "--json")
        assert json.loads(scored.stdout)["confusion"] == scores["confusion"]
    assert adjudge("score", tmp_path / "s.jsonl", claims, "--check-submission").returncode == 0
    assert (
        adjudge("score", tmp_path / "v.jsonl", claims, "--against", tmp_path / "s.jsonl").stdout.count(
            "p = 1"
        )
        == 1
    )


def test_predict_does_not_replace_a_file_unasked(run: Path, tmp_path: Path) -> None:
    kept = write(tmp_path / "v.jsonl", "precious")
    claims = run.parent / "claims.jsonl"
    refused = adjudge("predict", run, claims, "--out", kept)
    assert refused.returncode == 2 and "--force" in refused.stderr
    assert kept.read_text() == "precious\n"
    assert adjudge("predict", run, claims, "--out", kept, "--force").returncode == 0


def test_a_finished_run_is_not_trained_again(run: Path) -> None:
    again = adjudge("train", "--config", run / "config.toml", "--out", run)
    assert again.returncode == 2
    assert "finished run" in again.stderr


BAD_FILES = {
    "wrong label": (
        [record(1), record(2, label="SUPPORTED")],
        r":2: label 'SUPPORTED' is not one of SUPPORTS",
    ),
    "broken line": ([record(1), '{"id": 2, "claim"'], ":2: not valid JSON"),
    "duplicate id": ([record(1), record(2), record(1)], ":3: id 1 was already used in line 1"),
    "empty claim": ([record(1), record(2, claim="  ")], ":2: "),
    "evidence of the wrong shape": ([record(1), record(2, evidence=[["Page", 0]])], ":2: "),
    "a document as a sentence": (
        [record(1), record(2, evidence=[["Page", 0, "word " * 10_000, 1.0]])],
        ":2: an evidence sentence of 10,000 words",
    ),
    "no label in training": ([record(1), {k: v for k, v in record(2).items() if k != "label"}], ":2: "),
    "no evidence field": ([record(1), {k: v for k, v in record(2).items() if k != "evidence"}], ":2: "),
    "not an object": ([record(1), "[1, 2]"], ":2: expected a JSON object"),
    "an empty file": ([], "claims.jsonl"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_training_files_give_a_line_and_leave_nothing(case: str, tmp_path: Path) -> None:
    records, message = BAD_FILES[case]
    claims = write(tmp_path / "claims.jsonl", *records)
    done = adjudge("train", "--train", claims, *TINY, "--out", tmp_path / "run")
    assert done.returncode == 2
    assert "claims.jsonl" + (message if message.startswith(":") else "") in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run" / "checkpoint").exists()


@pytest.mark.parametrize("path", ["missing.jsonl", "."])
@pytest.mark.parametrize("command", ["train", "stats", "predict", "score"])
def test_a_missing_file_or_a_directory_is_named(command: str, path: str, run: Path, tmp_path: Path) -> None:
    arguments = {
        "train": ("train", "--train", path, "--out", "out"),
        "stats": ("data", "stats", path),
        "predict": ("predict", run, path, "--out", "out"),
        "score": ("score", path, run.parent / "claims.jsonl"),
    }[command]
    done = adjudge(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert path in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_label_can_be_renamed(tmp_path: Path) -> None:
    claims = write(tmp_path / "claims.jsonl", record(1, label="TRUE"), record(2), record(3))
    assert adjudge("data", "stats", claims).returncode == 2
    renamed = adjudge("data", "stats", claims, "--label", "TRUE=SUPPORTS", "--json")
    assert json.loads(renamed.stdout)["labels"]["SUPPORTS"] == 2


def test_long_evidence_and_no_evidence_are_answered(run: Path, tmp_path: Path) -> None:
    claims = tmp_path / "claims.jsonl"
    write_examples(
        claims, [Example(1, "A claim.", (Evidence("word " * 2_000, "Page", 0),)), Example(2, "Another.")]
    )
    done = adjudge("predict", run, claims, "--out", tmp_path / "v.jsonl")
    assert done.returncode == 0, done.stderr
    verdicts = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert [v["id"] for v in verdicts] == [1, 2]
    assert verdicts[0]["evidence"][0]["weight"] == 1.0
    assert verdicts[1]["reason"] == "no evidence was given"
    assert sum(verdicts[1]["probabilities"].values()) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--objective", "abc"), "objective.name"),
        (("--lam", "-1"), "--lam"),
        (("--beta", "1"), "objective.beta"),
        (("--set", "training.nonsense=1"), "training.nonsense is not a setting"),
        (("--set", "nonsense"), "section.key=value"),
        (("--preset", "huge"), "is not one of"),
        (("--freeze-layers", "9"), "has 2 layers"),
        (("--backbone", "./nowhere"), "no such folder"),
    ],
)
def test_wrong_settings_are_refused(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    claims = write(tmp_path / "claims.jsonl", *(record(i) for i in range(6)))
    done = adjudge("train", "--train", claims, *TINY, "--out", tmp_path / "run", *arguments)
    assert done.returncode == 2
    assert message in done.stderr and "Traceback" not in done.stderr


def test_ids_that_do_not_match_are_named(run: Path, tmp_path: Path) -> None:
    fewer = write(tmp_path / "gold.jsonl", *(record(i) for i in range(11)))
    done = adjudge("score", run / "predictions.jsonl", fewer)
    assert done.returncode == 2
    assert "11" in done.stderr


def test_world_makes_files_that_every_command_reads(tmp_path: Path) -> None:
    assert adjudge("data", "world", "--claims", 200, "--seed", 3, "--out", tmp_path / "w").returncode == 0
    stats = json.loads(adjudge("data", "stats", tmp_path / "w" / "claims-train.jsonl", "--json").stdout)
    assert stats["total"] == 125  # 8 neighbourhoods of 25 claims, 60% of them rounded to 5
    assert {p.name for p in (tmp_path / "w").iterdir()} >= {"wiki-001.jsonl", "train.jsonl", "test.jsonl"}


def test_mix_writes_a_training_file_and_a_held_out_one(tmp_path: Path) -> None:
    recipe = tmp_path / "mix.toml"
    recipe.write_text(
        'examples = 60\n[[source]]\nname = "rules"\nkind = "documents"\nshare = 1\nheld_out = 0.3\n'
    )
    done = adjudge("data", "mix", recipe, "--data", tmp_path, "--out", tmp_path / "m", "--examples", 30)
    assert done.returncode == 0, done.stderr
    stats = json.loads(adjudge("data", "stats", tmp_path / "m" / "train.jsonl.gz", "--json").stdout)
    assert stats["total"] == 30
    assert (tmp_path / "m" / "held_out.jsonl.gz").is_file()


def test_fetch_lists_what_there_is_and_refuses_what_there_is_not() -> None:
    assert "SciFact" in adjudge("data", "fetch").stdout
    assert "not one of" in adjudge("data", "fetch", "nonsense").stderr


@pytest.mark.parametrize(
    "command",
    [(), ("train",), ("predict",), ("score",), ("compare",), ("data",), ("data", "world")],
)
def test_help_teaches_by_example(command: tuple[str, ...]) -> None:
    done = adjudge(*command, "--help")
    assert done.returncode == 0
    if command and command != ("data",):
        assert f"adjudge {' '.join(command)} " in done.stdout


def test_a_command_that_is_terminated_tidies_up_first(tmp_path: Path):
    """What a half-written file's ``except`` and ``finally`` do is done when a scheduler ends a run."""
    left = tmp_path / "half-written"
    script = f"""
import pathlib, time, adjudge.cli
def app():
    path = pathlib.Path({str(left)!r})
    try:
        path.touch()
        print("writing", flush=True)
        time.sleep(60)
    finally:
        path.unlink()
adjudge.cli.app = app
adjudge.cli.main()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "writing\n"
        assert left.exists()
        process.terminate()
        assert process.wait(timeout=30) == 128 + signal.SIGTERM
    assert not left.exists()


def test_a_command_that_is_interrupted_says_so():
    script = """
import signal, sys, time, adjudge.cli
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
@adjudge.cli.app.command()
def wait():
    print("waiting", flush=True)
    time.sleep(60)
sys.argv = ["adjudge", "wait"]
adjudge.cli.main()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    assert process.returncode == 130 and told == "adjudge: interrupted.\n"
