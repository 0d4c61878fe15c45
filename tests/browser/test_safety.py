"""Script in claims, titles, file names and documents stays text; the policy forbids what would slip through."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from browsing import OpenPage, check, wait_until_finished

ATTACK = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def assert_unharmed(page: Page) -> None:
    """Nothing of the attack became an element, so that none of it can run now or later."""
    assert page.title() != "owned"
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("script:not([src])").count() == 0


def test_script_in_claim_title_file_name_and_document(
    open_page: OpenPage, address: str, tmp_path: Path
) -> None:
    name = "<img src=x onerror=alert(1)>.md"
    (tmp_path / name).write_text(f"# The {ATTACK} boat\n\nThe boat {ATTACK} is 12 metres long and red.\n")
    page = open_page(address)
    page.get_by_label("Add documents of your own").set_input_files(tmp_path / name)
    expect(page.locator("#upload")).to_contain_text("1 document ready")
    check(page, f"The boat {ATTACK} is 14 metres long.")
    assert_unharmed(page)
    page.get_by_text("Why this verdict").first.click()
    page.reload()  # as the server renders it
    wait_until_finished(page)
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
    page.goto(address)
    with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
        page.evaluate(
            "const script = document.createElement('script');"
            "script.textContent = \"document.title='owned'\"; document.body.append(script)"
        )
    assert page.title() != "owned"
    page.context.close()
