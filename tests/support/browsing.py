"""What tests of the page in a browser share: checking a text, and waiting until its result is whole."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

OpenPage = Callable[..., Page]
PATIENCE = 300.0
"""Seconds before a test gives up waiting; a machine with other work is slow."""


def wait_until_finished(page: Page) -> None:
    """Wait for the state that the page sets when the last verdict and the document beside it are shown."""
    expect(page.locator("#outcome")).to_have_attribute("data-state", "finished")


def check(page: Page, text: str) -> None:
    """Check a text with the form."""
    page.get_by_label("Claim or text").fill(text)
    page.get_by_role("button", name="Check", exact=True).click()
    wait_until_finished(page)
