"""The trained runs of a comparison, judged on other claims: a comparison like any, without training again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.config import to_toml
from adjudge.data.files import write_atomic, write_json, write_text
from adjudge.errors import ConfigError
from adjudge.experiments.comparison import Job, side_by_side, write_record
from adjudge.experiments.plan import Arm, Spec
from adjudge.experiments.run import (
    circumstances,
    data_hashes,
    is_finished,
    named_files,
    pick_device,
    predict_and_score,
    read_manifest,
    read_settings,
    run_id,
)
from adjudge.experiments.summary import RECORD, Summary, best_run, read_record, summarise

TAKEN_OVER = ("dev_predictions.jsonl", "metrics.jsonl")
"""What the training alone decides: verdicts on the tuning claims, and the course of loss and LA."""


class Retrial(NamedTuple):
    """A run to be judged, and the folder of the run whose weights judge it."""

    job: Job
    trained: Path


@dataclass(frozen=True)
class Retest:
    """What to judge, and on which claims.

    ``gold`` are the groups of the new test claims; without it there is no FEVER score. ``arms`` is ``all``, or
    ``chosen`` for each arm's run with the best LA on the tuning claims alone.
    """

    comparison: Path
    test: Path
    gold: Path | None = None
    arms: str = "all"


def retest(
    what: Retest,
    folder: Path,
    *,
    title: str | None = None,
    command: str = "",
    protocol: str = "nested",
    cache: Path | None = None,
    processes: int = 1,
    finished: Callable[[Job], None] = lambda job: None,
) -> Summary:
    """Judge the runs of a finished comparison on other claims; finished ones are not judged again.

    Args:
        what: the comparison and the claims.
        folder: gets ``comparison.json`` and ``runs/``, without checkpoints.
        title: the old comparison's by default.
        command: noted in record and manifests.
        protocol: ``nested``, which refuses tuning claims among the new test claims, or ``paper``.
        cache: where outputs of frozen layers are kept; the old comparison's by default.
        processes: how many runs at a time.
        finished: told of every run that is done.

    Raises:
        ConfigError: the comparison is not finished or has no weights, a file changed since the training, or
            ``folder`` holds a comparison that was trained there.
    """
    retrials = prepare_retest(what, folder)
    record = read_record(what.comparison)
    about = {"comparison": str(what.comparison), "runs": len(record["runs"]), "judged": what.arms}
    if title is None:
        title = record["title"]
    write_record(folder, [retrial.job for retrial in retrials], title, command, protocol, trained_in=about)
    work = partial(_judge, test=what.test, cache=cache or what.comparison / "cache", command=command)
    waiting = [retrial for retrial in retrials if not is_finished(retrial.job.folder)]
    if processes > 1:
        side_by_side(processes, work, waiting, lambda retrial: finished(retrial.job))
    else:
        for retrial in waiting:
            work(retrial)
            finished(retrial.job)
    return summarise(folder)


def trained_in(about: Mapping[str, Any]) -> str:
    """Where the runs of a retest come from, and which of them were judged."""
    runs = f"all {about['runs']} runs"
    if about["judged"] == "chosen":
        runs = f"of {about['runs']} runs, each arm's with the best tuning LA"
    return f"{about['comparison']}; judged here without training: {runs}"


def prepare_retest(what: Retest, folder: Path) -> list[Retrial]:
    """The runs to be judged, each with its folder: the hash of what it is, the new claims included."""
    if what.arms not in ("all", "chosen"):
        raise ConfigError(f"--arms {what.arms!r} is neither all nor chosen.")
    if (folder / RECORD).exists() and "trained_in" not in read_record(folder):
        raise ConfigError(f"{folder}: holds a comparison that was trained there. Choose another folder.")
    record = read_record(what.comparison)
    _check_trained(what.comparison, record)
    runs = record["runs"] if what.arms == "all" else _chosen(what.comparison, record["runs"])
    return [_retrial(what, run, folder) for run in runs]


def _check_trained(comparison: Path, record: Mapping[str, Any]) -> None:
    if "trained_in" in record:
        raise ConfigError(
            f"{comparison}: was made by adjudge retest and holds no weights. "
            f"Retest the comparison they were trained in: {record['trained_in']['comparison']}."
        )
    folders = [comparison / "runs" / run["run"] for run in record["runs"]]
    if missing := [path for path in folders if not is_finished(path)]:
        raise ConfigError(
            f"{comparison}: {len(missing)} of its {len(folders)} runs are not finished. "
            f"Finish them first: {record['command'] or 'adjudge compare'}"
        )
    if missing := [path for path in folders if not (path / "checkpoint").is_dir()]:
        raise ConfigError(
            f"{comparison}: {len(missing)} of its {len(folders)} runs have no weights, such as {missing[0]} "
            "(checkpoint/). Bring them back, or train again with adjudge compare in another folder."
        )


def _chosen(comparison: Path, runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each arm's run with the best LA on the tuning claims."""
    arms: dict[Arm, list[dict[str, Any]]] = {}
    for run in runs:
        arms.setdefault(Arm(**run["arm"]), []).append(run)

    def accuracy(run: dict[str, Any]) -> float | None:
        found: float | None = read_manifest(comparison / "runs" / run["run"])["best_dev_label_accuracy"]
        return found

    return [best_run(of_arm, accuracy) for of_arm in arms.values()]


def _retrial(what: Retest, run: Mapping[str, Any], folder: Path) -> Retrial:
    trained = what.comparison / "runs" / run["run"]
    settings = read_settings(trained)
    data = settings.data.model_copy(update={"test": what.test, "gold": what.gold})
    settings = settings.model_copy(update={"data": data})
    hashes, before = data_hashes(data), read_manifest(trained)["data"]
    for name in ("train", "pages", "dev"):
        if name in before and before[name]["sha256"] != hashes.get(name):
            raise ConfigError(
                f"{before[name]['path']}: has changed since {trained} was trained (data.{name}, then SHA-256 "
                f"{before[name]['sha256']}). Bring that file back."
            )
    spec = Spec(Arm(**run["arm"]), run["seed"], settings)
    return Retrial(Job(spec, folder / "runs" / run_id(settings)), trained)


def _judge(retrial: Retrial, test: Path, cache: Path, command: str) -> None:
    """Predict and score the test claims, and write the run folder; its manifest comes last."""
    from adjudge.training.checkpoint import load_model

    (spec, folder), trained = retrial
    started, data = time.time(), spec.settings.data
    write_text(folder / "config.toml", to_toml(spec.settings))
    model = load_model(trained, spec.settings.training.freeze_layers)
    model.module.to(pick_device("auto"))
    predict_and_score(model, data.model_copy(update={"dev": None}), test, folder, cache / "states")
    for name in TAKEN_OVER:
        if (trained / name).exists():
            with write_atomic(folder / name) as stream:
                stream.write((trained / name).read_bytes())
    before = read_manifest(trained)
    about = {
        "run": folder.name,
        "command": command,
        "data": named_files(data),
        "trained_in": {"folder": str(trained), "run": trained.name, "command": before["command"]},
        "prediction": circumstances(started),
    }
    write_json(folder / "manifest.json", {**before, **about})
