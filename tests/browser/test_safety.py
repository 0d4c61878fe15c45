"""Script in claims, titles, file names and documents stays text; the policy forbids what would slip through."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

OpenPage = Callable[..., Page]
ATTACK = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def assert_unharmed(page: Page) -> None:
    page.wait_for_timeout(200)
    assert page.title() != "owned"
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("script:not([src])").count() == 0


def test_script_in_claim_title_file_name_and_document(open_page: OpenPage, address: str, tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>.md"
    (tmp_path / name).write_text(f"# The {ATTACK} boat\n\nThe boat {ATTACK} is 12 metres long and red.\n")
    page = open_page(address)
    page.get_by_label("Add documents of your own").set_input_files(tmp_path / name)
    expect(page.locator("#upload")).to_contain_text("1 document ready")
    page.get_by_label("Claim or text").fill(f"The boat {ATTACK} is 14 metres long.")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("#status")).to_contain_text("Done")
    assert_unharmed(page)
    page.get_by_text("Why this verdict").first.click()
    page.reload()  # as the server renders it
    assert_unharmed(page)
    href = page.locator("a.tab").first.get_attribute("href")
    assert_unharmed(open_page(f"{address}{href}"))


def test_script_in_addresses_and_tables(open_page: OpenPage, address: str, tmp_path: Path) -> None:
    for fields in ({"text": ATTACK}, {"text": "It is.", "corpus": ATTACK}):
        status = 404 if "corpus" in fields else 200
        assert_unharmed(open_page(f"{address}/?{urlencode(fields)}", status=status))
    assert_unharmed(open_page(f"{address}/document?{urlencode({'page': ATTACK})}", status=404))
    (tmp_path / "claims.jsonl").write_text(json.dumps({"id": ATTACK, "claim": f"The boat {ATTACK} is red."}))
    page = open_page(f"{address}/claims")
    page.get_by_label("File of claims").set_input_files(tmp_path / "claims.jsonl")
    page.locator("#start").click()
    expect(page.locator("#rows tr")).to_have_count(1)
    assert_unharmed(page)


def test_the_policy_stops_inline_script(open_page: OpenPage, address: str, browser) -> None:
    page = browser.new_context().new_page()
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.goto(address)
    page.evaluate(
        "const s = document.createElement('script'); s.textContent = \"document.title='owned'\"; document.body.append(s)"
    )
    assert page.title() != "owned" and any("Content Security Policy" in text for text in heard)
    page.context.close()
