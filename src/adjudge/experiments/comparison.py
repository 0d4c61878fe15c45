"""A comparison: several runs on the same data, and how each differs from the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from adjudge.config import RunSettings, merge, read_toml, settings_from
from adjudge.errors import ConfigError
from adjudge.evaluation.scoring import Outcome, Scores, outcomes, scores_from_outcomes
from adjudge.evaluation.statistics import McNemar, holm, mcnemar
from adjudge.experiments.run import Reporter, execute, is_finished, run_id
from adjudge.types import MAX_EVIDENCE

FOLDER = Path(__file__).parents[1] / "presets" / "compare"


@dataclass(frozen=True)
class World:
    """Data to be made up before the runs: how many claims, out of which seed, with how many sentences each."""

    claims: int
    seed: int
    sentences: int = MAX_EVIDENCE


@dataclass(frozen=True)
class Plan:
    """The runs of a comparison by name, the baseline first, and the world they need if any."""

    runs: Mapping[str, Mapping[str, Any]]
    world: World | None = None


@dataclass(frozen=True)
class Result:
    """A run of a comparison; ``against`` compares it with the baseline, its p corrected over the table."""

    name: str
    folder: Path
    scores: Scores
    against: McNemar | None = None
    holm_p: float | None = None


def read_plan(source: str) -> Plan:
    """A plan by the name of a preset, or from a TOML file.

    The file has ``[run.*]`` tables that all runs share, one ``[[runs]]`` for each with a ``name`` and
    what it changes, and ``[world]`` when the data is to be made up.
    """
    preset = FOLDER / f"{source}.toml"
    path = preset if preset.is_file() else Path(source)
    if not path.is_file():
        known = ", ".join(sorted(entry.stem for entry in FOLDER.glob("*.toml")))
        raise ConfigError(f"{source!r} is neither a preset ({known}) nor a TOML file.")
    values = read_toml(path)
    if unknown := sorted(set(values) - {"run", "runs", "world"}):
        raise ConfigError(f"{path}: {', '.join(unknown)} is not a table of a comparison (run, runs, world).")
    runs: dict[str, Mapping[str, Any]] = {}
    for number, entry in enumerate(values.get("runs", []), start=1):
        name = entry.pop("name", None)
        if not isinstance(name, str) or name in runs:
            raise ConfigError(f"{path}: [[runs]] {number} needs a name of its own.")
        runs[name] = merge(values.get("run", {}), entry)
    if not runs:
        raise ConfigError(f"{path}: has no [[runs]].")
    return Plan(runs, _world(values.get("world"), path))


def _world(values: Any, path: Path) -> World | None:
    if values is None:
        return None
    known = {field.name for field in fields(World)}
    if not isinstance(values, dict) or not {"claims", "seed"} <= set(values) <= known:
        raise ConfigError(f"{path}: [world] has claims and seed, and may have sentences; found {values}.")
    return World(**values)


def compare(
    plan: Plan,
    folder: Path,
    *,
    cache: Path | None = None,
    command: str = "",
    reporter: Callable[[str, int, int], Reporter] = lambda name, number, total: Reporter(),
) -> list[Result]:
    """Make the missing runs of a plan exist, then compare each with the first.

    Args:
        plan: what to run.
        folder: ``data/`` for a made-up world, ``runs/`` for the run folders.
        cache: where outputs of frozen layers are kept.
        command: noted in the manifests.
        reporter: given a run's name, number and how many there are; what it returns is told of the run.
    """
    data = _data_settings(plan, folder)
    specified = {
        name: settings_from(merge({"data": data}, values), f"run {name!r}")
        for name, values in plan.runs.items()
    }
    for name, settings in specified.items():
        if settings.data.test is None:
            raise ConfigError(f"run {name!r}: data.test is not set, so there is nothing to compare.")
    folders = {name: folder / "runs" / run_id(settings) for name, settings in specified.items()}
    for number, (name, settings) in enumerate(specified.items(), start=1):
        if not is_finished(folders[name]):
            execute(
                settings,
                folders[name],
                resume=True,
                cache=cache or folder / "cache",
                command=command,
                reporter=reporter(name, number, len(specified)),
            )
    return _results(specified, folders)


def _data_settings(plan: Plan, folder: Path) -> dict[str, Any]:
    if plan.world is None:
        return {}
    from adjudge.data.world import generate, save_world

    world = plan.world
    data = folder / "data" / f"world-{world.claims}-{world.seed}-{world.sentences}"
    if not (data / "kinds-test.jsonl").exists():
        save_world(generate(world.claims, world.seed), data, seed=world.seed, most=world.sentences)
    return {
        "train": data / "train.jsonl",
        "dev": data / "tune.jsonl",
        "test": data / "test.jsonl",
        "gold": data / "claims-test.jsonl",
    }


def _results(specified: Mapping[str, RunSettings], folders: Mapping[str, Path]) -> list[Result]:
    judged: dict[str, Sequence[Outcome]] = {}
    for name, settings in specified.items():
        gold = settings.data.gold or settings.data.test
        judged[name] = outcomes(folders[name] / "predictions.jsonl", gold or "", settings.data.label_set)
    names = list(specified)
    baseline = [outcome.correct for outcome in judged[names[0]]]
    tests = [mcnemar(baseline, [outcome.correct for outcome in judged[name]]) for name in names[1:]]
    corrected = holm([test.p_value for test in tests])
    results = []
    for place, name in enumerate(names):
        scores = scores_from_outcomes(judged[name], specified[name].data.label_set)
        against = (tests[place - 1], corrected[place - 1]) if place else (None, None)
        results.append(Result(name, folders[name], scores, *against))
    return results
