"""What is drawn from a claim, and what label it then has."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from adjudge.config import AugmentSettings
from adjudge.data.kgat import TrainingClaim, read_pages, read_training_claims
from adjudge.training.augment import (
    ClaimPool,
    build_claim_pool,
    draw_examples,
    gold_and_retrieved_views,
    hold_out,
)
from adjudge.training.entities import leading_entity
from adjudge.types import Evidence, Example

OFF = {"retrieved": 0, "contrast": 0, "irrelevant": 0, "nothing": 0, "altered": 0, "title_dropout": 0}
PAGES = {
    0: (
        "Fargo is an American crime series .",
        "Fargo premiered on FX in April 2014 .",
        "The first season won three awards .",
        "Critics praised its dark humour .",
    )
}
FARGO = TrainingClaim(
    1,
    "Fargo premiered in 2014.",
    "SUPPORTS",
    gold=(Evidence(PAGES[0][1], score=1.0),),
    retrieved=(
        Evidence("Minneapolis is a city in Minnesota ."),
        Evidence(PAGES[0][1]),
        Evidence("Lodge 49 premiered in 2018 ."),
        Evidence("Fargo premiered on FX in April of 2014 ."),
    ),
    page=0,
)
RIVER = TrainingClaim(
    2, "The Elbe is cold.", "NOT ENOUGH INFO", (), tuple(Evidence(f"Elbe fact {n} .") for n in range(5))
)
DATA = build_claim_pool([FARGO, RIVER], PAGES)


def drawn(claim: TrainingClaim, data: ClaimPool = DATA, passes: int = 40, **settings: float) -> list[Example]:
    """Many draws of one claim under the settings given, all others off."""
    chosen = AugmentSettings(**{**OFF, **settings, "passes": passes})
    return [e for e in draw_examples(data, chosen, seed=3) if str(e.id).startswith(f"{claim.id}/")]


def texts(example: Example) -> set[str]:
    return {sentence.text for sentence in example.evidence}


def test_the_gold_view_shows_gold_among_others_in_any_order():
    examples = drawn(FARGO, passes=200)
    gold = FARGO.gold[0].text
    assert all(gold in texts(e) and e.label == "SUPPORTS" and e.claim == FARGO.text for e in examples)
    assert {len(e.evidence) for e in examples} == {1, 2, 3}
    assert {[s.text for s in e.evidence].index(gold) for e in examples} == {0, 1, 2}


def test_a_claim_without_gold_shows_what_was_retrieved():
    examples = drawn(RIVER)
    assert {e.label for e in examples} == {"NOT ENOUGH INFO"}
    assert {len(e.evidence) for e in examples} == {1, 2, 3}


def test_the_retrieved_view_needs_gold_or_as_much_among_what_it_shows():
    examples = drawn(FARGO, retrieved=1)
    two = {FARGO.retrieved[0].text, FARGO.retrieved[1].text}
    assert {frozenset(texts(e)) for e in examples} == {
        frozenset(two),
        frozenset({*two, FARGO.retrieved[2].text}),
    }
    _, _, other, same = FARGO.retrieved
    less = Evidence("Fargo was renewed by FX .")
    for retrieved, shows_gold in (((other, less), True), ((other, same), False)):
        missed = build_claim_pool([replace(FARGO, retrieved=retrieved)], PAGES)
        examples = drawn(FARGO, missed, retrieved=1)
        assert {FARGO.gold[0].text in texts(e) for e in examples} == {shows_gold}
        assert {e.label for e in examples} == {"SUPPORTS"}
    nameless = replace(FARGO, text="'s .", retrieved=(other, same))
    assert all(
        FARGO.gold[0].text in texts(e)
        for e in drawn(nameless, build_claim_pool([nameless], PAGES), retrieved=1)
    )


def test_contrast_shows_near_misses_and_says_not_enough_info():
    examples = drawn(FARGO, contrast=1)
    shown = set().union(*map(texts, examples))
    assert {e.label for e in examples} == {"NOT ENOUGH INFO"}
    assert {PAGES[0][0], PAGES[0][2], PAGES[0][3]} <= shown
    assert FARGO.gold[0].text not in shown  # gold itself
    assert FARGO.retrieved[3].text not in shown  # gold in other words


def test_a_claim_told_many_times_over_makes_no_contrast():
    told = replace(FARGO, gold=FARGO.gold * 4)
    assert {e.label for e in drawn(told, build_claim_pool([told], PAGES), contrast=1)} == {"SUPPORTS"}


def test_without_evidence_nothing_is_known():
    for claim in (FARGO, RIVER):
        assert {(e.evidence, e.label) for e in drawn(claim, nothing=1)} == {((), "NOT ENOUGH INFO")}


def test_irrelevant_sentences_share_no_word_with_the_claim():
    examples = drawn(FARGO, irrelevant=1)
    foreign = [e for e in examples if e.label == "NOT ENOUGH INFO"]
    assert foreign and all(
        texts(e) <= texts(Example(0, "", RIVER.retrieved)) for e in foreign if "Elbe" in str(e)
    )
    assert not any(PAGES[0][1] in texts(e) for e in foreign)


def test_a_fact_altered_on_one_side_refutes_and_on_both_still_supports():
    kinds = Counter()
    for example in drawn(FARGO, altered=1):
        claim_kept = example.claim == FARGO.text
        gold_kept = FARGO.gold[0].text in texts(example)
        assert claim_kept or (example.claim.startswith("Fargo premiered in ") and "2014" not in example.claim)
        assert example.label == ("REFUTES" if claim_kept != gold_kept else "SUPPORTS")
        kinds[claim_kept, gold_kept] += 1
    assert kinds.keys() == {(True, False), (False, True), (False, False)}
    assert min(kinds.values()) > 3
    for other in (RIVER, replace(FARGO, label="REFUTES"), replace(FARGO, text="Fargo premiered on FX.")):
        labels = {e.label for e in drawn(other, build_claim_pool([other], PAGES), altered=1)}
        assert labels == {other.label}  # nothing to alter


def test_titles_are_read_off_the_pages_and_dropped_at_random():
    gold = FARGO.gold[0].text
    for share, expected in ((0.0, {"Fargo"}), (1.0, {""}), (0.5, {"Fargo", ""})):
        examples = drawn(FARGO, title_dropout=share)
        assert {s.title for e in examples for s in e.evidence if s.text == gold} == expected


def test_a_draw_hangs_on_seed_pass_and_claim_alone():
    usual = list(draw_examples(DATA, AugmentSettings(passes=3), 1))
    assert usual == list(draw_examples(DATA, AugmentSettings(passes=3), 1))
    assert usual != list(draw_examples(DATA, AugmentSettings(passes=3), 2))
    assert [e for e in usual if str(e.id).endswith("/0")] == list(draw_examples(DATA, AugmentSettings(), 1))
    alone = draw_examples(build_claim_pool([RIVER], PAGES), AugmentSettings(passes=3, irrelevant=0), 1)
    among = draw_examples(DATA, AugmentSettings(passes=3, irrelevant=0), 1)
    assert list(alone) == [e for e in among if str(e.id).startswith("2/")]
    assert len({e.id for e in usual}) == len(usual) == 6


def test_claims_of_a_made_up_world_join_every_pass():
    usual, more = (
        list(draw_examples(DATA, AugmentSettings(passes=2, invented=count), seed=1)) for count in (0, 30)
    )
    invented = [e for e in more if str(e.id).startswith("invented-")]
    assert [e for e in more if e not in invented] == usual
    assert len({e.id for e in invented}) == len({e.claim for e in invented}) == 60
    assert Counter(e.label for e in invented) == {"SUPPORTS": 20, "REFUTES": 20, "NOT ENOUGH INFO": 20}
    assert {len(e.evidence) for e in invented} == {1, 2, 3}


def test_a_held_out_claim_is_seen_with_gold_and_as_retrieved():
    gold, retrieved, river, again = gold_and_retrieved_views(DATA, sentences=3)
    assert [s.text for s in gold.evidence] == [FARGO.gold[0].text]
    assert [s.text for s in retrieved.evidence] == [s.text for s in FARGO.retrieved[:3]]
    assert river.evidence == again.evidence and len(river.evidence) == 3
    assert (gold.id, retrieved.id, gold.label) == ("1/gold", "1/retrieved", "SUPPORTS")


def test_held_out_claims_share_no_entity_and_no_page_with_the_others():
    claims = [
        TrainingClaim(f"{name} {page}", f"{name} claim {page}.", "SUPPORTS", page=page)
        for page, name in enumerate([chr(65 + n) + "x" for n in range(26)] * 2)
    ]
    claims += [replace(claim, text=f"Other {claim.text}", id=f"o{claim.id}") for claim in claims]
    kept, held = hold_out(claims, 0.3)
    assert held and {c.page for c in kept}.isdisjoint(c.page for c in held)
    assert {leading_entity(c.text) for c in held}.isdisjoint(leading_entity(c.text) for c in kept)
    assert hold_out(claims, 0) == (claims, [])


def test_on_real_claims_the_views_have_about_their_shares(shared_data: Path):
    claims = list(read_training_claims(shared_data / "fever" / "train.jsonl.gz"))
    kept, held = hold_out(claims, 0.045)
    assert 1000 < len(held) < 2000 and len(kept) + len(held) > 0.95 * len(claims)
    pages = read_pages(shared_data / "fever" / "train_pages.jsonl.gz")
    labels = {f"{claim.id}/0": claim.label for claim in kept[:3000]}
    examples = list(draw_examples(build_claim_pool(kept[:3000], pages), AugmentSettings(), 0))
    turned = [e for e in examples if e.label != labels[str(e.id)]]
    assert 0.08 < len(turned) / len(examples) < 0.2
    titled = [bool(s.title) for e in examples for s in e.evidence]
    assert 0.2 < sum(titled) / len(titled) < 0.5
    assert sum(not e.evidence for e in examples) == pytest.approx(0.02 * 3000, abs=30)
