"""What a sentence stands under: headings, and the lines that introduce lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.data.documents import iter_documents
from adjudge.data.documents.outline import APART, MAX_SECTION, Outline
from adjudge.data.documents.sentences import split

CATALOGUE = """# Catalogue

It lists kettles.

## Falcon X

- Weight: 3 kg
- Parts:
  - lid

| Sold | in |
|------|----|
| North | 2024 |

## Rules

Forbidden are:

* dogs

Children are welcome.

# Index

See the end.
"""


def sections(path: Path) -> dict[str, str]:
    return {s.text: s.section for document in iter_documents(path) for s in document.page.sentences}


def test_a_sentence_of_markdown_stands_under_its_headings_and_what_introduces_its_list(
    tmp_path: Path,
) -> None:
    path = tmp_path / "catalogue.md"
    path.write_text(CATALOGUE)
    assert sections(path) == {
        "It lists kettles.": "",  # the title says it all
        "Weight: 3 kg": "Catalogue: Falcon X",
        "Parts:": "Catalogue: Falcon X",
        "lid": "Catalogue: Falcon X: Parts",
        "North: in 2024": "Catalogue: Falcon X",
        "Forbidden are:": "Catalogue: Rules",
        "dogs": "Catalogue: Rules: Forbidden are",
        "Children are welcome.": "Catalogue: Rules",
        "See the end.": "Index",  # as high as the title, which does not name it
    }


def test_a_line_in_bold_introduces_the_list_below_it(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("**Falcon X**\n\n- Weight: 3 kg\n\nIt is new.\n")
    assert sections(path) == {"Falcon X": "", "Weight: 3 kg": "a: Falcon X", "It is new.": ""}


def test_a_sentence_of_html_stands_under_its_headings_lists_and_captions(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(
        "<title>Ferries</title><h1>Ferries</h1><p>Two ships.</p><h2>Tern</h2><ul><li>Crew:<ul><li>9</li></ul></li>"
        "<li>Built 2011</li></ul><dl><dt>Cabins</dt><dd>40</dd></dl><p>It sails.</p>"
        "<table><caption>Fares</caption><tr><th>Who</th><th>Price</th></tr><tr><td>Adult</td><td>12</td></tr></table>"
    )
    assert sections(path) == {
        "Two ships.": "",
        "Crew:": "Ferries: Tern",
        "9": "Ferries: Tern: Crew",
        "Built 2011": "Ferries: Tern",
        "Cabins": "Ferries: Tern",
        "40": "Ferries: Tern: Cabins",
        "It sails.": "Ferries: Tern",
        "Fares": "Ferries: Tern",
        "Adult: Price 12": "Ferries: Tern: Fares",
    }


def test_items_of_a_plain_text_are_sentences_under_the_line_that_introduces_them(tmp_path: Path) -> None:
    path = tmp_path / "terms.txt"
    text = "The Client shall not:\n(a) copy it;\n(b) sell it.\n\nThe fee is low.\n\n• one\n• two: 2\n"
    path.write_text(text)
    assert sections(path) == {
        "The Client shall not:": "",
        "(a) copy it;": "terms: The Client shall not",
        "(b) sell it.": "terms: The Client shall not",
        "The fee is low.": "",
        "• one": "",
        "• two: 2": "",
    }
    [document] = iter_documents(path)
    assert all(text[s.start : s.end] == s.text for s in document.page.sentences)


@pytest.mark.parametrize(
    "prose",
    [
        "The mill, built in 1875\n– the oldest in town – burnt down.",
        "It was read by all of the\n(a) few and by none of the many.",
        "He was born on May\n5. and lived long",
    ],
)
def test_one_mark_at_the_beginning_of_a_line_does_not_make_a_list(prose: str) -> None:
    assert len(list(split(prose))) <= 1 + prose.count("5. ")


def test_marks_of_two_paragraphs_do_not_make_a_list() -> None:
    texts = [span.text for span in split("One line\n- goes on\n\nAnother line\n- goes on")]
    assert texts == ["One line\n- goes on", "Another line\n- goes on"]


def test_a_word_file_gives_sections_and_its_notes_have_none(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_heading("Catalogue", 0)
    document.add_paragraph("All prices in euros.")
    document.add_heading("Falcon X", 1)
    document.add_paragraph("Included are:")
    document.add_paragraph("a lid", style="List Bullet")
    document.add_heading("Eagle Y", 1)
    document.add_paragraph("It is heavy.")
    path = tmp_path / "a.docx"
    document.save(path)
    assert sections(path) == {
        "All prices in euros.": "",
        "Included are:": "Catalogue: Falcon X",
        "a lid": "Catalogue: Falcon X: Included are",
        "It is heavy.": "Catalogue: Eagle Y",
    }
    outline = Outline("Catalogue")
    outline.enter_heading("Eagle Y", 1)
    assert (outline.section(0), outline.section(APART)) == ("Catalogue: Eagle Y", "")


def test_a_heading_without_a_name_ends_the_section_before_and_names_none(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# Catalogue\n\n## Falcon X\n\nIt is red.\n\n##\n\nIt is blue.\n\n## :\n\n- It is old.\n")
    assert sections(path) == {"It is red.": "Catalogue: Falcon X", "It is blue.": "", "It is old.": ""}


def test_of_many_headings_the_title_and_the_last_are_kept() -> None:
    outline = Outline("Title")
    for level in range(1, 5):
        outline.enter_heading(f"{level}" * 100, level)
    assert outline.section(0) == f"Title: {'3' * 100}: {'4' * 100}"
    outline.introduce("x" * 1000 + ":", 0)
    assert len(outline.section(1)) <= MAX_SECTION
