"""The checks that are kept."""

from __future__ import annotations

from adjudge.serving.check.records import Check
from adjudge.serving.page.store import MOST_CHARACTERS, MOST_CHECKS, CheckStore, PageCheck, key_of


def result(text: str) -> PageCheck:
    return PageCheck(Check(text, ()), ())


def test_the_least_recently_used_goes_first() -> None:
    store = CheckStore()
    for number in range(MOST_CHECKS):
        store.put(str(number), result("x"))
    assert store.get("0") is not None
    store.put("new", result("x"))
    assert store.get("1") is None and store.get("0") is not None and store.get("new") is not None


def test_long_texts_push_others_out() -> None:
    store = CheckStore()
    store.put("a", result("x"))
    store.put("b", result("x" * MOST_CHARACTERS))
    assert store.get("a") is None and store.get("b") is not None


def test_a_key_tells_texts_corpora_and_their_states_apart() -> None:
    keys = {
        key_of("t", "c", "1"),
        key_of("t", "c", "2"),
        key_of("t", "d", "1"),
        key_of("u", "c", "1"),
        key_of("1\0t", "c", ""),
    }
    assert len(keys) == 5
