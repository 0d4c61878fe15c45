"""A mix: shares, groups side by side, nothing held out that is trained on."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from adjudge.data.formats import read_examples
from adjudge.errors import ConfigError, DataError
from adjudge.training.mix import MixSettings, draw_mix, read_mix
from adjudge.training.mix.sources import group_examples
from adjudge.training.mix.views import select_telling
from adjudge.types import Evidence, Example

LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")


def write_pairs(path: Path, records: list[dict[str, Any]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two files: claims with two sentences that give them two labels, and single pairs."""
    twins = []
    for n in range(120):
        for k, label in enumerate(LABELS[:2]):
            evidence = f"Harbour number{n} holds {100 + n + k} painted boats ."
            record = {"id": f"{n}-{k}", "claim": f"Harbour number{n} holds {100 + n} boats.", "label": label}
            twins.append({**record, "evidence": [evidence], "title": f"Harbour {n}"})
    write_pairs(tmp_path / "twins.jsonl.gz", twins)
    single = []
    for n in range(90):
        town = chr(97 + n // 10) + chr(107 + n % 10)
        evidence = f"{town}anna sang {town}olian at {town}ville and {town}enders."
        single.append(
            {"id": n, "claim": f"{town}anna sings.", "label": LABELS[n % 3], "evidence": [evidence]}
        )
    write_pairs(tmp_path / "single.jsonl.gz", single)
    return tmp_path


def settings(*sources: dict[str, Any], examples: int = 200, seed: int = 0) -> MixSettings:
    plain = {"near_miss": 0, "distractors": 0, "titles": 1}
    return MixSettings.model_validate(
        {"examples": examples, "seed": seed, "source": [{**plain, **source} for source in sources]}
    )


TWINS = {"name": "twins", "paths": ["twins.jsonl.gz"], "share": 3, "held_out": 0.1}
SINGLE = {"name": "single", "paths": ["single.jsonl.gz"], "share": 1, "held_out": 0.1}


def of(examples: list[Example], name: str) -> list[Example]:
    return [example for example in examples if str(example.id).startswith(f"{name}:")]


def test_sources_come_by_their_shares_and_small_ones_more_than_once(data: Path) -> None:
    train = draw_mix(settings(TWINS, SINGLE, examples=800), [data]).train
    assert len(of(train, "twins")) == pytest.approx(600, abs=2)
    assert len(of(train, "single")) == pytest.approx(200, abs=2)  # of 90 pairs
    assert len({example.id for example in train}) == len(train)


def test_examples_that_share_a_claim_stand_side_by_side(data: Path) -> None:
    train = draw_mix(settings(TWINS, SINGLE), [data]).train
    claims = [example.claim for example in train]
    for claim, count in Counter(example.claim for example in of(train, "twins")).items():
        assert count == 2
        assert claims[claims.index(claim) + 1] == claim


def test_nothing_of_a_held_out_group_is_trained_on(data: Path) -> None:
    mix = draw_mix(settings(TWINS, SINGLE, examples=1000), [data])
    for what in (lambda e: e.claim, lambda e: e.evidence[0].text, lambda e: e.evidence[0].page):
        trained = {what(example) for example in of(mix.train, "twins")}
        assert not trained & {what(example) for example in of(mix.held_out, "twins")}
    assert of(mix.held_out, "twins") and of(mix.held_out, "single")


def test_a_source_for_the_beginning_is_over_by_then(data: Path) -> None:
    train = draw_mix(settings(TWINS, {**SINGLE, "until": 0.25}, examples=400), [data]).train
    last = max(n for n, example in enumerate(train) if str(example.id).startswith("single:"))
    assert last < len(train) * 0.5


def test_the_same_seed_gives_the_same_mix_and_another_another(data: Path) -> None:
    assert draw_mix(settings(TWINS, SINGLE), [data]) == draw_mix(settings(TWINS, SINGLE), [data])
    assert (
        draw_mix(settings(TWINS, SINGLE), [data]).train
        != draw_mix(settings(TWINS, SINGLE, seed=1), [data]).train
    )


def test_a_source_is_read_from_the_first_folder_that_has_it(data: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    (second / "written").mkdir(parents=True)
    (second / "written" / "own.txt").write_text("E: The gate is shut.\nR: The gate is open.\n", "utf-8")
    written = {
        "name": "own",
        "kind": "written",
        "paths": ["written"],
        "share": 1,
        "held_out": 0,
        "near_miss": 0,
    }
    train = draw_mix(settings(SINGLE, written, examples=20), [data, second]).train
    assert {(e.claim, e.label) for e in of(train, "own")} == {("The gate is open.", "REFUTES")}
    assert of(train, "single")
    with pytest.raises(DataError, match="written: in none of the data folders"):
        draw_mix(settings(written), [data])


def test_near_misses_are_not_enough_and_show_nothing_of_their_own_evidence(data: Path) -> None:
    train = draw_mix(settings({**SINGLE, "near_miss": 1}, {**TWINS, "share": 0.01}), [data]).train
    plain = {example.claim: example.evidence for example in read_pairs_of(data)}
    for example in of(train, "single"):
        if example.evidence != plain[example.claim]:
            assert example.label == "NOT ENOUGH INFO"


def read_pairs_of(data: Path) -> list[Example]:
    return list(read_examples(data / "single.jsonl.gz"))


def test_distractors_leave_the_label_and_the_evidence(data: Path) -> None:
    train = of(draw_mix(settings({**SINGLE, "distractors": 1}), [data]).train, "single")
    plain = {example.claim: example for example in read_pairs_of(data)}
    assert any(len(example.evidence) > 1 for example in train)
    for example in train:
        assert plain[example.claim].evidence[0] in example.evidence
        assert example.label == plain[example.claim].label


def test_titles_become_names_of_files_and_stay_those_of_their_examples(data: Path) -> None:
    train = draw_mix(settings({**TWINS, "file_names": 1}), [data]).train
    titles = [example.evidence[0].title for example in train]
    assert all(titles) and not {f"Harbour {n}" for n in range(120)} & set(titles)
    by_claim: dict[str, set[str]] = {}
    for example in train[:100]:  # no claim comes twice in so few
        by_claim.setdefault(example.claim, set()).add(example.evidence[0].title)
    assert {len(shown) for shown in by_claim.values()} == {1}


def test_titles_are_dropped_where_none_are_wanted(data: Path) -> None:
    train = draw_mix(settings({**TWINS, "titles": 0}), [data]).train
    assert not any(sentence.page or sentence.title for example in train for sentence in example.evidence)


def test_pairs_whose_evidence_gives_the_verdict_away_are_left_out(data: Path) -> None:
    train = draw_mix(settings({**SINGLE, "without": "akanna"}), [data]).train
    assert train and not any("akanna" in sentence.text for e in train for sentence in e.evidence)


def test_of_many_sentences_those_that_share_words_with_the_claim_stay() -> None:
    rows = ("The colour is green .", "The length is 42 metres .", "The maker is Holm .")
    example = Example(1, "Its length is below 50 metres.", tuple(map(Evidence, rows)), "SUPPORTS")
    assert [sentence.text for sentence in select_telling(example, 1)] == [rows[1]]


def test_groups_are_joined_through_claims_and_through_sentences() -> None:
    def pair(claim: str, sentence: str) -> Example:
        return Example(f"{claim}{sentence}", claim, (Evidence(sentence),), "SUPPORTS")

    chain = [pair("a", "x"), pair("b", "y"), pair("a", "z"), pair("c", "z")]
    assert sorted(map(len, group_examples(chain))) == [1, 3]


def test_material_made_by_rule_needs_no_file(tmp_path: Path) -> None:
    rules = {"name": "documents", "kind": "documents", "share": 1}
    train = draw_mix(settings(rules, examples=90), [tmp_path]).train
    assert Counter(example.label for example in train) == dict.fromkeys(LABELS, 30)


def test_the_mix_of_the_package_is_valid_and_can_be_changed() -> None:
    mix = read_mix("judges", examples=10, seed=9)
    assert (mix.examples, mix.seed) == (10, 9)
    assert sum(source.share for source in mix.source) == pytest.approx(1, abs=0.05)


def test_a_source_can_be_left_out(data: Path) -> None:
    both = settings(TWINS, SINGLE)
    assert not of(draw_mix(both.leaving_out({"single"}), [data]).train, "single")
    with pytest.raises(ConfigError, match="Sources nonsense are not in the mix, which has twins, single"):
        both.leaving_out({"nonsense"})
    with pytest.raises(ConfigError, match="empty"):
        both.leaving_out({"twins", "single"})


def test_errors_say_what_is_wrong(tmp_path: Path, data: Path) -> None:
    with pytest.raises(ConfigError, match="neither a file nor one of judges"):
        read_mix("nonsense")
    (tmp_path / "bad.toml").write_text("examples = 0\nsource = []\n")
    with pytest.raises(ConfigError, match="examples is 0"):
        read_mix(str(tmp_path / "bad.toml"))
    with pytest.raises(ConfigError, match="training claims and its pages"):
        draw_mix(settings({**SINGLE, "kind": "fever"}), [data])
    write_pairs(tmp_path / "odd.jsonl.gz", [{"id": 1, "claim": "x", "label": "SUPPORTS"}])
    with pytest.raises(DataError, match="odd.jsonl.gz"):
        draw_mix(settings({**SINGLE, "paths": ["odd.jsonl.gz"]}), [tmp_path])
