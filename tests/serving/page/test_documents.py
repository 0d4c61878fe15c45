"""Documents as the page shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.retrieval.index import StoredSentence
from adjudge.serving.page.documents import document_view, read_mark
from adjudge.serving.server.corpus import Corpus
from adjudge.serving.server.faults import Fault
from adjudge.types import Span

FOLDER = Path(__file__).parent
CORPUS = Corpus("docs", FOLDER)
SOURCE = "One <i>. Two. \n\nThree. "


def sentences(source: str = SOURCE) -> list[StoredSentence]:
    stored = []
    for line, text in enumerate(part.strip() for part in source.split(".") if part.strip()):
        start = source.index(text)
        stored.append(
            StoredSentence(
                "p", line, f"{text}.", start, start + len(text) + 1, str(FOLDER / "p.md"), (), "P & Q", line
            )
        )
    return stored


def test_sentences_stand_in_the_paragraphs_of_their_source() -> None:
    view = document_view(sentences(), CORPUS, line=1, also=[2], marks=[Span(0, 3)])
    assert [[sentence.line for sentence in paragraph] for paragraph in view.paragraphs] == [[0, 1], [2]]
    assert [s.style for paragraph in view.paragraphs for s in paragraph] == ["", "lit", "also"]
    assert str(view.paragraphs[0][0].marked) == "One &lt;i&gt;."
    assert str(view.paragraphs[0][1].marked) == '<mark class="against">Two</mark>.'
    assert (view.title, view.file, view.count) == ("P & Q", "p.md", 3)


def test_only_a_stretch_around_the_evidence_is_shown() -> None:
    many = sentences(" ".join(f"S{n}x." for n in range(20)))
    view = document_view(many, CORPUS, line=10, around=2)
    assert [s.line for paragraph in view.paragraphs for s in paragraph] == [8, 9, 10, 11, 12]
    assert (view.before, view.after) == (8, 7)


def test_a_sentence_without_a_place_stands_by_itself() -> None:
    rows = [sentence._replace(start=None, end=None) for sentence in sentences()]
    assert len(document_view(rows, CORPUS).paragraphs) == 3


def test_a_mark_is_two_numbers() -> None:
    assert read_mark("12-16") == (12, 16)
    for wrong in ("12", "a-b", "-1-4", "1-²", "1-" + "9" * 40):
        with pytest.raises(Fault, match="expected two numbers"):
            read_mark(wrong)
