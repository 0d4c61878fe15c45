from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.data.formats import read_claims, read_examples
from adjudge.data.text import clean_text, page_id, page_title
from adjudge.data.wiki import read_pages

# The pieces that the rules look at, so that random texts hit their edges.
PIECES = st.lists(
    st.sampled_from(
        [
            "-LRB-",
            "-RRB-",
            "-RSB-",
            "-COLON-",
            "LRB",
            "RRB",
            "LSB",
            "RSB",
            "``",
            "''",
            "'",
            "`",
            '"',
            "--",
            "-",
        ]
        + [
            "'s",
            "n't",
            "'ll",
            "(",
            ")",
            "[",
            "]",
            "}",
            ",",
            ".",
            "...",
            ";",
            ":",
            "?",
            "!",
            " ",
            "  ",
            "\n",
            "\xa0",
        ]
        + ["Lee", "ca", "3", "é", "e\u0301", "\u200b", "\u0338", "="]
    ),
    max_size=14,
).map("".join)


@pytest.mark.parametrize(
    ("stored", "clean"),
    [
        ("Lee 's film -LRB- 2001 -RRB- .", "Lee's film (2001)."),
        ("Penn -LRB- -LSB- pɛn -RSB- ; born 1960 -RRB- , actor .", "Penn ([pɛn]; born 1960), actor."),
        ("The Deep End (  2001  ) .", "The Deep End (2001)."),
        ("Margaret `` Margot '' Kidder", 'Margaret "Margot" Kidder'),
        ("`` I Kissed a Girl `` is a song", '"I Kissed a Girl" is a song'),
        ("``Patty'' Jenkins", '"Patty" Jenkins'),
        ("called `` Bad '' , `` Ca n't Stop '' .", 'called "Bad", "Can\'t Stop".'),
        ("Dickens LRB 1812 -- 1870 RRB wrote .", "Dickens (1812 – 1870) wrote."),
        ("a LRB b LRB c RRB d RRB", "a (b (c) d)"),
        ("Alien -COLON- Covenant", "Alien: Covenant"),
        ("It is n't , I 'll say !", "It isn't, I'll say!"),
        ("Raúl Castro".replace("ú", "u\u0301"), "Raúl Castro"),
    ],
)
def test_fever_text_becomes_prose(stored: str, clean: str) -> None:
    assert clean_text(stored) == clean


@pytest.mark.parametrize(
    "text",
    [
        "She writes for the LRB and lives in 's-Hertogenbosch.",
        "Write it in .NET ... or leave it :( today",
        'The "Bad" album (1987) sold 3 : 1, well-known -- no: known!'.replace(" -- ", " – "),
        "rock 'n' roll in the '90s; don't stop.",
        "Run it with --help or -LR, 5' 10\" tall, $5, 50 % off",
        "Was kostet das? L'État, c'est moi.",
        "COLON CANCER is an LSB.",
    ],
)
def test_ordinary_prose_passes_unchanged(text: str) -> None:
    assert clean_text(text) == text


@settings(deadline=None, max_examples=600)
@given(PIECES)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean_text(clean_text(text)) == clean_text(text)


@settings(deadline=None)
@given(st.text())
def test_cleaning_twice_is_cleaning_once_for_any_text(text: str) -> None:
    assert clean_text(clean_text(text)) == clean_text(text)


@settings(deadline=None)
@given(st.lists(st.from_regex(r"[A-Za-z0-9]{1,8}[,.;?!]?", fullmatch=True), max_size=12).map(" ".join))
def test_plain_words_are_never_touched(text: str) -> None:
    # A bare bracket code is a word too: two of them in one text may be a pair.
    if not re.search(r"\b[LR][RSC]B\b", text):
        assert clean_text(text) == text


def test_a_title_is_read_from_a_page_id() -> None:
    assert page_title("Alien-COLON-_Covenant_-LRB-2017_film-RRB-") == "Alien: Covenant (2017 film)"
    assert page_id("Alien: Covenant (2017 film)") == "Alien-COLON-_Covenant_-LRB-2017_film-RRB-"


@settings(deadline=None)
@given(st.text().filter(lambda title: "_" not in title and not re.search("[LR][RSC]B|COLON", title)))
def test_titles_survive_the_way_to_an_id_and_back(title: str) -> None:
    assert page_title(page_id(title)) == title
    assert page_id(page_id(title)) == page_id(title)


def test_real_page_ids_survive_the_way_to_a_title_and_back(shared_data) -> None:
    ids = {page.id for page in read_pages(shared_data / "fever/wiki-pages.jsonl.gz")}
    ids |= {
        ref.page
        for claim in read_claims(shared_data / "fever/dev_claims.jsonl.gz")
        for group in claim.gold
        for ref in group
    }
    assert len(ids) > 3318
    assert [identity for identity in ids if page_id(page_title(identity)) != identity] == []


def test_no_escape_is_left_in_real_evidence(shared_data) -> None:
    texts = [
        evidence.text
        for example in read_examples(shared_data / "fever/dev_gold.jsonl.gz")
        for evidence in example.evidence
    ] + [
        sentence.text
        for page in read_pages(shared_data / "fever/wiki-pages.jsonl.gz")
        for sentence in page.sentences
    ]
    cleaned = [clean_text(text) for text in texts]
    assert len(cleaned) > 15_000
    assert [text for text in cleaned if re.search(r"-[LR][RSC]B-|-COLON-|``|''|  | ,( |$)|\( ", text)] == []
    assert [text for text in cleaned if clean_text(text) != text] == []
