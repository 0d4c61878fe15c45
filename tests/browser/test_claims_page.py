"""Many claims in the browser: files of several kinds, progress, sorting, filters, downloads."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browsing import OpenPage

CLAIMS = {
    "b": "The Ellery Bridge was opened to traffic in 1934.",
    "a": "Members may borrow ten books at a time.",
    "c": "Is the library closed?",
    "d": "=1+1 crowns is what an adult ticket costs.",
}


def as_csv(path: Path) -> Path:
    with path.open("w", newline="") as out:
        csv.writer(out).writerows(
            [("id", "claim", "note"), *((key, text, "") for key, text in CLAIMS.items())]
        )
    return path


def run(page: Page, path: Path) -> None:
    page.get_by_label("File of claims").set_input_files(path)
    page.get_by_role("button", name="Check 4 claims").click()
    expect(page.locator("#rows tr")).to_have_count(4)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


def column(page: Page, number: int) -> list[str]:
    return page.locator(f"#rows tr td:nth-child({number})").all_text_contents()


def test_a_table_is_checked_in_its_order_with_its_ids(
    open_page: OpenPage, address: str, tmp_path: Path
) -> None:
    page = open_page(f"{address}/claims")
    run(page, as_csv(tmp_path / "claims.csv"))
    assert column(page, 1) == list(CLAIMS) and column(page, 2) == list(CLAIMS.values())
    assert column(page, 3)[:3] == ["refuted", "supported", "not checked"]
    assert "14 May 1932" in column(page, 5)[0] and column(page, 5)[2] == "question"
    expect(page.locator("#progress-text")).to_have_text("4 claims")


def test_the_verdict_of_a_row_is_that_of_its_own_page(
    open_page: OpenPage, address: str, tmp_path: Path
) -> None:
    page = open_page(f"{address}/claims")
    run(page, as_csv(tmp_path / "claims.csv"))
    share = column(page, 4)[0]
    page.get_by_role("link", name=CLAIMS["b"]).click()
    expect(page.locator(".card.current .card-head .badge")).to_have_text("refuted")
    assert share in page.locator(".card.current .legend b").all_text_contents()


def test_rows_can_be_sorted_and_filtered(open_page: OpenPage, address: str, tmp_path: Path) -> None:
    page = open_page(f"{address}/claims")
    run(page, as_csv(tmp_path / "claims.csv"))
    head = page.get_by_role("columnheader", name="id", exact=True)
    head.get_by_role("button").click()
    assert column(page, 1) == ["a", "b", "c", "d"]
    expect(head).to_have_attribute("aria-sort", "ascending")
    head.get_by_role("button").click()
    assert column(page, 1) == ["d", "c", "b", "a"]
    page.get_by_role("columnheader", name="verdict").get_by_role("button").click()
    assert column(page, 3)[0] == "supported" and column(page, 3)[-1] == "not checked"
    page.get_by_role("button", name="1 supported").click()
    assert column(page, 1) == ["a"]
    page.get_by_role("button", name="1 supported").click()
    page.get_by_label("Filter by words").fill("LIBRARY")
    assert "c" in column(page, 1) and "d" not in column(page, 1)
    page.get_by_label("Filter by words").fill("nothing like it")
    expect(page.get_by_text("No claim matches the filter.")).to_be_visible()


def test_verdicts_can_be_downloaded_and_a_spreadsheet_computes_nothing(
    open_page: OpenPage, address: str, tmp_path: Path
) -> None:
    page = open_page(f"{address}/claims")
    run(page, as_csv(tmp_path / "claims.csv"))
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8"), newline="")))
    assert [row["id"] for row in rows] == list(CLAIMS)
    assert rows[0]["verdict"] == "REFUTES" and float(rows[0]["p refutes"]) == float(rows[0]["probability"])
    assert rows[3]["claim"] == "'" + CLAIMS["d"]
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON Lines").click()
    records = [json.loads(line) for line in download.value.path().read_text("utf-8").splitlines()]
    assert {record["id"]: record["claim"] for record in records} == CLAIMS


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("claims.jsonl", '{"id": 7, "claim": "It is \\"red\\"."}\n\n{"claim": "It is blue."}\n'),
        ("claims.csv", '\ufeffclaim;id\r\n"It is ""red"".";7\r\nIt is blue.;\r\n'),
        ("claims.tsv", 'id\tclaim\n7\t"It is ""red""."\n\tIt is blue.\n'),
    ],
)
def test_files_of_several_kinds_are_read(
    open_page: OpenPage, address: str, tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    page = open_page(f"{address}/claims")
    page.get_by_label("File of claims").set_input_files(tmp_path / name)
    page.get_by_role("button", name="Check 2 claims").click()
    expect(page.locator("#rows tr")).to_have_count(2)
    assert column(page, 1) == ["7", "2"]  # a claim without an id has its number
    assert column(page, 2) == ['It is "red".', "It is blue."]


def test_a_plain_list_is_a_table_of_claims(open_page: OpenPage, address: str, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("It is red.\nIt is blue.\n")
    page = open_page(f"{address}/claims")
    page.get_by_label("File of claims").set_input_files(tmp_path / "list.txt")
    page.get_by_role("button", name="Check 2 claims").click()
    expect(page.locator("#rows tr")).to_have_count(2)


def test_another_column_can_be_chosen(open_page: OpenPage, address: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("who,what\nAnn,It is red.\nBob,It is blue.\n")
    page = open_page(f"{address}/claims")
    page.get_by_label("File of claims").set_input_files(tmp_path / "table.csv")
    expect(page.get_by_role("alert")).to_contain_text("Choose the column")
    page.get_by_label("Column with the claims").select_option("what")
    page.get_by_role("button", name="Check 2 claims").click()
    expect(page.locator("#rows tr")).to_have_count(2)
    assert column(page, 2) == ["It is red.", "It is blue."]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("broken.jsonl", '{"claim": "a"}\n{"claim": \n', "Line 2 is not JSON"),
        ("open.csv", 'claim\n"never closed\n', "nothing closes it"),
        ("empty.csv", "", "holds no claims"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_the_reason(
    open_page: OpenPage, address: str, tmp_path: Path, name: str, content: str, words: str
) -> None:
    (tmp_path / name).write_text(content)
    page = open_page(f"{address}/claims")
    page.get_by_label("File of claims").set_input_files(tmp_path / name)
    expect(page.get_by_role("alert")).to_contain_text(words)
    expect(page.locator("#start")).to_be_hidden()


def test_a_running_check_can_be_stopped_and_long_tables_are_shown_in_pages(
    open_page: OpenPage, graph_address: str, graph_judge: Any, tmp_path: Path
) -> None:
    # The judge keeps the later ones back, so that the check is still running when it is stopped.
    lines = [
        json.dumps({"claim": f"The {'waiting ' if n >= 150 else ''}ferry carries {n} passengers."})
        for n in range(2000)
    ]
    (tmp_path / "many.jsonl").write_text("\n".join(lines))
    page = open_page(f"{graph_address}/claims")
    page.get_by_label("File of claims").set_input_files(tmp_path / "many.jsonl")
    page.get_by_role("button", name="Check 2,000 claims").click()
    expect(page.locator("#more")).to_be_visible()  # more than the 100 rows of a page
    assert page.locator("#rows tr").count() == 100
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Check again")).to_be_visible()
    graph_judge.gate.set()
    assert "of" not in page.locator("#progress-text").inner_text()
    page.get_by_role("button", name="Show more").click()
    assert page.locator("#rows tr").count() > 100
