from __future__ import annotations

import pytest

from adjudge.errors import ConfigError
from adjudge.experiments.report.changes import find_changes, pick_pair
from adjudge.experiments.report.content import Content


def test_the_baseline_and_the_best_other_arm_are_compared(content: Content) -> None:
    pair = pick_pair(content.summary)
    assert pair is not None
    assert [row.arm.name for row in pair] == ["CE", "SR"]


def test_arms_are_found_by_the_names_of_the_tables(content: Content) -> None:
    pair = pick_pair(content.summary, ("sr + Weighting", "my_back$bone<b>: CE"))
    assert pair is not None
    assert [row.arm.name for row in pair] == ["SR + weighting", "CE"]


def test_an_unknown_arm_is_refused_with_the_known_ones(content: Content) -> None:
    with pytest.raises(ConfigError, match=r"--between 'MLL'.*CE, SR, SR \+ weighting"):
        pick_pair(content.summary, ("CE", "MLL"))


def test_changes_are_counted_and_flips_come_first(content: Content) -> None:
    found = content.changes
    assert found is not None and len(found.all) == 7
    # CE errs on 5–11, SR nowhere. Of these gold is N for 5, 8 and 11, where CE says S; the others flip.
    assert [found.count(kind) for kind in ("fixed", "regressed", "flipped")] == [7, 0, 4]
    assert [change.truth.id for change in found.all] == [6, 7, 9, 10, 5, 8, 11]
    assert [change.flipped for change in found.all] == [True] * 4 + [False] * 3


def test_the_other_way_round_the_same_claims_have_regressed(content: Content) -> None:
    assert content.changes is not None
    found = find_changes(content.summary, content.changes.second, content.changes.first)
    assert [found.count(kind) for kind in ("fixed", "regressed")] == [0, 7]


def test_sentences_carry_both_weights_and_where_they_are_from(content: Content) -> None:
    assert content.changes is not None
    gold, other = content.changes.all[0].sentences
    assert (gold.note, gold.tag) == ("Page 6, line 6 · 0.75 → 0.40", "gold")
    assert (other.note, other.tag) == ("Other (page), line 0 · 0.25 → 0.60", "")
