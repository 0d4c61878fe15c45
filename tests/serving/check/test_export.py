"""What other programs read of a check."""

from __future__ import annotations

import json
import re

import pytest

from adjudge.serving.check.check import check_text
from adjudge.serving.check.export import EXPORTS, line_and_column, place_of
from adjudge.serving.check.html import blocks_of, to_html
from adjudge.serving.check.records import Check
from adjudge.types import Evidence
from checking import WordJudge, find_evidence

TEXT = """# Dormund <b>

The **Vel bridge** was
opened in 1934. The library holds 48,000 volumes.

- The library holds <script>alert(1)</script> 12,000 volumes.

```
5 < 6 & more
```
"""


@pytest.fixture(scope="module")
def check() -> Check:
    return check_text(TEXT, find_evidence, WordJudge(), name="notes/a b.md")


def test_json_has_every_sentence_with_its_places_and_parts(check):
    record = json.loads(EXPORTS["json"]([check]))
    assert record["counts"]["REFUTES"] == 2 and record["counts"]["SUPPORTS"] == 1
    wrong = record["sentences"][1]
    assert (wrong["state"], wrong["reading"]) == ("REFUTES", "alone")
    assert TEXT[wrong["start"] : wrong["end"]] == "The **Vel bridge** was\nopened in 1934."
    (mark,) = wrong["marks"]
    assert TEXT[mark["start"] : mark["end"]] == mark["text"] == "1934"
    (part,) = wrong["parts"]
    different = next(fact for fact in part["facts"] if fact["outcome"] == "different")
    assert (different["text"], different["evidence"]) == ("1934", "1932")
    assert (
        part["evidence"][different["sentence"]]["text"][
            different["evidence_start"] : different["evidence_end"]
        ]
        == "1932"
    )
    assert record["sentences"][0]["reason"] == "heading"


def test_json_lines_have_one_sentence_each(check):
    lines = EXPORTS["jsonl"]([check]).splitlines()
    assert len(lines) == len(check.sentences)
    assert {json.loads(line)["name"] for line in lines} == {"notes/a b.md"}


def test_markdown_marks_words_and_escapes_what_the_text_has(check):
    page = EXPORTS["md"]([check])
    assert "**1934**" in page and "1932 in the evidence" in page
    assert "\\<script\\>" in page and "<script>" not in page
    assert page.count("\n|") == len(check.sentences) + 2


def test_sarif_has_a_result_for_each_sentence_that_is_not_supported(check):
    log = json.loads(EXPORTS["sarif"]([check]))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert len(run["results"]) == 2
    for result in run["results"]:
        assert result["ruleId"] in rules and result["level"] == "error"
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "notes/a%20b.md"
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    lines = TEXT.split("\n")
    assert lines[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1] == "1934"
    assert TEXT[region["charOffset"] :][: region["charLength"]] == "1934"


def test_github_annotations_are_workflow_commands(check):
    first, second = EXPORTS["github"]([check]).splitlines()
    assert first.startswith(
        "::error file=notes/a b.md,line=4,col=11,endColumn=15,title=adjudge: refuted::Refuted"
    )
    assert "The text has 1934, the evidence 1932." in first
    assert second.startswith("::error ") and "\n" not in second


def test_lines_and_columns_count_from_one():
    assert [line_and_column("ab\ncd", offset) for offset in (0, 1, 3, 4)] == [(1, 1), (1, 2), (2, 1), (2, 2)]


class TestHtml:
    def test_it_is_one_page_that_loads_nothing(self, check):
        page = to_html(check)
        assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)
        assert "@import" not in page and "url(" not in page

    def test_text_is_escaped_and_marks_are_the_only_markup(self, check):
        page = to_html(check)
        assert "<script>alert" not in page and "alert(1)" in page
        assert "5 &lt; 6 &amp; more" in page
        assert "<mark>1934</mark>" in page and '<mark class="against">1932</mark>' in page
        assert "**Vel" not in page

    def test_every_link_has_its_target_and_every_id_is_there_once(self, check):
        page = to_html(check)
        ids = re.findall(r'\sid="([^"]+)"', page)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)

    def test_blocks_are_those_of_the_text(self, check):
        kinds = [block.kind for block in blocks_of(check)]
        assert kinds == ["heading", "paragraph", "list", "code"]

    def test_a_screen_reader_hears_the_state_of_a_sentence(self, check):
        assert 'aria-label="refuted: The Vel bridge was\nopened in 1934."' in to_html(check)

    def test_a_text_without_sentences_has_a_page(self):
        assert "No sentence was checked." in to_html(check_text("", find_evidence, None))


def test_the_place_of_a_sentence_names_the_headings_above_it():
    row = Evidence("Weight: 5 kg", "kettles.md", 3, title="Kettles", section="Kettles: Eagle Y")
    assert place_of(row) == "kettles.md, under “Eagle Y”, sentence 4"
    assert place_of(Evidence("It is old.", "a.txt", 0)) == "a.txt, sentence 1"
    assert place_of(Evidence("It is old.")) == "evidence"
