"""From a claim to a verdict. The model here is random: what it says is checked for form, not for sense."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from adjudge import Verifier
from adjudge.errors import ConfigError, DataError
from adjudge.retrieval import build_index
from adjudge.training.checkpoint import load_model
from adjudge.training.shipped import save_shipped
from adjudge.types import Claim, Evidence, SentenceRef

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


def test_nothing_found_is_not_enough_info_and_says_why(run: Path, rivers: Path, tmp_path: Path) -> None:
    verifier = lexical(run)
    verdict = verifier.verify("Xylophones hum.", corpus=rivers)
    assert (verdict.label, verdict.confidence, verdict.evidence) == ("NOT ENOUGH INFO", 1.0, ())
    assert verdict.reason == "nothing in the corpus matches the claim"
    (tmp_path / "empty").mkdir()
    assert verifier.verify(CLAIM, corpus=tmp_path / "empty").reason == "the corpus is empty"


@pytest.mark.parametrize("claim", ["¿Дрезден? 東京 🙂", "\ud800 \0 [SEP]", "." * 3000, "Cologne " * 5000])
def test_any_text_is_a_claim(run: Path, rivers: Path, claim: str) -> None:
    verdict = lexical(run).verify(claim, corpus=rivers)
    assert verdict.claim == claim
    assert verdict.label in verdict.probabilities


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
    assert nothing.answer == "NOT ENOUGH INFO"  # known, not guessed


def test_a_temperature_softens_the_probabilities_and_keeps_the_label(run: Path) -> None:
    model = load_model(run)
    plain = Verifier(model).classify(CLAIM, ["It does."])
    soft = Verifier(model, temperature=2.0).classify(CLAIM, ["It does."])
    roots = {label: math.sqrt(p) for label, p in plain.probabilities.items()}  # p^(1/T), renormalised
    expected = {label: root / sum(roots.values()) for label, root in roots.items()}
    assert soft.probabilities == pytest.approx(expected, abs=1e-6) and soft.label == plain.label


def test_a_shipped_model_answers_as_the_run_it_came_from(run: Path, tmp_path: Path) -> None:
    save_shipped(load_model(run), tmp_path / "shipped", temperature=2.0)
    shipped = Verifier.load(tmp_path / "shipped")
    assert shipped.temperature == 2.0
    plain = Verifier(load_model(run), temperature=2.0)
    ours, theirs = (verifier.classify(CLAIM, ["It does."]) for verifier in (shipped, plain))
    assert ours.probabilities == pytest.approx(theirs.probabilities, abs=1e-3)


def test_what_is_wrong_is_said(run: Path, rivers: Path) -> None:
    with pytest.raises(ConfigError, match="min_confidence = 1.5: expected a probability"):
        lexical(run, min_confidence=1.5)
    with pytest.raises(ConfigError, match="No corpus"):
        lexical(run).verify(CLAIM)
    with pytest.raises(ConfigError, match="claim is empty"):
        lexical(run).verify("  ", corpus=rivers)
    with pytest.raises(DataError, match="Claim 7 is empty"):
        list(lexical(run).verify_many([Claim(7, " ")], rivers))
    with pytest.raises(ConfigError, match="k = 6"):
        lexical(run, k=6)
    with pytest.raises(ConfigError, match="candidates = 3"):
        lexical(run, candidates=3)
    with pytest.raises(ConfigError, match="nonsense"):
        Verifier.load(run, rivers, selector="nonsense").verify(CLAIM)
