"""axe finds nothing to object to, in light and dark, on a desktop and a phone; nothing is wider than the phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from browsing import OpenPage, check, wait_until_finished

TEXT = (
    "The Ellery Bridge was opened to traffic in 1934. Members may borrow ten books at a time. "
    "The mayor owns a yacht. Is it open? Xylophones were quacking."
)
DESKTOP, PHONE = (1280, 860), (390, 844)


def violations(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    problems = page.evaluate("axe.run()")["violations"]
    return [
        f"{one['id']}: {node['html'][:200]} {node['failureSummary']}"
        for one in problems
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
class TestAxe:
    def test_the_empty_page(
        self, open_page: OpenPage, address: str, axe: str, size: tuple[int, int], scheme: str
    ):
        page = open_page(address, size, scheme)
        assert violations(page, axe) == []
        assert_fits(page, size)

    def test_a_checked_text(
        self,
        open_page: OpenPage,
        graph_address: str,
        address: str,
        axe: str,
        size: tuple[int, int],
        scheme: str,
    ):
        for url in (address, graph_address):
            page = open_page(url, size, scheme)
            check(page, TEXT)
            page.locator(".card.current").get_by_text("Why this verdict").click()
            page.locator(".card.current .leave-out button").click()
            expect(page.locator(".card.current .left-out table")).to_be_visible()
            assert violations(page, axe) == []
            assert_fits(page, size)
            assert_nothing_is_cut_off(page)

    def test_a_single_claim(
        self, open_page: OpenPage, address: str, axe: str, size: tuple[int, int], scheme: str
    ):
        page = open_page(f"{address}/?text=An+adult+ticket+costs+84+crowns.", size, scheme)
        wait_until_finished(page)
        assert violations(page, axe) == []
        page.get_by_role("link", name="Whole document").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("The ferry to Skarn")
        page.wait_for_load_state()
        assert violations(page, axe) == []
        assert_fits(page, size)

    def test_many_claims(
        self, open_page: OpenPage, address: str, axe: str, size: tuple[int, int], scheme: str, tmp_path
    ):
        page = open_page(f"{address}/claims", size, scheme)
        assert violations(page, axe) == []
        (tmp_path / "claims.txt").write_text(TEXT.replace(". ", ".\n"))
        page.get_by_label("File of claims").set_input_files(tmp_path / "claims.txt")
        page.locator("#start").click()
        expect(page.get_by_role("button", name="Check again")).to_be_visible()
        assert violations(page, axe) == []
        assert_fits(page, size)

    @pytest.mark.parametrize("path", ["/docs", "/runs"])
    def test_reference_and_experiments(
        self, open_page: OpenPage, graph_address: str, axe: str, size: tuple[int, int], scheme: str, path: str
    ):
        page = open_page(f"{graph_address}{path}", size, scheme)
        assert violations(page, axe) == []
        assert_fits(page, size)

    def test_an_error(self, open_page: OpenPage, address: str, axe: str, size: tuple[int, int], scheme: str):
        page = open_page(f"{address}/?text=Hello&corpus=nowhere", size, scheme, status=404)
        assert violations(page, axe) == []
        assert_fits(page, size)


def assert_fits(page: Page, size: tuple[int, int]) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def assert_nothing_is_cut_off(page: Page) -> None:
    """The card hides what is wider than itself, which the width of the page does not show."""
    cut = page.evaluate(
        "[...document.querySelectorAll('.card.current section, .card.current p, .card.current li')].filter("
        "one => one.getBoundingClientRect().right > one.closest('.card').getBoundingClientRect().right)"
        ".map(one => one.textContent)"
    )
    assert cut == []


def test_axe_would_object(open_page: OpenPage, address: str, axe: str) -> None:
    page = open_page(address)
    page.evaluate("document.querySelector('#theme').removeAttribute('aria-label')")
    assert [one for one in violations(page, axe) if one.startswith("button-name")]
