from __future__ import annotations

from collections.abc import Sequence

import pytest

from adjudge.errors import ConfigError
from adjudge.retrieval.selectors import LexicalSelector
from adjudge.retrieval.whole_pages import MOST_WORDS, WholePages
from adjudge.types import Evidence

PAGES = {
    "A": [Evidence("a zero", "A", 0), Evidence("a one", "A", 1), Evidence(" ", "A", 2)],
    "B": [Evidence("b zero", "B", 0), Evidence("b one", "B", 1)],
    "Long": [Evidence("word " * (MOST_WORDS + 1), "Long", 0)],
}
FOUND = [Evidence("b one", "B", 1, score=3.0), Evidence("a zero", "A", 0, score=2.0), Evidence("no page")]


def widened(pages: int, candidates: Sequence[Evidence] = FOUND) -> list[tuple[str, int]]:
    selector = WholePages(LexicalSelector(), lambda page: PAGES.get(page, []), pages)
    return [(s.page, s.line) for s in selector.select("claim", candidates, 99)]


def test_the_first_pages_are_read_whole():
    assert widened(1) == [("B", 1), ("A", 0), ("", -1), ("B", 0)]
    assert widened(2) == [("B", 1), ("A", 0), ("", -1), ("B", 0), ("A", 1)]  # a line without text is none


def test_a_very_long_page_is_offered_as_it_was_found():
    found = [Evidence("a part of it", "Long", 7)]
    assert widened(1, found) == [("Long", 7)]


def test_no_page_is_refused():
    with pytest.raises(ConfigError, match="whole pages = 0"):
        widened(0)
