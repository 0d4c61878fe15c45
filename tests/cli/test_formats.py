"""Every format in every command that reads claims: it works, or says in a line why it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.data.formats import FORMATS
from command import adjudge
from format_samples import RECORDS, write_sample

CLAIMS = [name for name, form in FORMATS.items() if form.has_claims]
SENTENCES = [name for name, form in FORMATS.items() if form.has_sentences]
GOLD = [name for name, form in FORMATS.items() if form.has_gold]
LABELLED = [name for name in SENTENCES if not FORMATS[name].predicts]
TINY = ("--backbone", "tiny", "--epochs", "1", "--batch-size", "2", "--set", "model.max_length=32")


@pytest.fixture
def sample(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return write_sample(tmp_path, request.param)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "rome.txt").write_text("Rome is old. It lies on a river.")
    return tmp_path / "docs"


def as_json(*arguments: object) -> dict[str, Any]:
    done = adjudge(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def refusal(*arguments: object) -> str:
    done = adjudge(*arguments)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.startswith("adjudge: "), done.stderr
    return done.stderr


def others(names: list[str]) -> list[str]:
    return [name for name in FORMATS if name not in names]


@pytest.mark.parametrize("sample", CLAIMS, indirect=True)
def test_score_reads_gold_and_predictions(sample: Path) -> None:
    scores = as_json("score", sample, sample)
    assert (scores["n"], scores["label_accuracy"]) == (2, 1.0)
    assert (scores["fever_score"] == 1.0) == (sample.stem in GOLD)


@pytest.mark.parametrize("name", others(CLAIMS))
def test_score_takes_predictions_without_claims_but_no_such_gold(tmp_path: Path, name: str) -> None:
    predictions, gold = write_sample(tmp_path, name), write_sample(tmp_path, "fever")
    assert as_json("score", predictions, gold)["fever_score"] == 1.0
    assert "predictions but no claims" in refusal("score", gold, predictions)


@pytest.mark.parametrize("sample", CLAIMS, indirect=True)
def test_stats_counts(sample: Path) -> None:
    assert as_json("data", "stats", sample)["total"] == 2


@pytest.mark.parametrize("sample", SENTENCES, indirect=True)
def test_predict_reads_and_score_reads_what_it_wrote(
    sample: Path, tmp_path: Path, untrained_run: Path
) -> None:
    assert as_json("predict", untrained_run, sample, "--out", tmp_path / "v.jsonl")["claims"] == 2
    assert as_json("score", tmp_path / "v.jsonl", sample)["n"] == 2


@pytest.mark.parametrize("sample", CLAIMS, indirect=True)
def test_assemble_and_verify_read_claims(
    sample: Path, tmp_path: Path, documents: Path, untrained_run: Path
) -> None:
    search = ("--corpus", documents, "--selector", "lexical")
    assert as_json("assemble", sample, *search, "--out", tmp_path / "a.jsonl")["claims"] == 2
    done = adjudge(
        "verify", "--claims", sample, "--model", untrained_run, *search, "--out", tmp_path / "v.jsonl"
    )
    assert done.returncode == 0, done.stderr
    ids = [record.get("id", record.get("claim_id")) for record in RECORDS[sample.stem]]
    for written in ("a.jsonl", "v.jsonl"):
        assert [json.loads(line)["id"] for line in (tmp_path / written).read_text().splitlines()] == ids


@pytest.mark.parametrize("sample", GOLD, indirect=True)
def test_gold_is_searched_for(sample: Path, tmp_path: Path, documents: Path) -> None:
    search = ("--corpus", documents, "--selector", "lexical")
    assert as_json("search", "--evaluate", sample, *search)["claims"].endswith(sample.name)
    assert as_json("assemble", sample, *search, "--training", "--out", tmp_path / "a.jsonl")["gold_injected"]


@pytest.mark.parametrize("sample", others(GOLD), indirect=True)
def test_a_format_without_gold_is_not_searched_for_gold(
    sample: Path, tmp_path: Path, documents: Path
) -> None:
    search = ("--corpus", documents, "--selector", "lexical")
    for command in (
        ("search", "--evaluate", sample),
        ("assemble", sample, "--training", "--out", tmp_path / "a.jsonl"),
    ):
        assert f"{sample}:1: looks like " in refusal(*command, *search)
    assert not (tmp_path / "a.jsonl").exists()


@pytest.mark.parametrize("sample", LABELLED, indirect=True)
def test_train_reads_labelled_sentences(sample: Path, tmp_path: Path) -> None:
    labels = ", ".join(f'"{name}"' for name in FORMATS[sample.stem].labels)
    done = adjudge(
        *("train", "--train", sample, "--dev", sample, "--test", sample, "--out", tmp_path / "run"),
        *(*TINY, "--set", f"data.labels=[{labels}]"),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run" / "scores.json").read_text())["n"] == 2


@pytest.mark.parametrize("sample", others(LABELLED), indirect=True)
def test_train_refuses_other_files_at_once(sample: Path, tmp_path: Path) -> None:
    good = write_sample(tmp_path, "kgat")
    assert "looks like" in refusal("train", "--train", sample, "--out", tmp_path / "a", *TINY)
    files = ("--train", good, "--dev", good, "--test", sample)
    assert f"{sample}:1: looks like" in refusal("train", *files, "--out", tmp_path / "b", *TINY)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("sample", others(CLAIMS), indirect=True)
def test_what_has_no_claims_is_refused_where_claims_are_read(
    sample: Path, tmp_path: Path, documents: Path, untrained_run: Path
) -> None:
    search = ("--corpus", documents, "--selector", "lexical", "--out", tmp_path / "v.jsonl")
    for command in (
        ("data", "stats", sample),
        ("predict", untrained_run, sample, "--out", tmp_path / "v.jsonl"),
        ("assemble", sample, *search),
        ("verify", "--claims", sample, "--model", untrained_run, *search),
    ):
        assert f"{sample}:1: " in refusal(*command)
    assert not (tmp_path / "v.jsonl").exists()


def test_gold_that_cannot_be_read_is_noticed_before_the_training(tmp_path: Path) -> None:
    good, submission = write_sample(tmp_path, "kgat"), write_sample(tmp_path, "submission")
    files = ("--train", good, "--test", good, "--gold")
    assert "predictions but no claims" in refusal(
        "train", *files, submission, "--out", tmp_path / "run", *TINY
    )
    other = write_sample(tmp_path, "climate-fever")  # the same claims, with ids as text
    assert "write both the same way" in refusal("train", *files, other, "--out", tmp_path / "run", *TINY)
    assert not (tmp_path / "run").exists()


def test_labels_of_any_set_are_scored(tmp_path: Path) -> None:
    disputed = write_sample(tmp_path, "climate-fever")
    disputed.write_text(disputed.read_text().replace("REFUTES", "DISPUTED"))
    assert as_json("score", disputed, disputed)["labels"][-1] == "DISPUTED"
    folded = as_json("score", disputed, disputed, "--label", "DISPUTED=NOT ENOUGH INFO")
    assert (folded["confusion"], folded["labels"][-1]) == (
        [[1, 0, 0], [0, 0, 0], [0, 0, 1]],
        "NOT ENOUGH INFO",
    )
    own = write_sample(tmp_path, "kgat")
    own.write_text(own.read_text().replace("SUPPORTS", "yes").replace("REFUTES", "no"))
    assert "label 'yes' is not one of" in refusal("score", own, own)
    assert as_json("score", own, own, "--labels", "no, yes")["labels"] == ["no", "yes"]
    verdicts = [
        {"id": 1, "claim": "a", "label": "yes", "probabilities": {"yes": 0.9, "no": 0.1}, "evidence": []},
        {
            "id": 2,
            "claim": "b",
            "label": None,
            "probabilities": {},
            "evidence": [],
            "reason": "nothing matches",
        },
    ]
    (tmp_path / "v.jsonl").write_text("".join(json.dumps(verdict) + "\n" for verdict in verdicts))
    scores = as_json("score", tmp_path / "v.jsonl", own)  # the model's own labels; no answer is wrong
    assert (scores["labels"], scores["label_accuracy"], scores["unanswered"]) == (["yes", "no"], 0.5, [0, 1])
