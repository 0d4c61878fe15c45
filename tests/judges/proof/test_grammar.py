from __future__ import annotations

import random

import pytest

from adjudge.judges.proof.grammar import ProofGrammar, source_text, spans_of, target_text
from adjudge.judges.proof.training import training_proofs
from adjudge.types import Evidence, Example

END = 0
CLAIM = "Savages was shot in Mexico"
SENTENCES = ["It was shot there .", "Mexico is large ."]


class Words:
    """A tokenizer of whole words."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def __call__(self, text: str) -> list[int]:
        return [self.ids.setdefault(word, len(self.ids) + 1) for word in text.split()]

    def text(self, ids: list[int]) -> str:
        words = {number: word for word, number in self.ids.items()}
        return " ".join(words[number] for number in ids)


@pytest.fixture
def words() -> Words:
    return Words()


@pytest.fixture
def grammar(words: Words) -> ProofGrammar:
    return ProofGrammar(CLAIM, SENTENCES, words, END)


def test_spans_are_of_at_most_seven_words_and_say_something():
    text = "one of the big red dogs in a very small town"
    spans = [text[slice(*span)] for span in spans_of(text)]
    assert "big red dogs" in spans and "of the" not in spans and "in a" not in spans
    assert "never" in ["He never ran"[slice(*span)] for span in spans_of("He never ran")]
    assert max(len(span.split()) for span in spans) == 7
    assert len(set(spans)) == len(spans)


def test_only_what_makes_a_proof_may_be_written(grammar: ProofGrammar, words: Words):
    written = words("{ Savages } [")
    assert grammar.allowed([]) == words("{")
    assert set(grammar.allowed(words("{"))) == set(words("Savages was shot in Mexico"))
    assert END not in grammar.allowed(written)
    evidence = {word for word in SENTENCES[0].split() + SENTENCES[1].split() if word.isalpha()} | {"nothing"}
    evidence -= {"there"}  # a common word that nothing follows
    assert set(words.text(grammar.allowed(written)).split()) == evidence
    written += words("shot ]")
    assert set(words.text(grammar.allowed(written)).split()) == {
        "EQUIVALENCE",
        "FORWARD",
        "REVERSE",
        "NEGATION",
        "ALTERNATION",
        "INDEPENDENCE",
    }
    written += words("EQUIVALENCE")
    assert set(grammar.allowed(written)) == {END, *words("{")}


def test_the_claim_is_read_left_to_right(grammar: ProofGrammar, words: Words):
    written = words("{ shot in } [ shot ] EQUIVALENCE {")
    assert set(words.text(grammar.allowed(written)).split()) == {"Mexico"}
    written = words("{ in Mexico } [ Mexico ] FORWARD")
    assert grammar.allowed(written) == [END]  # nothing of the claim is left


def test_what_was_written_is_read_back(grammar: ProofGrammar, words: Words):
    written = words("{ Savages } [ nothing ] INDEPENDENCE { in Mexico } [ Mexico is ] FORWARD")
    proof = grammar.read([*written, END])
    assert [(CLAIM[slice(*step.claim)], step.operator, step.sentence) for step in proof] == [
        ("Savages", "#", None),
        ("in Mexico", "⊑", 1),
    ]
    assert proof[1].evidence is not None and SENTENCES[1][slice(*proof[1].evidence)] == "Mexico is"
    assert grammar.read(written[:-1]) == proof[:1]  # a step that was cut off is left out
    assert grammar.read([]) == ()


def test_any_walk_under_the_grammar_is_a_proof(grammar: ProofGrammar):
    rng = random.Random(0)
    for _ in range(30):
        written: list[int] = []
        while len(written) < 200:
            token = rng.choice(grammar.allowed(written))
            if token == END:
                break
            written.append(token)
        proof = grammar.read(written)
        assert proof
        ends = [0, *(step.claim.end for step in proof)]
        assert all(step.claim.start >= end for step, end in zip(proof, ends, strict=False))


def test_training_texts_are_proofs_of_the_grammar():
    evidence = tuple(Evidence(text) for text in SENTENCES)
    for label in ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"):
        [proof] = training_proofs([Example(1, CLAIM, evidence, label)])
        words = Words()
        grammar = ProofGrammar(CLAIM, SENTENCES, words, END)
        written = words(target_text(proof))
        for position, token in enumerate(written):
            assert token in grammar.allowed(written[:position]), words.text(written[: position + 1])
        assert [step.operator for step in grammar.read(written)] == [op.value for op in proof.operators]
    assert source_text(CLAIM, SENTENCES) == (
        f"claim: {CLAIM} evidence 1: {SENTENCES[0]} evidence 2: {SENTENCES[1]}"
    )
