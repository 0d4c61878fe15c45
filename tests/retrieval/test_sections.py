"""Sentences are found and judged with the headings that they stand under, and once each."""

from __future__ import annotations

from pathlib import Path

from adjudge import Verifier
from adjudge.data.text import evidence_title, page_name
from adjudge.io.files import write_json
from adjudge.retrieval import EvidencePipeline, open_retriever
from adjudge.retrieval.corpus import cache_of, open_corpus
from adjudge.retrieval.storage import MANIFEST, read_manifest

DOCUMENT = "# Kettles\n\n## Falcon X\n\nIt is red.\n\n- Weight: 3 kg\n\n## Eagle Y\n\nIt is blue.\n\n- Weight: 5 kg\n"


def write_corpus(folder: Path) -> Path:
    folder.mkdir()
    (folder / "kettles.md").write_text(DOCUMENT)
    return folder


def test_a_heading_finds_the_sentences_below_it(tmp_path: Path) -> None:
    index = open_corpus(write_corpus(tmp_path / "documents"), by_meaning=False)
    pipeline = EvidencePipeline(open_retriever(index, "lexical"))
    for name, weight in (("Falcon X", "Weight: 3 kg"), ("Eagle Y", "Weight: 5 kg")):
        first = pipeline.retrieve(f"The weight of the {name}", 1)[0]
        assert (first.text, first.section, first.title) == (weight, f"Kettles: {name}", "Kettles")
        assert (evidence_title(first), page_name(first)) == (f"Kettles: {name}", "Kettles")


def test_what_stands_under_one_heading_is_not_said_of_another(tmp_path: Path) -> None:
    verifier = Verifier.load(corpus=write_corpus(tmp_path / "documents"))
    labels = [v.label for v in verifier.verify_many(["Falcon X weighs 3 kg.", "Falcon X weighs 5 kg."])]
    assert labels == ["SUPPORTS", "REFUTES"]


def test_the_index_of_another_version_beside_documents_is_made_again(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "documents")
    open_corpus(folder, by_meaning=False)
    manifest = cache_of(folder) / MANIFEST
    write_json(manifest, {"format": "adjudge-index", "version": 3, "generation": "g00000001"})
    assert open_corpus(folder, by_meaning=False).manifest.sentences == 4
    assert read_manifest(cache_of(folder)).version > 3


def test_copies_of_a_document_do_not_take_the_places_of_others(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(40):
        (folder / f"copy{number}.md").write_text("# Bridge\n\nThe Ellery Bridge was opened in 1932.\n")
    (folder / "letter.md").write_text("# Letter\n\nThe mayor opened the bridge with a speech.\n")
    (folder / "a.txt").write_text("Length: 40 m")
    (folder / "b.txt").write_text("Length: 40 m")  # of another document: not the same to a model
    pipeline = EvidencePipeline(open_retriever(open_corpus(folder, by_meaning=False), "lexical"))
    texts = [sentence.text for sentence in pipeline.find("The mayor opened the Ellery Bridge in 1932.")]
    assert sorted(texts) == [
        "The Ellery Bridge was opened in 1932.",
        "The mayor opened the bridge with a speech.",
    ]
    assert sorted(s.page for s in pipeline.find("a length of 40 m")) == ["documents/a.txt", "documents/b.txt"]
