from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from adjudge.data.kgat import write_examples
from adjudge.data.verdicts import read_verdicts
from adjudge.errors import ConfigError, DataError
from adjudge.experiments.report import gather
from adjudge.experiments.retest import Retest, prepare_retest, retest
from adjudge.experiments.run import read_manifest, read_settings, run_id
from adjudge.experiments.summary import read_record, summarise
from toy import toy_comparison, toy_examples


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CE and SR, seeds 0 and 1, on claims that lie beside it."""
    return toy_comparison(tmp_path_factory.mktemp("toy"))


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """Six test claims that no run has seen."""
    path = tmp_path / "others.jsonl"
    write_examples(path, toy_examples(6, "another claim"))
    return path


@pytest.fixture
def own(trained: Path, tmp_path: Path) -> Path:
    """The trained comparison, to be harmed."""
    return Path(shutil.copytree(trained, tmp_path / "own"))


def runs(folder: Path) -> list[Path]:
    return [folder / "runs" / run["run"] for run in read_record(folder)["runs"]]


def figures(folder: Path) -> list[object]:
    """All that a comparison found; neither folders nor what was noted of them."""
    rows = summarise(folder).to_dict()["arms"]
    for row in rows:
        for run in (*row["runs"], row["chosen"]):
            del run["folder"]
    return list(rows)


def changed(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("freeze_layers", [0, 1])
def test_the_same_claims_give_the_same_figures(trained: Path, tmp_path: Path, freeze_layers: int) -> None:
    if freeze_layers:
        trained = toy_comparison(tmp_path, freeze_layers)
    retest(Retest(trained, trained.parent / "test.jsonl"), tmp_path / "out")
    assert figures(tmp_path / "out") == figures(trained)
    for old, new in zip(runs(trained), runs(tmp_path / "out"), strict=True):
        for name in ("predictions.jsonl", "dev_predictions.jsonl", "metrics.jsonl", "scores.json"):
            assert (new / name).read_bytes() == (old / name).read_bytes()


def test_runs_are_judged_on_the_other_claims(trained: Path, others: Path, tmp_path: Path) -> None:
    summary = retest(Retest(trained, others), tmp_path / "out", command="adjudge retest")
    assert summary.n == 6 and [len(row.runs) for row in summary.arms] == [2, 2]
    for old, new in zip(runs(trained), runs(tmp_path / "out"), strict=True):
        assert [v.claim for v in read_verdicts(new / "predictions.jsonl")] == [
            f"another claim {i}" for i in range(6)
        ]
        before, after = read_settings(old), read_settings(new)
        assert after.data.test == others
        assert after.model_copy(update={"data": before.data}) == before
        assert new.name == run_id(after) != old.name
        assert not (new / "checkpoint").exists()


def test_the_manifest_names_the_training_and_the_prediction(
    trained: Path, others: Path, tmp_path: Path
) -> None:
    retest(Retest(trained, others), tmp_path / "out", command="adjudge retest x")
    for old, new in zip(runs(trained), runs(tmp_path / "out"), strict=True):
        before, after = read_manifest(old), read_manifest(new)
        for kept in ("seed", "steps", "best_step", "best_dev_label_accuracy", "seconds", "started"):
            assert after[kept] == before[kept]
        assert after["data"]["train"] == before["data"]["train"]
        assert after["data"]["test"]["path"] == str(others)
        assert after["command"] == "adjudge retest x" and after["run"] == new.name
        assert after["trained_in"] == {"folder": str(old), "run": old.name, "command": "adjudge compare toy"}
        assert after["prediction"].keys() == {"started", "seconds", "versions", "machine", "git_commit"}


def test_gold_groups_give_the_fever_score(trained: Path, others: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    # The sentence of every claim is Page i, but for claims 0 and 1, whose gold is elsewhere.
    pages = ["Elsewhere", "Elsewhere", "Page", "Page", "Page", "Page"]
    claims = toy_examples(6)
    lines = [
        {"id": i, "claim": "c", "label": claims[i].label, "evidence": [[[0, 0, pages[i], i]]]}
        for i in range(6)
    ]
    gold.write_text("".join(json.dumps(line) + "\n" for line in lines))
    summary = retest(Retest(trained, others, gold), tmp_path / "out")
    for row in summary.arms:
        for run in row.runs:
            said = [v.label for v in read_verdicts(tmp_path / "out" / run.folder / "predictions.jsonl")]
            right = [i for i in range(6) if said[i] == claims[i].label]
            assert run.scores.label_accuracy == pytest.approx(len(right) / 6)
            assert run.scores.fever_score == pytest.approx(len([i for i in right if i > 1]) / 6)


def test_chosen_judges_the_best_run_of_each_arm(own: Path, others: Path, tmp_path: Path) -> None:
    best = {"ce": 1, "sr": 0}  # the seed with the higher LA on the tuning claims
    for run, entry in zip(runs(own), read_record(own)["runs"], strict=True):
        accuracy = 0.9 if entry["seed"] == best[entry["arm"]["objective"]] else 0.1
        manifest = {**read_manifest(run), "best_dev_label_accuracy": accuracy}
        (run / "manifest.json").write_text(json.dumps(manifest))
    summary = retest(Retest(own, others, arms="chosen"), tmp_path / "out")
    assert {row.arm.objective: [run.seed for run in row.runs] for row in summary.arms} == {
        "ce": [1],
        "sr": [0],
    }
    chosen = [str(path) for path in runs(tmp_path / "out")]
    retest(Retest(own, others), tmp_path / "out")
    assert {str(path) for path in runs(tmp_path / "out")} > set(chosen)


def test_only_what_is_missing_is_judged(trained: Path, others: Path, tmp_path: Path) -> None:
    told: list[str] = []
    first = retest(Retest(trained, others), tmp_path / "out").to_dict()
    gone, *kept = runs(tmp_path / "out")
    (gone / "manifest.json").unlink()
    made = {path: changed(path) for path in kept}
    again = retest(
        Retest(trained, others), tmp_path / "out", finished=lambda job: told.append(job.folder.name)
    )
    assert told == [gone.name]
    assert {path: changed(path) for path in kept} == made
    assert again.to_dict()["arms"] == first["arms"]


def test_a_process_of_its_own_gives_what_this_one_gives(trained: Path, others: Path, tmp_path: Path) -> None:
    told: list[str] = []
    what = Retest(trained, others, arms="chosen")
    retest(what, tmp_path / "out")
    here = figures(tmp_path / "out")
    shutil.rmtree(runs(tmp_path / "out")[1])
    retest(what, tmp_path / "out", processes=2, finished=lambda job: told.append(job.spec.arm.name))
    assert told == ["SR"]
    assert figures(tmp_path / "out") == here


def test_states_of_frozen_layers_are_kept_with_the_comparison(tmp_path: Path, others: Path) -> None:
    trained = toy_comparison(tmp_path, freeze_layers=1)
    before = set((trained / "cache" / "states").iterdir())
    retest(Retest(trained, others), tmp_path / "out")
    # All four runs froze the same layer: one more file, of the new claims.
    assert len(set((trained / "cache" / "states").iterdir()) - before) == 1
    retest(Retest(trained, others), tmp_path / "elsewhere", cache=tmp_path / "kept")
    assert len(list((tmp_path / "kept" / "states").iterdir())) == 1


def test_the_report_says_which_claims_and_where_it_was_trained(
    trained: Path, others: Path, tmp_path: Path
) -> None:
    retest(Retest(trained, others, arms="chosen"), tmp_path / "out", title="New", command="adjudge retest x")
    content = gather(tmp_path / "out")
    said = dict(content.protocol)
    digest = read_manifest(runs(tmp_path / "out")[0])["data"]["test"]["sha256"]
    assert content.title == "New" and said["Test claims"] == "6" and said["Command"] == "adjudge retest x"
    assert said["Data, test"] == f"{others} (SHA-256 {digest})"
    assert said["Selection"].startswith("nested")
    assert str(trained) in said["Trained in"] and "of 4 runs" in said["Trained in"]
    assert "torch" in said["Judged with"] and "cpu" in said["Judged on"]
    assert all(curves for curves in content.curves.values())
    assert "Trained in" not in dict(gather(trained).protocol)


def test_a_comparison_that_is_not_finished_is_refused(own: Path, others: Path, tmp_path: Path) -> None:
    (runs(own)[2] / "manifest.json").unlink()
    with pytest.raises(ConfigError, match=r"1 of its 4 runs are not finished.*adjudge compare toy"):
        retest(Retest(own, others), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_runs_without_weights_are_refused(own: Path, others: Path, tmp_path: Path) -> None:
    shutil.rmtree(runs(own)[0] / "checkpoint")
    with pytest.raises(ConfigError, match="1 of its 4 runs have no weights"):
        prepare_retest(Retest(own, others), tmp_path / "out")


def test_a_retest_is_not_retested(trained: Path, others: Path, tmp_path: Path) -> None:
    retest(Retest(trained, others, arms="chosen"), tmp_path / "out")
    with pytest.raises(ConfigError, match=f"holds no weights.*{trained}"):
        prepare_retest(Retest(tmp_path / "out", others), tmp_path / "again")


def test_a_trained_comparison_is_not_overwritten(trained: Path, others: Path) -> None:
    record = (trained / "comparison.json").read_bytes()
    with pytest.raises(ConfigError, match="trained there"):
        retest(Retest(trained, others), trained)
    assert (trained / "comparison.json").read_bytes() == record


def test_tuning_claims_among_the_new_claims_are_refused(trained: Path, tmp_path: Path) -> None:
    tuning = trained.parent / "dev.jsonl"
    with pytest.raises(ConfigError, match=r"(?s)9 claims .*--protocol paper"):
        retest(Retest(trained, tuning), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    summary = retest(Retest(trained, tuning, arms="chosen"), tmp_path / "out", protocol="paper")
    assert summary.protocol["selection"].startswith("paper")


def test_tuning_claims_that_changed_since_are_refused(own: Path, others: Path, tmp_path: Path) -> None:
    write_examples(tmp_path / "dev.jsonl", toy_examples(8, "dev claim"))
    for run in runs(own):
        settings = read_settings(run)
        config = (run / "config.toml").read_text()
        (run / "config.toml").write_text(config.replace(str(settings.data.dev), str(tmp_path / "dev.jsonl")))
    with pytest.raises(ConfigError, match=r"has changed since .* \(data\.dev"):
        prepare_retest(Retest(own, others), tmp_path / "out")


def test_what_is_not_there_is_named(trained: Path, others: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere: holds no comparison"):
        prepare_retest(Retest(tmp_path / "nowhere", others), tmp_path / "out")
    with pytest.raises(DataError, match=r"none\.jsonl: no such file"):
        prepare_retest(Retest(trained, tmp_path / "none.jsonl"), tmp_path / "out")
    with pytest.raises(ConfigError, match="'best' is neither all nor chosen"):
        prepare_retest(Retest(trained, others, arms="best"), tmp_path / "out")
