"""The page read back with lxml."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from lxml import etree, html

from adjudge.evaluation.render import percent
from adjudge.experiments.report.content import Content
from adjudge.experiments.report.html import to_html
from adjudge.experiments.report.sections import build_report

# Over seeds, differences, contradictions, training, calibration, effect of λ.
PLOTS = 6


@pytest.fixture(scope="module")
def page(source: str) -> html.HtmlElement:
    return html.document_fromstring(source)


def text(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def rows(table: html.HtmlElement) -> list[list[str]]:
    return [[text(cell) for cell in row.xpath("./th|./td")] for row in table.xpath("./tbody/tr")]


def test_the_results_are_those_of_the_table(page: html.HtmlElement) -> None:
    (table,) = page.xpath("//table[starts-with(@class, 'results')]")
    assert rows(table) == [
        ["Backbone: my_back$bone<b>"],
        ["CE (baseline)", "–", "41.67", "41.67"],
        ["SR (λ=0.25)", "–", "100.00 (+58.33)*", "100.00 (+58.33)"],
        ["SR (λ=0.5)", "yes", "33.33 (−8.34)", "33.33 (−8.34)"],
    ]
    best = table.xpath(".//td[contains(@class, 'best')]")
    assert [text(cell) for cell in best] == ["100.00 (+58.33)*", "100.00 (+58.33)"]


def test_the_other_tables_hold_the_summarys_figures(page: html.HtmlElement, content: Content) -> None:
    tables = {text(table.find("caption")): table for table in page.xpath("//table[caption]")}
    (shown,) = (rows(table) for caption, table in tables.items() if caption.startswith("Over seeds"))
    arms = content.summary.arms
    assert [row[0] for row in shown] == [arm.arm.name for arm in arms]
    assert [row[-1] for row in shown] == [percent(arm.selected.scores.label_accuracy) for arm in arms]
    (shown,) = (rows(table) for caption, table in tables.items() if caption.startswith("Difference from"))
    tests = [arm.baseline_comparison.test for arm in arms[1:] if arm.baseline_comparison is not None]
    assert [row[4:6] for row in shown] == [[str(test.n10), str(test.n01)] for test in tests]


def test_a_matrix_shades_each_count_by_its_share_of_the_gold_class(page: html.HtmlElement) -> None:
    base = page.xpath("//div[@class='matrix']/table")[0]
    assert rows(base) == [
        ["S", "250%", "250%", "00%"],
        ["R", "250%", "250%", "00%"],
        ["NEI", "375%", "00%", "125%"],
        ["Total", "7", "4", "1"],
    ]
    assert [cell.get("style") for cell in base.xpath(".//tbody/tr[3]/td")] == [
        "--share:0.75",
        "--share:0.0",
        "--share:0.25",
    ]


def test_changed_predictions_are_there_with_verdicts_and_weights(page: html.HtmlElement) -> None:
    (table,) = page.xpath("//details//table")
    shown = rows(table)
    assert len(shown) == 7
    claim, gold, before, after, evidence = shown[0]
    assert claim.startswith("Claim 6 <script>alert(1)</script> | a_b*c*") and claim.endswith("S↔R")
    assert (gold, before, after) == ("S", "R 0.80 ✗wrong", "S 0.80 ✓right")
    assert "Page 6, line 6 · 0.75 → 0.40 gold" in evidence
    assert "Other (page), line 0 · 0.25 → 0.60" in evidence


def test_texts_cannot_become_markup(page: html.HtmlElement, source: str) -> None:
    assert page.xpath("//script|//iframe|//img|//link|//object") == []
    assert not [name for name in page.xpath("//@*") if getattr(name, "attrname", "").startswith("on")]
    assert "<script" not in source
    assert text(page.find("body/header/h1")).startswith("Title \\end{document} <script>alert(1)</script>")


def test_nothing_is_loaded_from_elsewhere(page: html.HtmlElement, source: str) -> None:
    assert page.xpath("//@src") == []
    assert all(target.startswith("#") for target in page.xpath("//@href"))
    assert "@import" not in source
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", source))


def test_every_plot_is_inlined_described_and_made_of_text(page: html.HtmlElement) -> None:
    plots = page.xpath("//figure//*[local-name()='svg']")
    assert len(plots) == PLOTS
    for plot in plots:
        assert plot.getparent().get("role") == "img" and len(plot.getparent().get("aria-label")) > 40
        assert plot.xpath(".//*[local-name()='text']")
    assert all(text(caption) for caption in page.xpath("//figure/figcaption"))
    assert len(page.xpath("//figure/figcaption")) == PLOTS


def test_ids_are_used_once_and_links_lead_somewhere(page: html.HtmlElement) -> None:
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert {target[1:] for target in page.xpath("//@href")} <= set(ids)


def test_tables_are_captioned_and_their_headers_scoped(page: html.HtmlElement) -> None:
    assert all(table.find("caption") is not None for table in page.xpath("//table"))
    assert all(cell.get("scope") for cell in page.xpath("//th"))


def test_light_dark_and_print_are_provided_for(source: str) -> None:
    assert "prefers-color-scheme: dark" in source and "@media print" in source


def test_warnings_are_shown_when_due(content: Content, page: html.HtmlElement) -> None:
    assert [text(note)[:14] for note in page.xpath("//*[@role='note']")] == ["Gold injected."]
    lone = replace(
        content,
        summary=replace(content.summary, arms=content.summary.arms[:1]),
        unfinished=("x<y>, SR: seed 1",),
        lambda_curves=(),
        changes=None,
    )
    shorter = html.document_fromstring(to_html(build_report(lone)))
    assert "x<y>, SR: seed 1" in text(shorter.xpath("//*[@role='note']")[0])
    assert shorter.xpath("//details") == []
    assert len(shorter.xpath("//figure")) == PLOTS - 2  # neither differences nor the effect of λ


def test_the_page_is_well_formed(source: str) -> None:
    body = source[source.index("<body>") : source.index("</html>")]
    body = re.sub(r"&(?!amp;|lt;|gt;|#\d+;|quot;)", "&amp;", body)
    etree.fromstring(body)
