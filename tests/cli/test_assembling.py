"""Claims and evidence in one file, with gold only where it is asked for, and then said in every output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.data.fever import write_claims
from adjudge.types import Claim, SentenceRef
from command import adjudge

TEXTS = {
    "rain": "Rain falls in York. Nobody knows why it stops.",
    "snow": "Snow melts at noon. Snow comes back at night.",
}
CLAIMS = [
    Claim(1, "Snow melts at noon.", "SUPPORTS", ((SentenceRef("docs/rain.txt", 1),),)),
    Claim("b", "Xylophones hum.", "REFUTES", ((SentenceRef("docs/snow.txt", 1),),)),
    Claim(3, "Rain is wet.", "NOT ENOUGH INFO"),
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "docs" / f"{name}.txt").write_text(text)
    write_claims(tmp_path / "claims.jsonl", CLAIMS)
    return tmp_path


def run(place: Path, *arguments: object) -> tuple[int, str, str]:
    return adjudge(*arguments, "--corpus", "docs", "--selector", "lexical", cwd=place)


def assembled(place: Path, *options: object) -> list[dict[str, Any]]:
    code, _, error = run(place, "assemble", "claims.jsonl", "--out", "out.jsonl", "--force", *options)
    assert code == 0, error
    return [json.loads(line) for line in (place / "out.jsonl").read_text().splitlines()]


def found(record: dict[str, Any]) -> list[tuple[str, int]]:
    return [(page, line) for page, line, _, _ in record["evidence"]]


def test_what_is_found_is_written_in_kgats_format_without_gold(place: Path) -> None:
    first, second, third = assembled(place)
    assert (first["id"], first["claim"], first["label"]) == (1, CLAIMS[0].text, "SUPPORTS")
    assert first["evidence"][0][:3] == ["docs/snow.txt", 0, "Snow melts at noon."]
    assert ("docs/rain.txt", 1) not in found(first)
    assert (second["id"], second["evidence"]) == ("b", [])
    assert found(third)[0] == ("docs/rain.txt", 0)
    assert not any("gold_injected" in record for record in (first, second, third))


def test_for_training_gold_comes_first_and_every_record_says_so(place: Path) -> None:
    first, second, third = assembled(place, "--training")
    assert first["evidence"][0] == ["docs/rain.txt", 1, "Nobody knows why it stops.", 1.0]
    assert found(first)[1] == ("docs/snow.txt", 0)
    assert found(second) == [("docs/snow.txt", 1)]
    assert all(record["gold_injected"] is True for record in (first, second, third))


def test_injected_gold_pages_are_offered_and_every_record_says_so(place: Path) -> None:
    first, second, third = assembled(place, "--inject-gold")
    assert ("docs/rain.txt", 1) in found(first)
    assert found(first)[0] == ("docs/snow.txt", 0)  # offered, not put first
    assert all(record["gold_injected"] is True for record in (first, second, third))


def test_the_summary_says_what_was_done(place: Path) -> None:
    code, out, error = run(place, "assemble", "claims.jsonl", "--out", "a.jsonl")
    assert (code, out) == (0, "")
    assert "a.jsonl: 3 claims, 1 of them without evidence; no gold." in error
    summary = json.loads(
        run(place, "assemble", "claims.jsonl", "--out", "b.jsonl", "--training", "--limit", 2, "--json")[1]
    )
    assert summary == {"claims": 2, "without_evidence": 0, "gold_injected": True}


def test_what_cannot_be_is_refused_before_anything_is_written(place: Path) -> None:
    def refused(*options: object) -> str:
        code, _, error = run(place, "assemble", "claims.jsonl", *options)
        assert code == 2
        return " ".join(error.split())

    assert "--out FILE" in refused()
    assert "leave out one" in refused("--out", "x.jsonl", "--training", "--inject-gold")
    assert "--force" in refused("--out", "claims.jsonl")
    assert not (place / "x.jsonl").exists()


def test_verdicts_and_scores_made_from_injected_gold_say_so(place: Path, untrained_run: Path) -> None:
    assembled(place, "--inject-gold")
    assert adjudge("predict", untrained_run, "out.jsonl", "--out", "v.jsonl", cwd=place).returncode == 0
    assert all(json.loads(line)["gold_injected"] for line in (place / "v.jsonl").read_text().splitlines())
    assert json.loads(adjudge("score", "v.jsonl", "claims.jsonl", "--json", cwd=place).stdout)[
        "gold_injected"
    ]
    assert "Gold helped to find the evidence" in adjudge("score", "v.jsonl", "claims.jsonl", cwd=place).stdout
    assembled(place)
    adjudge("predict", untrained_run, "out.jsonl", "--out", "w.jsonl", cwd=place)
    honest = json.loads(adjudge("score", "w.jsonl", "claims.jsonl", "--json", cwd=place).stdout)
    assert honest["gold_injected"] is False


def test_verify_injects_gold_only_when_told_and_never_into_a_submission(
    place: Path, untrained_run: Path
) -> None:
    command = ("verify", "--model", untrained_run, "--claims", "claims.jsonl", "--out")
    assert run(place, *command, "plain.jsonl")[0] == 0
    code, _, error = run(place, *command, "gold.jsonl", "--inject-gold")
    assert code == 0 and "--inject-gold" in error
    plain, gold = (
        [json.loads(line) for line in (place / name).read_text().splitlines()]
        for name in ("plain.jsonl", "gold.jsonl")
    )
    assert [record.get("gold_injected") for record in (*plain, *gold)] == [None] * 3 + [True] * 3
    places = [{(e["page"], e["line"]) for e in verdicts[0]["evidence"]} for verdicts in (plain, gold)]
    assert [("docs/rain.txt", 1) in found for found in places] == [False, True]
    code, _, error = run(place, *command, "s.jsonl", "--inject-gold", "--submission", "sub.jsonl")
    assert code == 2 and "submission cannot say" in " ".join(error.split())
    assert run(place, "verify", "A claim.", "--model", untrained_run, "--inject-gold")[0] == 2


def test_retrieval_figures_say_when_gold_was_injected(place: Path) -> None:
    command = ("search", "--evaluate", "claims.jsonl")
    plain = json.loads(run(place, *command, "--json")[1])
    gold = json.loads(run(place, *command, "--json", "--inject-gold")[1])
    assert (plain["gold_injected"], gold["gold_injected"]) == (False, True)
    assert plain["overall"]["group_recall"]["5"] < gold["overall"]["group_recall"]["5"]
    assert "--inject-gold" in run(place, *command, "--inject-gold")[1]
    assert "--inject-gold" not in run(place, *command)[1]
    assert run(place, "search", "Snow", "--inject-gold")[0] == 2
