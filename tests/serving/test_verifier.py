"""From a claim to a verdict. The model here is random: what it says is checked for form, not for sense."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge import Verifier
from adjudge.errors import AdjudgeError, ConfigError, DataError
from adjudge.judges.folder import load_model, save_model
from adjudge.retrieval import build_index
from adjudge.types import Claim, Evidence, Example, SentenceRef

CLAIM = "The Rhine flows through Cologne."


def lexical(run: Path, **options: object) -> Verifier:
    return Verifier.load(run, selector="lexical", **options)


def test_a_verdict_shows_its_evidence_with_weight_and_place(run: Path, rivers: Path) -> None:
    verdict = lexical(run).verify(CLAIM, corpus=rivers)
    assert (verdict.claim, verdict.reason) == (CLAIM, None)
    assert verdict.label == max(verdict.probabilities, key=lambda label: verdict.probabilities[label])
    assert sum(verdict.probabilities.values()) == pytest.approx(1)
    assert sum(sentence.weight for sentence in verdict.evidence) == pytest.approx(1)
    [first, second] = verdict.evidence
    assert (first.text, first.page, first.line) == (CLAIM, "rivers/rivers.txt", 1)
    assert first.source == str(rivers / "rivers.txt")
    assert (rivers / "rivers.txt").read_text()[first.start : first.end] == CLAIM
    assert second.text == "The Elbe flows through Dresden."


def test_the_verdict_is_that_of_the_model_on_the_sentences_found(run: Path, rivers: Path) -> None:
    verifier = lexical(run, corpus=rivers)
    verdict = verifier.verify(CLAIM)
    alone = verifier.classify(CLAIM, verdict.evidence)
    assert verdict.probabilities == pytest.approx(alone.probabilities)
    assert verdict.evidence == alone.evidence


def test_many_claims_are_answered_in_order_with_their_ids(run: Path, rivers: Path) -> None:
    texts = [f"{'Cologne' if n % 3 else 'Atlantis'} is number {n}." for n in range(70)]
    claims = [Claim(f"c{n}", text) for n, text in enumerate(texts)]
    verifier = lexical(run, corpus=rivers)
    verdicts = list(verifier.verify_many(claims))
    assert [(verdict.id, verdict.claim) for verdict in verdicts] == [(c.id, c.text) for c in claims]
    assert [bool(verdict.evidence) for verdict in verdicts] == [n % 3 != 0 for n in range(70)]
    for verdict in (verdicts[0], verdicts[1], verdicts[68]):
        one = verifier.verify(verdict.claim)
        assert one.probabilities == pytest.approx(verdict.probabilities, abs=1e-5)
    assert [verdict.id for verdict in verifier.verify_many(["Cologne.", "Dresden."])] == [0, 1]


def test_gold_that_a_claim_carries_is_not_looked_at(run: Path, rivers: Path) -> None:
    gold = ((SentenceRef("rivers/rivers.txt", 0),),)
    [verdict] = lexical(run).verify_many([Claim(1, "Atlantis sank.", "REFUTES", gold)], rivers)
    assert (verdict.evidence, verdict.gold_injected) == ((), False)


def test_gold_can_be_looked_up_only_in_an_index(run: Path) -> None:
    class Nothing:
        def retrieve(self, claim: str, k: int) -> list[Evidence]:
            return []

    with pytest.raises(ConfigError, match="in an index, not in a Nothing"):
        lexical(run).verify_many([Claim(1, "Atlantis sank.")], Nothing(), inject_gold=True)


def test_nothing_found_is_an_empty_answer_that_says_why(run: Path, rivers: Path, tmp_path: Path) -> None:
    verifier = lexical(run)
    verdict = verifier.verify("Xylophones hum.", corpus=rivers)
    assert (verdict.label, verdict.confidence, verdict.evidence) == (None, 0.0, ())
    assert verdict.reason == "nothing in the corpus matches the claim"
    (tmp_path / "empty").mkdir()
    assert verifier.verify(CLAIM, corpus=tmp_path / "empty").reason == "the corpus is empty"


@pytest.mark.parametrize("claim", ["¿Дрезден? 東京 🙂", "\0 [SEP]", "." * 3000, "Cologne " * 1000])
def test_any_text_is_a_claim(run: Path, rivers: Path, claim: str) -> None:
    verdict = lexical(run).verify(claim, corpus=rivers)
    assert verdict.claim == claim
    assert verdict.label in verdict.probabilities or verdict.answer == "NO EVIDENCE FOUND"


def test_fewer_sentences_can_be_asked_for(run: Path, rivers: Path) -> None:
    [sentence] = lexical(run, corpus=rivers, k=1).verify(CLAIM).evidence
    assert (sentence.text, sentence.weight) == (CLAIM, pytest.approx(1))


def test_a_corpus_is_opened_once(run: Path, rivers: Path, tmp_path: Path) -> None:
    build_index([rivers], tmp_path / "index")
    verifier = lexical(run)
    assert verifier.retriever(tmp_path / "index") is verifier.retriever(str(tmp_path / "index"))


class OneSentence:
    """Somebody's own search engine."""

    def retrieve(self, claim: str, k: int) -> list[Evidence]:
        return [Evidence("Cologne lies on the Rhine.", "Cologne", 3)] if "Rhine" in claim else []


def test_any_retriever_is_a_corpus(run: Path) -> None:
    verifier = lexical(run, corpus=OneSentence())
    assert [sentence.ref for sentence in verifier.verify(CLAIM).evidence] == [("Cologne", 3)]
    assert verifier.verify("Atlantis sank.").reason == "nothing in the corpus matches the claim"


def test_a_verdict_below_the_confidence_asked_for_is_an_abstention(run: Path, rivers: Path) -> None:
    verdict = lexical(run).verify(CLAIM, corpus=rivers)
    assert not verdict.abstained and verdict.answer == verdict.label
    just, over = verdict.confidence, verdict.confidence + 1e-6
    assert lexical(run, min_confidence=just).verify(CLAIM, corpus=rivers) == verdict
    weak = lexical(run, min_confidence=over).verify(CLAIM, corpus=rivers)
    assert weak == replace(verdict, abstained=True)
    assert (weak.label, weak.answer) == (verdict.label, "ABSTAINED")
    nothing = lexical(run, min_confidence=1.0).verify("Atlantis sank.", corpus=rivers)
    assert nothing.answer == "NO EVIDENCE FOUND" and not nothing.abstained


def test_a_temperature_softens_the_probabilities_and_keeps_the_label(run: Path) -> None:
    model = load_model(run)
    plain = Verifier(judge=model).classify(CLAIM, ["It does."])
    soft = Verifier(judge=replace(model, temperature=2.0)).classify(CLAIM, ["It does."])
    roots = {label: math.sqrt(p) for label, p in plain.probabilities.items()}  # p^(1/T), renormalised
    expected = {label: root / sum(roots.values()) for label, root in roots.items()}
    assert soft.probabilities == pytest.approx(expected, abs=1e-6) and soft.label == plain.label


def test_an_exported_model_answers_as_the_run_it_came_from(run: Path, tmp_path: Path) -> None:
    save_model(replace(load_model(run), temperature=2.0), tmp_path / "model", as_difference=True)
    exported = Verifier.load(tmp_path / "model")
    assert exported.judge.identity["temperature"] == 2.0
    plain = Verifier(judge=replace(load_model(run), temperature=2.0))
    ours, theirs = (verifier.classify(CLAIM, ["It does."]) for verifier in (exported, plain))
    assert ours.probabilities == pytest.approx(theirs.probabilities, abs=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_confidence": 1.5}, "min_confidence is 1.5: input should be less than or equal to 1"),
        ({"k": 6}, "k = 6: this model reads at most 5 sentences"),
        ({"k": "many"}, "k is 'many'"),
        ({"candidates": 3}, "candidates: 3 is fewer than k = 5"),
        ({"corpus": "no-such"}, "no-such: no such index, folder or file"),
        ({"corpus": 7}, "int has neither retrieve_many nor retrieve"),
        ({"selector": "nonsense"}, "Selector 'nonsense' is not one of lexical, fusion"),
        ({"selector": 7}, "int has neither select_many nor select"),
        ({"device": "abacus"}, "device 'abacus' is not one of auto, cpu, cuda"),
        ({"precision": "double"}, "precision 'double' is not one of"),
        ({"colour": "red"}, "colour is not a setting"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_loaded(
    run: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(AdjudgeError, match=message):
        Verifier.load(run, **{"selector": "lexical", **options})


def test_a_model_is_a_name_a_folder_or_a_judge(run: Path) -> None:
    with pytest.raises(ConfigError, match="expected a name, a folder or a judge, found int"):
        Verifier.load(7)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="nowhere"):
        Verifier.load("nowhere")
    judge = Verifier.load(run).judge
    assert Verifier.load(judge).judge is judge


def test_what_is_wrong_with_a_claim_is_said(run: Path, rivers: Path) -> None:
    verifier = lexical(run)
    with pytest.raises(ConfigError, match="No corpus"):
        verifier.verify(CLAIM)
    for claim, message in (("  ", "claim is empty"), (None, "found NoneType"), (b"x", "found bytes")):
        with pytest.raises(ConfigError, match=message):
            verifier.verify(claim, corpus=rivers)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="Claim 7 is empty"):
        list(verifier.verify_many([Claim(7, " ")], rivers))
    for text in (
        lambda: verifier.verify("long " * 40_000, rivers),
        lambda: verifier.classify("long " * 40_000, ["a"]),
    ):
        with pytest.raises(DataError, match="The claim has 200,000 characters, expected .* at most 10,000"):
            text()
    with pytest.raises(DataError, match="Claim 3 has 20,000 characters"):
        list(verifier.verify_many([Claim(3, "a" * 20_000)], rivers))
    with pytest.raises(ConfigError, match="expected a list of claims, found NoneType"):
        verifier.verify_many(None, rivers)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="found a single one; use verify"):
        verifier.verify_many(CLAIM, rivers)
    with pytest.raises(ConfigError, match="claim 1: expected a text or a Claim, found int"):
        list(verifier.verify_many([CLAIM, 7], rivers))  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="claim 3: expected a text, found NoneType"):
        list(verifier.verify_many([Claim(3, None)], rivers))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ("It does.", "expected a list of sentences, found str"),
        (None, "expected a list of sentences, found NoneType"),
        (["It does.", None], "expected texts, found NoneType"),
        ([Evidence(None)], "evidence: text: expected a text, found NoneType"),  # type: ignore[arg-type]
        ([Evidence("It does.", page=3)], "evidence: page: expected a text, found int"),  # type: ignore[arg-type]
        (["It does."] * 6, "6 evidence sentences; this model reads at most 5"),
    ],
)
def test_evidence_that_is_not_a_list_of_sentences_is_refused(run: Path, evidence: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        lexical(run).classify(CLAIM, evidence)


def test_examples_and_documents_of_another_type_are_refused(run: Path) -> None:
    with pytest.raises(ConfigError, match="claim 1: expected a text, found NoneType"):
        list(lexical(run).classify_many([Example(1, None)]))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="examples: expected Example records, found str among them"):
        list(lexical(run).classify_many([CLAIM]))  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="against: expected texts or paths, found NoneType among them"):
        lexical(run).check(CLAIM, against=[None])  # type: ignore[list-item]
