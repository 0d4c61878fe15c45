"""Documents of many kinds as one corpus: claims that need a cell, a pronoun's sentence, or two files together."""

from __future__ import annotations

import pytest

import office
from adjudge.retrieval import EvidencePipeline, load_selector, open_retriever
from adjudge.retrieval.corpus import open_corpus

CLAIMS = [
    # A cell: the words of the claim stand in a row and in the header above it.
    (
        "The harbour handled more than fifty thousand tonnes of cargo in the second quarter of 2024.",
        [("harbour_figures.xlsx", "Q2 2024: Ships 240, Cargo in tonnes 51,950")],
    ),
    (
        "A child pays €6.30 for the crossing between Ellery and Port Anwen.",
        [("ferry_fares.csv", "Ellery – Port Anwen: Adult fare €12.60, Child fare €6.30")],
    ),
    (
        "In summer the library shuts at eight in the evening.",
        [("opening_hours.html", "Town library: Summer opens 8:15, Summer closes 20:00")],
    ),
    ("Selling the crane was voted down.", [("council_minutes.docx", "Sell the crane: For 5, Against 8")]),
    # A sentence whose subject stands in the sentence before.
    (
        "Lena Foss was elected harbour master by the council.",
        [("council_minutes.docx", "It elected a new harbour master, Lena Foss.")],
    ),
    (
        "The pilot boat Petrel can carry twelve people.",
        [("pilot_boat.pdf", "It carries twelve people and a doctor.")],
    ),
    # Two files that only together decide the claim.
    (
        "The keeper of the north quay was born in Port Anwen.",
        [("berths.md", "Keeper Ada Quill"), ("pilot_boat.pdf", "Ada Quill was born in Port Anwen.")],
    ),
    (
        "The inspector of crane 1 speaks Danish.",
        [
            ("harbour_figures.xlsx", "Inspector Ida Holm"),
            ("staff.html", "Ida Holm speaks Danish and German."),
        ],
    ),
]
STAFF = (
    "<title>Staff</title><h1>Staff of the harbour</h1><p>Ida Holm speaks Danish and German. Otto Brand paints. "
    "Tom Reyes keeps bees. The office is closed on Mondays.</p>"
)
BOAT = [
    "The pilot boat Petrel was built in Norway. It carries twelve people and a doctor. It has two engines.",
    "Ada Quill was born in Port Anwen. She has worked here since 1998. The canteen serves soup on Fridays.",
]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> EvidencePipeline:
    """As ``adjudge verify --corpus FOLDER`` searches a folder."""
    folder = office.write_folder(tmp_path_factory.mktemp("documents") / "ellery")
    (folder / "pilot_boat.pdf").write_bytes(office.pdf(*BOAT, title="Notes on the pilot boat"))
    (folder / "staff.html").write_text(STAFF, "utf-8")
    return EvidencePipeline(open_retriever(open_corpus(folder)), load_selector("fusion"))


@pytest.mark.parametrize(("claim", "deciding"), CLAIMS)
def test_the_sentences_that_decide_a_claim_are_among_the_first_five(
    pipeline: EvidencePipeline, claim: str, deciding: list[tuple[str, str]]
) -> None:
    found = [(sentence.page, sentence.text) for sentence in pipeline.find(claim)]
    for document, text in deciding:
        assert any(document in page and text in sentence for page, sentence in found), (text, found)


def test_the_sentence_before_comes_with_a_pronoun(pipeline: EvidencePipeline) -> None:
    [carries] = [s for s in pipeline.find("The Petrel carries twelve people.") if "twelve" in s.text]
    assert carries.context == "The pilot boat Petrel was built in Norway."
