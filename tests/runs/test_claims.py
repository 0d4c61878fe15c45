from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.config import RunSettings, settings_from
from adjudge.errors import ConfigError, DataError
from adjudge.runs.claims import claims_of, claims_to_judge, single_sentences
from adjudge.runs.folder import run_id
from adjudge.training.entities import leading_entity
from adjudge.types import FEVER_LABELS, Evidence, Example, LabelSet

FILE = Path("claims.jsonl")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Forty claims about as many entities, each with a page of three sentences."""
    claims, pages = [], []
    for n in range(40):
        name = f"N{'aeiou'[n % 5]}{'bcdfghkl'[n // 5]}"
        sentences = [f"{name} is a town .", f"{name} was founded in {1800 + n} .", "It has a harbour ."]
        pages.append({"page": n, "sentences": sentences})
        evidence = [["", -1, sentences[1], 1.0], ["", -1, "Towns are founded .", 0.0]]
        claim = {"id": n, "claim": f"{name} was founded in {1800 + n}.", "label": "SUPPORTS", "page": n}
        claims.append(claim | {"evidence": evidence, "retrieved": [["", -1, s, 2.0] for s in sentences[:2]]})
    paths = {"train": tmp_path / "train.jsonl", "pages": tmp_path / "pages.jsonl"}
    for path, records in zip(paths.values(), (claims, pages), strict=True):
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return paths


def settings(files: dict[str, Path], **augment: object) -> RunSettings:
    return settings_from({"data": {**files, "holdout": 0.25}, "augment": augment})


def test_as_they_stand_claims_come_in_the_files_order(files: dict[str, Path]):
    train, dev = claims_of(settings_from({"data": {"train": files["train"], "limit": 3}}))
    assert [example.id for example in train] == [0, 1, 2] and dev is None


def test_drawn_examples_and_held_out_views_share_no_entity(files: dict[str, Path]):
    train, dev = claims_of(settings(files, passes=2))
    drawn, held = list(train), list(dev or ())
    assert len(drawn) % 2 == 0 and len(held) % 2 == 0 and len(drawn) + len(held) == 80 and held
    assert {leading_entity(e.claim) for e in drawn}.isdisjoint(leading_entity(e.claim) for e in held)
    assert {e.label for e in held} == {"SUPPORTS"}
    assert "NOT ENOUGH INFO" in {e.label for e in claims_of(settings(files, contrast=0.6))[0]}


def test_a_dev_file_chooses_where_one_is_given(files: dict[str, Path]):
    given = settings_from({"data": {**files, "holdout": 0.25, "dev": files["train"]}, "augment": {}})
    train, dev = claims_of(given)
    assert [example.id for example in dev or ()] == list(range(40))
    assert len(list(train)) < 40  # what is held out stays out


def test_every_augment_setting_changes_what_is_drawn_and_the_runs_name(files: dict[str, Path]):
    changes = {
        "passes": 2,
        "sentences": 1,
        "retrieved": 0.0,
        "contrast": 0.5,
        "irrelevant": 0.3,
        "nothing": 0.3,
        "altered": 0.4,
        "title_dropout": 0.0,
        "invented": 20,
    }
    base = settings(files)
    assert changes.keys() == type(base.augment).model_fields.keys()
    usual = list(claims_of(base)[0])
    for key, value in changes.items():
        changed = settings(files, **{key: value})
        assert list(claims_of(changed)[0]) != usual, key
        assert run_id(changed) != run_id(base), key


def test_without_claims_there_is_nothing_to_train_on():
    for values in ({}, {"augment": {}}):
        with pytest.raises(ConfigError, match="data.train is not set"):
            claims_of(settings_from(values))


def test_single_sentences_are_labelled_by_whether_they_are_gold():
    gold, other = Evidence("gold", score=1.0), Evidence("other", score=0.4)
    examples = [
        Example(1, "a", (gold, other), "REFUTES"),
        Example(2, "b", (other, other), "NOT ENOUGH INFO"),
        Example(3, "c", (other,), "SUPPORTS"),  # what decides it is not known
    ]
    made = [(e.id, e.evidence[0].text, e.label) for e in single_sentences(examples, FEVER_LABELS, FILE)]
    assert made == [
        ("1#0", "gold", "REFUTES"),
        ("1#1", "other", "NOT ENOUGH INFO"),
        ("2#0", "other", "NOT ENOUGH INFO"),
        ("2#1", "other", "NOT ENOUGH INFO"),
    ]
    with pytest.raises(ConfigError, match="none of the labels yes, no"):
        list(single_sentences(examples, LabelSet(("yes", "no")), FILE))


def test_a_retrievers_score_above_one_does_not_mark_a_single_sentence_as_gold():
    sentences = Evidence("gold", score=1.0), Evidence("retrieved", score=7.5)  # as BM25 scores
    made = single_sentences([Example(1, "a", sentences, "SUPPORTS")], FEVER_LABELS, FILE)
    assert [(e.evidence[0].text, e.label) for e in made] == [
        ("gold", "SUPPORTS"),
        ("retrieved", "NOT ENOUGH INFO"),
    ]


def test_single_sentences_of_claims_without_any_gold_are_refused_not_learned_as_nei_alone():
    examples = [
        Example(1, "a", (Evidence("e", score=0.9),), "SUPPORTS"),
        Example(2, "b", (Evidence("e"),), "REFUTES"),
        Example(3, "c", (Evidence("e"),), "NOT ENOUGH INFO"),
    ]
    with pytest.raises(
        DataError, match=r"claims\.jsonl: data\.single: none of 2 claims .* has a gold sentence"
    ):
        list(single_sentences(examples, FEVER_LABELS, FILE))
    assert len(list(single_sentences(examples[2:], FEVER_LABELS, FILE))) == 1


def test_a_selector_leaves_single_sentences_their_gold(files: dict[str, Path]):
    data = {"train": files["train"], "dev": files["train"], "dev_limit": 3, "single": True}
    plain, with_selector = (
        claims_of(settings_from({"data": {**data, "selector": selector}}))[1]
        for selector in (None, "lexical")
    )
    assert list(plain or ()) == list(with_selector or ())


def test_a_selector_orders_the_sentences_that_are_judged(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
):
    class Backwards:
        def select_many(
            self, claims: list[str], candidates: list[tuple[Evidence, ...]], k: int
        ) -> list[list[Evidence]]:
            return [list(reversed(sentences))[:k] for sentences in candidates]

    monkeypatch.setattr("adjudge.retrieval.selectors.load_selector", {"backwards": Backwards()}.__getitem__)
    shared = {"train": files["train"], "dev": files["train"], "test": files["train"], "dev_limit": 2}
    plain, ordered = (
        settings_from({"data": {**shared, "selector": selector}}) for selector in (None, "backwards")
    )
    for read in (lambda s: list(claims_of(s)[1] or ()), lambda s: list(claims_to_judge(s.data))):
        as_they_are, selected = read(plain), read(ordered)
        assert [e.evidence for e in selected] == [e.evidence[::-1] for e in as_they_are]
    # Training reads the file as it is: gold first, which a selector might drop.
    assert [e.evidence for e in claims_of(ordered)[0]] == [e.evidence for e in claims_of(plain)[0]]
    assert run_id(plain) != run_id(ordered)


def test_single_sentences_are_not_drawn(files: dict[str, Path]):
    with pytest.raises(ConfigError, match="do not go together"):
        claims_of(settings_from({"data": {"train": files["train"], "single": True}, "augment": {}}))


def test_a_run_trains_on_single_sentences_where_asked(files: dict[str, Path]):
    train, _ = claims_of(settings_from({"data": {"train": files["train"], "limit": 3, "single": True}}))
    assert [(e.id, len(e.evidence), e.label) for e in train][:2] == [
        ("0#0", 1, "SUPPORTS"),
        ("0#1", 1, "NOT ENOUGH INFO"),
    ]
