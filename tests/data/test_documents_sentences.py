"""Splitting: where sentences end, and offsets that stay right whatever the characters."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.data.documents import iter_documents, source_text
from adjudge.data.documents.markdown import strip_marks
from adjudge.data.documents.sentences import split


@pytest.mark.parametrize(
    "sentences",
    [
        ["The pH was 6.5 to 9.5.", "Nitrate was measured."],
        ["It cost $4.50.", "Nobody paid."],
        ["The fine was 1,200.50.", "Courts confirmed it."],
        ["Bake the bread at 180 °C.", "Do not cut it."],
        ["The mast is 12 m.", "Sails are white."],
        ["The motor runs at 12 V.", "Do not open it."],
        ["Every player needs a cap.", "Football club is full."],
        ["She taught art.", "Many came."],
        ["Cook it for 20 min.", "Serve it hot."],
        ["Oranges have vitamin C.", "Lemons have more."],
    ],
)
def test_a_sentence_ends_after_a_number_a_unit_or_a_word_like_an_abbreviation(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert [span.text for span in split(text)] == sentences
    assert [span.start for span in split(text)] == [0, len(sentences[0]) + 1]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith of St. Mary's met Mr. Lee.",
        "He met J. F. Kennedy in Bonn.",
        "See fig. 3.2 and Fig. 4 of vol. II for more.",
        "4.2. Results of the survey",
        "Die max. Temperatur war hoch.",
        "She lives at 1600 W. Main Street.",
        "Acme Inc. Ltd. makes caps, e.g. Panama hats.",
        "Version 2.5.1 of it is out.",
    ],
)
def test_abbreviations_numbers_of_sections_and_initials_end_no_sentence(text: str) -> None:
    assert [span.text for span in split(text)] == [text]


WORDS = st.sampled_from(
    [
        *(
            "The",
            "cat",
            "Zoe\u0308",
            "Zoë",
            "ﬁne",
            "9.5",
            "180 °C",
            "e.g.",
            "A.",
            "cap",
            "👩‍👩‍👧",
            "東京。",
            "שלום",
            "مرحبا",
        ),
        *(
            "\u202e",
            "\u2066x\u2069",
            "\u200b",
            "\u200d",
            "\ufeff",
            "\u00ad",
            "é" * 3,
            "e\u0301\u0323",
            "\U0001f600",
            "|",
            "`",
        ),
        *(
            ".",
            "!",
            "?",
            "\n",
            "\n\n",
            "\r\n",
            "\u2028",
            "\x85",
            "\t",
            "\u00a0",
            "\u3000",
            ";",
            "…",
            "(",
            ")",
            '"',
        ),
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, max_size=40), st.sampled_from(["", "NFC", "NFD"]), st.booleans())
def test_sentences_are_slices_in_order_and_lose_nothing_but_white_space(
    words: list[str], form: str, spaced: bool
) -> None:
    text = (" " if spaced else "").join(words)
    text = unicodedata.normalize(form, text) if form else text
    spans = list(split(text))
    end = 0
    for span in spans:
        assert text[span.start : span.start + len(span.text)] == span.text
        assert not text[end : span.start].strip()
        end = span.start + len(span.text)
    assert not text[end:].strip()


@settings(max_examples=40, deadline=None)
@given(words=st.lists(WORDS, max_size=30))
def test_offsets_of_files_point_at_their_sentences(
    words: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("files")
    text = " ".join(words).replace("\ufeff", "")
    (folder / "a.txt").write_bytes(text.encode())
    (folder / "b.md").write_bytes(text.encode())
    for document in iter_documents(folder):
        source = source_text(document.file.path)
        assert source == text
        for sentence in document.page.sentences:
            written = source[sentence.start : sentence.end]
            if document.file.kind.name == "text":
                assert written == sentence.text
            elif sentence.location is None:
                assert strip_marks(written).strip("| \t") == sentence.text


def test_a_path_may_be_given_as_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Here I am.")
    for path in (str(tmp_path), tmp_path, [str(tmp_path)], (tmp_path / "a.txt",)):
        assert [s.text for d in iter_documents(path) for s in d.page.sentences] == ["Here I am."]


def test_very_many_lines_of_one_character_are_read_in_one_pass(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a\n" * 150_000)  # minutes, if every line looked at all those before it
    texts = [s.text for document in iter_documents(tmp_path) for s in document.page.sentences]
    assert "".join("".join(texts).split()) == "a" * 150_000
