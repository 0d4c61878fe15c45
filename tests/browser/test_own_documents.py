"""Documents of the reader's own: chosen, dropped, refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

OpenPage = Callable[..., Page]


def check(page: Page, text: str) -> None:
    page.get_by_label("Claim or text").fill(text)
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("#status")).to_contain_text("Done")


def test_files_that_are_chosen_become_a_corpus(open_page: OpenPage, address: str, tmp_path: Path) -> None:
    notes, table = tmp_path / "boat notes.txt", tmp_path / "picture.xyz"
    notes.write_text("The boat Sprite is 12 metres long. It was built in 1987.")
    table.write_text("no document")
    page = open_page(address, status=200)
    with page.expect_response(lambda answer: "picture.xyz" in answer.url) as refusal:
        page.get_by_label("Add documents of your own").set_input_files([notes, table])
    assert refusal.value.status == 422
    expect(page.locator("#upload")).to_contain_text("1 document ready, 2 sentences")
    expect(page.locator("#upload li")).to_contain_text("picture.xyz")
    expect(page.get_by_label("Documents", exact=True)).to_have_value("boat-notes")
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
    expect(page.get_by_label("Documents", exact=True)).to_have_value("caf")
    check(page, "The harbour café opens at 9 a.m.")
    expect(page.locator(".card.current h4 mark")).to_have_text("9 a.m.")


def test_files_that_cannot_be_read_leave_no_corpus(open_page: OpenPage, address: str, tmp_path: Path) -> None:
    (tmp_path / "program.exe").write_bytes(b"MZ")
    page = open_page(address, status=200)
    before = page.locator("#corpus option").count()
    page.on("console", lambda message: None)
    page.get_by_label("Add documents of your own").set_input_files(tmp_path / "program.exe")
    expect(page.get_by_role("alert")).to_contain_text("program.exe")
    page.reload()
    assert page.locator("#corpus option").count() == before
