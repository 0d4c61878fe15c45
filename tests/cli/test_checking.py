"""The commands that check texts and calibrate judges, as a user types them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from adjudge.io.files import MAX_TEXT
from command import adjudge

TEXT = "# Dormund\n\nThe Vel bridge was opened in 1934. It is 120 metres long. Is it old?\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bridge.md").write_text(
        "The Vel bridge was opened in 1932. It is 120 metres long.\n"
    )
    (tmp_path / "text.md").write_text(TEXT)
    return tmp_path


def refused(*arguments: object, cwd: Path) -> str:
    done = adjudge(*arguments, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


class TestCheck:
    RULES = ("check", "text.md", "--corpus", "docs", "--rules-only")

    def test_the_terminal_shows_states_facts_evidence_and_a_summary(self, folder):
        shown = adjudge(*self.RULES, cwd=folder).stdout
        assert "✗ refuted  The Vel bridge was opened in 1934." in shown
        assert "≠ date: 1934 in the text, 1932 in the evidence" in shown
        assert "» The Vel bridge was opened in 1932.  docs/bridge.md, sentence 1" in shown
        assert "· not checked  Is it old?  (question)" in shown
        assert "4 sentences: 1 supported, 1 refuted, 2 not checked." in shown

    def test_a_few_documents_stand_in_for_a_corpus(self, folder):
        done = adjudge(
            "check", "text.md", "--against", "docs/bridge.md", "--rules-only", "--json", cwd=folder
        )
        record = json.loads(done.stdout)
        assert record["counts"]["REFUTES"] == 1 and record["name"] == "text.md"

    def test_a_model_of_ones_own_judges(self, folder, untrained_run):
        options = ("--corpus", "docs", "--model", untrained_run, "--selector", "lexical", "--json")
        record = json.loads(adjudge("check", "text.md", *options, cwd=folder).stdout)
        (part,) = record["sentences"][1]["parts"]
        assert set(part["probabilities"]) == {"SUPPORTS", "REFUTES", "NOT ENOUGH INFO"}
        assert part["facts"][-1]["outcome"] == "different"

    def test_plain_text_keeps_its_marks(self, folder):
        (folder / "text.txt").write_text("The **Vel** bridge was opened in 1932.")
        options = ("--corpus", "docs", "--rules-only", "--json")
        record = json.loads(adjudge("check", "text.txt", *options, cwd=folder).stdout)
        assert record["sentences"][0]["text"] == "The **Vel** bridge was opened in 1932."

    def test_the_ending_of_out_says_the_format(self, folder):
        for ending, beginning in (
            ("html", "<!doctype html>"),
            ("sarif", "{"),
            ("md", "# Check of"),
            ("jsonl", "{"),
        ):
            done = adjudge(*self.RULES, "--out", f"out.{ending}", cwd=folder)
            assert done.returncode == 0, done.stderr
            assert (folder / f"out.{ending}").read_text("utf-8").startswith(beginning)
        assert "exists" in refused(*self.RULES, "--out", "out.html", cwd=folder)

    def test_fail_on_gives_an_exit_code_and_the_output_all_the_same(self, folder):
        done = adjudge(*self.RULES, "--fail-on", "refuted", cwd=folder)
        assert done.returncode == 1 and "refuted" in done.stdout
        assert "--fail-on refuted: 1 sentence." in done.stderr
        (folder / "text.md").write_text("The Vel bridge was opened in 1932.")
        assert adjudge(*self.RULES, "--fail-on", "unsupported", cwd=folder).returncode == 0

    def test_several_texts_are_checked_one_after_another(self, folder):
        (folder / "b.md").write_text("The Vel bridge was opened in 1932.")
        done = adjudge("check", "text.md", "b.md", "--corpus", "docs", "--rules-only", "--json", cwd=folder)
        assert [record["name"] for record in json.loads(done.stdout)] == ["text.md", "b.md"]

    def test_bad_input_is_refused_in_one_line(self, folder):
        assert "--corpus" in refused("check", "text.md", cwd=folder)
        both = ("--corpus", "docs", "--against", "docs")
        assert "one of the two" in refused("check", "text.md", *both, cwd=folder)
        assert "no such file" in refused("check", "none.md", "--corpus", "docs", "--rules-only", cwd=folder)
        assert "refuted, unsupported" in refused(*self.RULES, "--fail-on", "x", cwd=folder)
        assert "terminal, json" in refused(*self.RULES, "--format", "x", cwd=folder)
        assert "one by one" in refused(*self.RULES, "text.md", "--format", "html", cwd=folder)
        assert "leave out one" in refused(
            *self.RULES, "--no-split", "--splitter-url", "http://x/v1", cwd=folder
        )

    def test_a_text_without_end_or_packed_without_measure_is_refused(self, folder):
        (folder / "packed.md").write_bytes(gzip.compress(b"a" * (MAX_TEXT + 1)))
        assert refused("check", "packed.md", *self.RULES[2:], cwd=folder) == (
            "adjudge: packed.md: has more than 64 MiB, expected what can be read at once. "
            "Check its parts one by one."
        )
        (folder / "cut.md").write_bytes(gzip.compress(TEXT.encode())[:-12])
        assert "cut.md: damaged gzip file" in refused("check", "cut.md", *self.RULES[2:], cwd=folder)

    def test_irrelevant_documents_change_no_state(self, folder):
        before = json.loads(adjudge(*self.RULES, "--json", cwd=folder).stdout)
        for number in range(30):
            text = f"The mill {number} grinds {number + 3} tonnes of wheat a day. Its miller is called Tom."
            (folder / "docs" / f"mill{number}.md").write_text(text)
        after = json.loads(adjudge(*self.RULES, "--json", cwd=folder).stdout)
        states = [[sentence["state"] for sentence in record["sentences"]] for record in (before, after)]
        assert states[0] == states[1]

    def test_rules_only_loads_no_model(self, folder, monkeypatch):
        def refuse(*arguments: object, **named: object) -> None:
            raise AssertionError("a model was loaded")

        monkeypatch.setattr("adjudge.judges.folder.load_model", refuse)
        monkeypatch.setattr("adjudge.retrieval.selectors.load_embedder", refuse)
        monkeypatch.setattr("adjudge.encoders.embedder.load_embedder", refuse)
        assert adjudge(*self.RULES, cwd=folder).returncode == 0


class TestCalibrate:
    def examples(self, folder: Path, count: int) -> Path:
        pages = {
            "SUPPORTS": "The bridge is old.",
            "REFUTES": "The bridge is not old.",
            "NOT ENOUGH INFO": "A dog ran.",
        }
        lines = [
            {
                "id": number,
                "claim": f"The bridge is old {number}.",
                "label": label,
                "evidence": [pages[label]],
            }
            for number, label in enumerate([*pages] * count)
        ]
        path = folder / "labelled.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return path

    def test_a_calibration_says_what_it_gains_and_is_used_as_a_model(self, folder):
        path = self.examples(folder, 12)
        (folder / "rules").mkdir()  # hides no model of the package
        done = adjudge("calibrate", "--examples", path, "--model", "rules", "--out", "mine", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "fitted to 36 claims" in done.stderr and "Use it: --model mine" in done.stderr
        record = json.loads((folder / "mine" / "calibration.json").read_text())
        assert record["model"] == "rules" and record["claims"] == 36
        options = ("--corpus", "docs", "--model", "mine", "--selector", "lexical", "--json")
        checked = adjudge("check", "text.md", *options, cwd=folder)
        assert checked.returncode == 0, checked.stderr
        again = ("calibrate", "--examples", path, "--model", "mine", "--out", "mine", "--force")
        assert "mine: holds a model" in refused(*again, cwd=folder)

    def test_too_few_claims_are_refused(self, folder):
        path = self.examples(folder, 5)
        said = refused("calibrate", "--examples", path, "--model", "rules", "--out", "mine", cwd=folder)
        assert "15 labelled claims (5 SUPPORTS, 5 REFUTES, 5 NOT ENOUGH INFO), expected at least 30." in said
        assert not (folder / "mine").exists()
        assert "--examples FILE" in refused("calibrate", "--out", "mine", cwd=folder)
