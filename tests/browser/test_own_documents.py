"""Documents of the reader's own: chosen, dropped, refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from adjudge import Verifier
from adjudge.serving.page.samples import sample_documents
from browsing import OpenPage, check
from server_fixtures import listening


def test_files_that_are_chosen_become_a_corpus(open_page: OpenPage, address: str, tmp_path: Path) -> None:
    notes, table = tmp_path / "boat notes.txt", tmp_path / "picture.xyz"
    notes.write_text("The boat Sprite is 12 metres long. It was built in 1987.")
    table.write_text("no document")
    page = open_page(address)
    page.get_by_label("Add documents of your own").set_input_files([notes, table])
    expect(page.locator("#upload")).to_contain_text("1 document ready, 2 sentences")
    expect(page.locator("#upload li")).to_contain_text("picture.xyz")
    expect(page.locator("#corpus")).to_have_value("boat-notes")
    check(page, "The boat Sprite was built in 1978.")
    expect(page.locator(".card.current h4 mark")).to_have_text("1978")
    expect(page.locator(".card.current .document .lit")).to_have_text("It was built in 1987.")


def test_files_that_are_dropped_become_a_corpus(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    page.evaluate(
        """() => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(["The harbour café opens at 7 a.m."], "café.md", {type: "text/markdown"}));
        for (const kind of ["dragenter", "dragover", "drop"])
          document.querySelector("#text").dispatchEvent(
            new DragEvent(kind, {dataTransfer: transfer, bubbles: true, cancelable: true}));
        }"""
    )
    expect(page.locator("#upload")).to_contain_text("1 document ready")
    expect(page.locator("#corpus")).to_have_value("caf")
    check(page, "The harbour café opens at 9 a.m.")
    expect(page.locator(".card.current h4 mark")).to_have_text("9 a.m.")


def test_files_that_cannot_be_read_leave_no_corpus(open_page: OpenPage, address: str, tmp_path: Path) -> None:
    (tmp_path / "program.exe").write_bytes(b"MZ")
    page = open_page(address)
    before = page.locator("#corpus option").count()
    page.get_by_label("Add documents of your own").set_input_files(tmp_path / "program.exe")
    expect(page.get_by_role("alert")).to_contain_text("program.exe")
    page.reload()
    assert page.locator("#corpus option").count() == before


def test_a_server_without_documents_offers_its_samples(
    open_page: OpenPage, tmp_path_factory: pytest.TempPathFactory
) -> None:
    verifier = Verifier.load("rules", selector="lexical")
    with listening(verifier, data_dir=tmp_path_factory.mktemp("uploads")) as (address, _):
        page = open_page(address)
        expect(page.get_by_text("No documents yet")).to_be_visible()
        page.get_by_role("button", name="Use the sample documents").click()
        expect(page.locator("#corpus")).to_have_value("samples")
        page.locator("a.example").first.click()
        expect(page.locator(".card.current h4 mark")).to_have_text("1934")


def test_a_page_that_is_opened_too_early_shows_the_examples_later(
    open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = tmp_path / "samples"
    samples.mkdir()
    for file in sample_documents():
        (samples / file.name).write_bytes(file.read_bytes())
    verifier = Verifier.load("rules", selector="lexical")
    with listening(verifier, samples, data_dir=tmp_path / "uploads") as (address, app):
        corpus = app.state.engine.library.get("samples")
        with monkeypatch.context() as patch:
            patch.setattr(corpus, "index", None)  # as it is before the first indexing has ended
            page = open_page(address)
            expect(page.get_by_text("The documents are being indexed")).to_be_visible()
            page.get_by_label("Claim or text").fill("typed meanwhile")
        expect(page.locator("a.example")).to_have_count(3)
        expect(page.get_by_label("Claim or text")).to_have_value("typed meanwhile")
        expect(page.locator("#corpus option")).to_have_text("samples (4 documents)")
