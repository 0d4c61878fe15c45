"""A text checked in the browser: rows, marks, cards, documents, reasons, links and files."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from browsing import OpenPage, check, wait_until_finished

WRONG = "The Ellery Bridge was opened to traffic in 1934."
RIGHT = "Members may borrow ten books at a time."


def test_the_empty_page_teaches_with_examples_that_work(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    expect(page.get_by_role("heading", level=1)).to_have_text("Check a text against your documents")
    expect(page.locator("a.example")).to_have_count(3)
    page.locator("a.example").nth(2).click()
    wait_until_finished(page)
    expect(page.locator("#status")).to_contain_text("Done")
    # Three facts of the text differ from the documents; a heading and a question are not checked.
    marks = page.locator(".row.refutes mark").all_text_contents()
    assert marks == ["168 metres", "84", "Hamburg"]
    assert page.locator("div.row.not-checked .reason").all_text_contents() == ["heading", "question"]
    expect(page.locator("#empty")).to_be_hidden()


def test_a_claim_shows_state_counts_probabilities_and_the_document_at_its_evidence(
    open_page: OpenPage, address: str
) -> None:
    page = open_page(address)
    check(page, WRONG)
    card = page.locator(".card.current")
    expect(card.locator(".card-head .badge")).to_have_text("refuted")
    expect(card.locator("h4 mark")).to_have_text("1934")
    tally = card.locator(".tally").inner_text()
    assert tally.endswith("5 considered") and "refute" in tally
    shares = [int(share.strip("<>%")) for share in card.locator(".legend b").all_text_contents()]
    assert sum(shares) in range(97, 104)
    lit = card.locator(".document .lit")
    expect(lit).to_contain_text("opened to traffic on 14 May 1932")
    expect(lit.locator("mark")).to_have_text("14 May 1932")
    inside = lit.evaluate(
        "lit => { const a = lit.getBoundingClientRect(), b = lit.parentElement.parentElement.getBoundingClientRect();"
        " return a.top >= b.top && a.bottom <= b.bottom; }"
    )
    assert inside


def test_sentences_arrive_one_after_another(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    page.evaluate(
        """() => {
        window.counts = [];
        const count = (name) => document.querySelectorAll(name).length;
        const watch = () => window.counts.push([count("a.row"), count(".row.checking")]);
        new MutationObserver(watch).observe(document.querySelector("#outcome"), {childList: true, subtree: true});
        }"""
    )
    check(page, " ".join(f"The main span measures {metres} metres." for metres in range(100, 110)))
    # (with verdict, still waiting): all wait first, none at the end, and there are steps between.
    counts = [tuple(pair) for pair in page.evaluate("window.counts")]
    assert counts[0] == (0, 10) and counts[-1] == (10, 0)
    assert len({pair for pair in counts if sum(pair) == 10}) >= 4


def test_choosing_a_sentence_or_evidence_shows_its_card_and_document(
    open_page: OpenPage, address: str
) -> None:
    page = open_page(address)
    check(page, f"{WRONG} {RIGHT}")
    rows = page.locator("a.row")
    rows.nth(1).click()
    card = page.locator(".card.current")
    expect(card.locator("h4")).to_contain_text("ten books")
    expect(card.locator(".document-head strong")).to_have_text("Port Ellery Public Library")
    expect(rows.nth(1)).to_have_attribute("aria-current", "true")
    second = card.locator("a.tab").nth(1)
    title = second.locator("xpath=ancestor::div[@class='source']/span").inner_text()
    second.click()
    expect(second).to_have_attribute("aria-current", "true")
    expect(card.locator(".document-head strong")).to_have_text(title)
    card.get_by_role("link", name="Whole document").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


def test_the_keyboard_does_it_all(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    expect(page.get_by_label("Claim or text")).to_be_focused()
    page.keyboard.type(f"{RIGHT} {WRONG} An adult ticket costs 84 crowns.")
    page.keyboard.press("Control+Enter")
    wait_until_finished(page)
    current = page.locator(".row[aria-current=true]")
    expect(current).to_contain_text("1934")
    page.locator("#result").focus()
    page.keyboard.press("n")
    expect(current).to_contain_text("84 crowns")
    page.keyboard.press("n")
    expect(current).to_contain_text("1934")
    page.keyboard.press("ArrowUp")
    expect(current).to_contain_text("ten books")
    page.keyboard.press("Enter")
    expect(page.locator(".card.current")).to_be_focused()
    page.keyboard.press("]")
    expect(page.locator(".card.current a.tab").nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("[")
    expect(page.locator(".card.current a.tab").nth(0)).to_have_attribute("aria-current", "true")


def test_a_state_can_be_singled_out(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    check(page, f"{RIGHT} {WRONG}")
    button = page.get_by_role("button", name="1 refuted")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#result.filtering .row.match")).to_have_count(1)
    button.click()
    expect(page.locator("#result.filtering")).to_have_count(0)


def test_why_has_weights_facts_leaving_out_model_and_threshold(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    check(page, WRONG)
    page.get_by_text("Why this verdict").click()
    why = page.locator(".card.current .why")
    weights = [
        int(text.split("%")[0])
        for text in why.locator(".weighed .about span:first-child").all_text_contents()
    ]
    assert len(weights) == 5 and sum(weights) in range(97, 104)
    fact = why.locator(".facts tbody tr", has_text="1934")
    assert fact.locator("td").all_text_contents() == ["date", "1934", "14 May 1932", "different"]
    why.get_by_role("button", name="Judge again without each sentence").click()
    expect(why.locator(".left-out tbody tr")).to_have_count(5)
    expect(why.locator(".left-out .note")).to_contain_text("sentence")
    about = why.locator(".about-model")
    expect(about).to_contain_text("fever (")
    expect(about).to_contain_text("none: the likeliest answer counts")
    expect(why.locator(".graph")).to_have_count(0)  # this judge has no edge weights


def test_a_judge_with_edge_weights_shows_how_sentences_bear_on_each_other(
    open_page: OpenPage, graph_address: str
) -> None:
    page = open_page(graph_address)
    check(page, "The bridge carries two lanes of traffic.")
    page.get_by_text("Why this verdict").click()
    graph = page.locator(".card.current .graph")
    # Of the weights above, those between two sentences that are at least an even share (1/3).
    assert graph.locator("li").all_text_contents() == [
        "Sentence 1 takes 70% from sentence 2",
        "Sentence 2 takes 60% from sentence 1",
        "Sentence 3 takes 50% from sentence 1",
        "Sentence 3 takes 40% from sentence 2",
    ]
    assert graph.locator("circle").count() == 3 and graph.locator("path.arrow").count() == 4
    expect(page.locator(".about-model")).to_contain_text("below 60% the answer is “not enough info”")


def test_a_permalink_shows_the_result_again(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    check(page, WRONG)
    page.get_by_role("link", name="Copy link").click()
    expect(page.locator("#status")).to_have_text("The link is copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.evaluate("location.href") and quote("Ellery") in link
    again = open_page(link)
    expect(again.locator(".card.current h4 mark")).to_have_text("1934")
    assert again.get_by_label("Claim or text").input_value() == WRONG
    page.go_back()
    expect(page.locator("a.example")).to_have_count(3)


def test_a_long_text_travels_behind_the_hash(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    questions = [f"Who knows whether the public library of Port Ellery has {n} doors?" for n in range(80)]
    check(page, " ".join([WRONG, *questions]))  # which are not checked
    link = page.evaluate("location.href")
    assert "#text=" in link and "text=" not in link.partition("#")[0]
    again = open_page(link)
    wait_until_finished(again)
    assert again.locator(".row").count() == page.locator(".row").count() == 81


@pytest.mark.parametrize("name", ["json", "csv", "html"])
def test_the_result_can_be_taken_away(open_page: OpenPage, address: str, name: str) -> None:
    page = open_page(address)
    check(page, f"{RIGHT} {WRONG}")
    with page.expect_download() as download:
        page.get_by_role("button", name=name.upper(), exact=True).click()
    assert download.value.suggested_filename == f"check.{name}"
    content = download.value.path().read_text("utf-8")
    if name == "json":
        record = json.loads(content)
        assert [sentence["state"] for sentence in record["sentences"]] == ["SUPPORTS", "REFUTES"]
        part = record["sentences"][1]["parts"][0]
        assert part["tally"]["considered"] == len(part["evidence"]) == 5
        assert record["corpus"] == "samples" and part["evidence"][0]["source"].endswith(".md")
        assert "/" not in part["evidence"][0]["source"]  # no path of the server's own
    elif name == "csv":
        rows = list(csv.DictReader(io.StringIO(content)))
        assert [row["state"] for row in rows] == ["SUPPORTS", "REFUTES"]
        assert rows[1]["marked words"] == "1934" and rows[1]["document"] == "ellery-bridge.md"
    else:
        assert "<mark" in content and "1934" in content and "://" not in content.partition("<body")[0]


def test_the_theme_can_be_changed_and_is_kept(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("button", name="Use the dark theme").click()
    dark = page.evaluate(background)
    assert dark != light
    page.reload()
    assert page.evaluate(background) == dark
    page.get_by_role("button", name="Use the light theme").click()
    assert page.evaluate(background) == light


def test_what_goes_wrong_is_said(open_page: OpenPage, address: str) -> None:
    page = open_page(f"{address}/?text=Hello&corpus=nowhere", status=404)
    expect(page.get_by_role("alert")).to_contain_text("No corpus is called 'nowhere'; there are: samples")
    page = open_page(f"{address}/document?page=nothing.md&corpus=samples", status=404)
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found.")


def test_a_text_without_statements_is_not_checked(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    check(page, "Is the library open?")
    expect(page.locator("#no-card")).to_contain_text("No sentence was checked")
    expect(page.locator("div.row.not-checked")).to_contain_text("question")


def test_a_second_text_is_checked_by_the_mouse(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    check(page, WRONG)
    page.get_by_label("Claim or text").fill(f"{RIGHT}\n\nIs it?\n\nIs it not?")
    box = page.get_by_role("button", name="Check", exact=True).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()  # the text loses the focus, and the button must stay where it is
    page.mouse.up()
    expect(page.locator("#count")).to_have_text("3 sentences")
    wait_until_finished(page)
    expect(page.locator(".card.current h4")).to_have_text(RIGHT)


def test_an_answer_that_is_cut_short_is_no_result(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    page.route("**/page/check", lambda route: route.fulfill(content_type="application/x-ndjson", body=""))
    page.get_by_label("Claim or text").fill(WRONG)
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("not complete")
    expect(page.locator("#outcome")).to_have_attribute("data-state", "stopped")
    expect(page.get_by_role("button", name="Check", exact=True)).to_be_enabled()
