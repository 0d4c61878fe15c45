"""One claim without JavaScript: the form, the result, the documents and the files."""

from __future__ import annotations

from playwright.sync_api import expect

from browsing import OpenPage

WRONG = "The Ellery Bridge was opened to traffic in 1934."


def test_a_claim_is_checked_and_its_document_shown(open_page: OpenPage, address: str) -> None:
    page = open_page(address, script=False)
    page.get_by_label("Claim or text").fill(WRONG)
    page.get_by_role("button", name="Check", exact=True).click()
    page.wait_for_url(lambda url: url.startswith(f"{address}/?text=The+Ellery+Bridge"))
    card = page.locator(".card")
    expect(card.locator(".card-head .badge")).to_have_text("refuted")
    expect(card.locator(".document .lit")).to_contain_text("14 May 1932")
    card.get_by_text("Why this verdict").click()
    expect(card.locator(".facts")).to_contain_text("different")
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON", exact=True).click()
    assert "REFUTES" in download.value.path().read_text("utf-8")
    card.locator("a.tab").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The Ellery Bridge")


def test_a_whole_text_shows_every_card(open_page: OpenPage, address: str) -> None:
    page = open_page(address, script=False)
    questions = [f"Who knows whether the public library of Port Ellery has {n} doors?" for n in range(80)]
    page.get_by_label("Claim or text").fill(" ".join([WRONG, *questions, WRONG]))  # too long for an address
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator(".card")).to_have_count(2)
    assert page.url == f"{address}/"
    expect(page.locator(".card").last).to_be_visible()


def test_an_example_is_a_link(open_page: OpenPage, address: str) -> None:
    page = open_page(address, script=False)
    page.locator("a.example").first.click()
    expect(page.locator(".card .card-head .badge")).to_have_text("refuted")


def test_what_needs_scripts_says_so(open_page: OpenPage, address: str) -> None:
    page = open_page(f"{address}/claims", script=False)
    expect(page.get_by_text("This page needs JavaScript.")).to_be_visible()
    expect(page.get_by_label("File of claims")).to_be_hidden()
