"""Sentences of a text that is checked, and what is not checked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.data.documents.markdown import plain_offsets, strip_marks
from adjudge.data.segments import reason_not_to_check, segment_text
from adjudge.types import Span

PAGE = """---
title: left out
---
# The Vel bridge

The **Vel bridge** was [opened](http://a.b/opened) in 1932. Is it old?

- It has *three* arches.
- Three arches

```python
print("code is left out.")
```

| arch | width |
|---|---|
| first | 20 m |
"""


def test_every_sentence_of_markdown_stands_where_it_says_and_headings_say_what_they_are():
    segments = list(segment_text(PAGE))
    assert [(segment.text, segment.reason) for segment in segments] == [
        ("The Vel bridge", "heading"),
        ("The Vel bridge was opened in 1932.", None),
        ("Is it old?", "question"),
        ("It has three arches.", None),
        ("Three arches", "list item without a statement"),
        ("first: width 20 m", "row of a table"),
    ]
    assert (
        PAGE[segments[1].start : segments[1].end]
        == "The **Vel bridge** was [opened](http://a.b/opened) in 1932."
    )


def test_a_word_of_a_sentence_is_found_in_the_text_as_given():
    segment = list(segment_text(PAGE))[1]
    start = segment.text.index("opened")
    span = segment.source_span(Span(start, start + len("opened")))
    assert PAGE[slice(*span)] == "opened"
    assert span.start == PAGE.index("[opened]") + 1


def test_a_sentence_may_end_with_a_link():
    text = "It connects [Harra](http://a.b). It is old."
    segments = list(segment_text(text))
    assert [segment.text for segment in segments] == ["It connects Harra.", "It is old."]
    assert [text[segment.start : segment.end] for segment in segments] == [
        "It connects [Harra](http://a.b).",
        "It is old.",
    ]


def test_plain_text_knows_no_markdown():
    (segment,) = segment_text("# 5 was **bold** here.", markdown=False)
    assert segment.text == "# 5 was **bold** here."


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The bridge was opened in 1932.", None),
        ("Members may borrow ten books.", None),
        ("He was born in Cologne.", None),
        ("Children under six travel free.", None),
        ("When was it opened?", "question"),
        ("Hello everybody, welcome to the town.", "greeting or small talk"),
        ("Let me know if you have questions.", "greeting or small talk"),
        ("I think the bridge is old.", "opinion"),
        ("The bridge is beautiful.", "opinion"),
        ("Please return the books.", "instruction"),
        ("See the map on page 4.", "instruction"),
        ("Three arches", "no statement"),
        ("12345 !!!", "no words"),
        ("Мост был открыт в 1932 году.", "not in Latin letters"),
        ("הגשר נפתח בשנת תשעים.", "not in Latin letters"),
        ("Der Fluss " + "und noch etwas " * 80, "longer than 1,000 characters"),
        ("Use of the bridge is free.", None),
        ("Visit numbers rose in 2020.", None),
        ("Run by volunteers, the cafe opens on Sundays.", None),
        ("Try-outs were held in May.", None),
        ("You should visit the castle in spring.", "instruction"),
        ("Why the bridge collapsed", "question"),
        ("https://example.org/page", "no statement"),
    ],
)
def test_what_states_nothing_is_not_checked(text, reason):
    assert reason_not_to_check(text) == reason


@given(st.text(alphabet="ab *_`[]()<>\\!#.\n1", max_size=80))
def test_inline_marks_are_removed_in_one_way(text):
    clean, offsets = plain_offsets(text)
    assert clean == strip_marks(text)
    assert len(offsets) == len(clean) and offsets == sorted(offsets)
    assert all(text[offset] == letter for offset, letter in zip(offsets, clean, strict=True))


@given(st.text(max_size=400))
def test_sentences_of_any_text_stand_in_order_within_it(text):
    end = 0
    for segment in segment_text(text):
        assert end <= segment.start <= segment.end <= len(text)
        if segment.reason is None:
            span = segment.source_span(Span(0, len(segment.text)))
            assert segment.start <= span.start <= span.end <= segment.end
        end = segment.start
