"""A model that reads only the beginning of a claim or a sentence says so, whatever its kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from adjudge import Verifier
from adjudge.data.verdicts import read_verdicts, verdict_record, write_verdicts
from adjudge.judges.folder import load_judge
from adjudge.judges.protocol import Judge
from adjudge.judges.verdicts import cut_in_text
from adjudge.types import Evidence, Example, Verdict
from classifiers import write_classifier
from command import adjudge
from seq2seq_tiny import write_seq2seq

SHORT, LONG = "The gate closes at ten.", "the gate closes at ten and opens at six " * 200
CLAIM = "Dogs may enter."


def answer(judge: Judge, claim: str, *evidence: str) -> Verdict:
    [verdict] = judge.judge([Example(1, claim, tuple(map(Evidence, evidence)))])
    return verdict


def cut(verdict: Verdict) -> tuple[bool, list[bool]]:
    return verdict.claim_cut, [sentence.cut for sentence in verdict.evidence]


@pytest.fixture(params=["rows", "light", "rows with facts", "hf", "hf-joined", "t5"])
def judge(request: pytest.FixtureRequest, tmp_path: Path) -> Judge:
    kind: str = request.param
    if kind == "light":
        return load_judge("small", runtime="light")
    if kind.startswith("hf"):
        return load_judge(f"{kind}:{write_classifier(tmp_path / 'model')}")
    if kind == "t5":
        return load_judge(f"t5:{write_seq2seq(tmp_path / 'model', 't5')}")
    from adjudge.judges.mixed import with_facts

    rows = load_judge(request.getfixturevalue("untrained_run"), runtime="torch")
    return with_facts(rows) if kind == "rows with facts" else rows


def test_what_fits_is_not_called_cut(judge: Judge) -> None:
    verdict = answer(judge, CLAIM, SHORT, "Dogs sleep.")
    assert cut(verdict) == (False, [False, False]) and not verdict.cut
    assert '"cut' not in repr(verdict_record(verdict))


def test_a_long_sentence_is_called_cut_and_the_one_before_it_is_not(judge: Judge) -> None:
    verdict = answer(judge, CLAIM, SHORT, LONG)
    assert cut(verdict) == (False, [False, True]) and verdict.cut
    record = verdict_record(verdict)
    assert ["cut" in sentence for sentence in record["evidence"]] == [False, True]
    assert record["evidence"][1]["cut"] is True and "claim_cut" not in record


def test_a_long_claim_is_called_cut(judge: Judge) -> None:
    verdict = answer(judge, LONG, "Ten.")
    assert verdict.claim_cut and verdict.cut and verdict_record(verdict)["claim_cut"] is True


def test_a_claim_without_evidence_can_be_cut_too(untrained_run: Path) -> None:
    rows = load_judge(untrained_run)
    assert (answer(rows, LONG).cut, answer(rows, CLAIM).cut) == (True, False)


def test_what_an_earlier_verdict_said_is_not_kept(untrained_run: Path) -> None:
    sentence = replace(Evidence(SHORT), cut=True)
    [verdict] = load_judge(untrained_run).judge([Example(1, CLAIM, (sentence,))])
    assert not verdict.cut


def test_of_a_text_the_sentences_after_its_end_are_cut() -> None:
    # "c", "c s", "c s s", "c s s s" with room for four characters: the first sentence alone is there whole.
    assert cut_in_text(lambda n: "c" + " s" * n, lambda text: len(text) <= 4, 3) == (False, {1, 2})


def test_it_is_kept_in_files_of_verdicts(untrained_run: Path, tmp_path: Path) -> None:
    verdict = Verifier.load(untrained_run, selector="lexical").classify(LONG, [LONG])
    write_verdicts(tmp_path / "verdicts.jsonl", [verdict])
    [again] = read_verdicts(tmp_path / "verdicts.jsonl")
    assert cut(again) == cut(verdict) == (True, [True])


def test_the_commands_say_so_on_standard_error(untrained_run: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "gate.txt").write_text(LONG.strip() + ".\n\n" + SHORT)
    claims = tmp_path / "claims.jsonl"
    claims.write_text('{"id": 1, "claim": "The gate closes at ten."}\n{"id": 2, "claim": "xylophone"}\n')
    rest = ("--corpus", tmp_path / "corpus", "--model", untrained_run, "--selector", "lexical")
    for command, of in (
        (("verify", "The gate closes at ten."), 1),
        (("verify", "The gate closes at ten.", "--json"), 1),
        (("verify", "--claims", claims, "--out", tmp_path / "out.jsonl"), 2),
    ):
        done = adjudge(*command, *rest)
        assert done.returncode == 0, done.stderr
        assert f"1 of {of} verdicts: the model read only the beginning" in " ".join(done.stderr.split())
