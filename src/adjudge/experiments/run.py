"""One run: settings in, a run folder out. What defines a run names it; a finished one is never repeated."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.config import DataSettings, RunSettings, read_toml, settings_from, to_toml
from adjudge.data.files import sha256, write_json, write_text
from adjudge.data.readers import read_examples_any
from adjudge.data.verdicts import write_verdicts
from adjudge.errors import ConfigError, DataError
from adjudge.evaluation.scoring import Scores, score
from adjudge.experiments.claims import claims_of, dev_claims
from adjudge.types import LabelSet

if TYPE_CHECKING:
    from adjudge.objectives import Objective
    from adjudge.training.checkpoint import Progress, VerdictModel
    from adjudge.training.dataset import Dataset
    from adjudge.training.distributed import Workers
    from adjudge.training.loop import Metric

FILES = ("train", "pages", "dev", "test", "gold")

STOPPED = "stopped.json"
"""Marks a run that was given up before its end; its state stays, and resuming it takes the mark away."""


@dataclass(frozen=True)
class Reporter:
    """What a run says while it works; each is a function, and all do nothing by default."""

    stage: Callable[[str], None] = lambda name: None
    caching: Callable[[int, int], None] = lambda done, total: None
    metric: Callable[[Metric, int], None] = lambda metric, steps: None


def run_id(settings: RunSettings) -> str:
    """The hash of what defines a run: its settings and the content of its files, wherever they lie."""
    values = settings.model_dump(mode="json")
    values["data"] |= data_hashes(settings.data)
    if settings.model.init is not None:
        from adjudge.training.shipped import weights_sha256

        values["model"]["init"] = weights_sha256(settings.model.init)
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def data_hashes(data: DataSettings) -> dict[str, str]:
    """SHA-256 of every file a run reads."""
    paths = {name: getattr(data, name) for name in FILES}
    for path in paths.values():
        if path is not None and not path.is_file():
            raise DataError(f"{path}: {'is a directory' if path.is_dir() else 'no such file'}.")
    return {name: _digest(path, *_stamp(path)) for name, path in paths.items() if path is not None}


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


@functools.lru_cache(maxsize=64)
def _digest(path: Path, size: int, changed: int) -> str:
    """Read once for all runs of a comparison, again when the file has changed."""
    return sha256(path)


def read_settings(folder: Path) -> RunSettings:
    """The settings a run folder was made with."""
    path = folder / "config.toml"
    return settings_from(read_toml(path), str(path))


def read_manifest(folder: Path) -> dict[str, Any]:
    """How a finished run came about."""
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return manifest


def is_finished(folder: Path) -> bool:
    """Whether a run folder holds a whole run."""
    return (folder / "manifest.json").exists()


def execute(
    settings: RunSettings,
    folder: Path,
    *,
    resume: bool = False,
    cache: Path | None = None,
    command: str = "",
    device: str = "auto",
    reporter: Reporter | None = None,
) -> Scores | None:
    """Make a run exist: train, predict the test claims, score them, and write the run folder.

    Args:
        settings: what defines the run; ``data.train`` is required.
        folder: the run folder; refused when it holds another run, unless ``resume``.
        resume: continue an interrupted run of the same settings; a finished one stays as it is.
        cache: where outputs of frozen layers are kept; the user's cache by default.
        command: noted in the manifest.
        device: ``auto``, ``cpu`` or ``cuda``.
        reporter: told what happens.

    Returns:
        The scores on the test claims; None without such a file, and on every worker but the first.
    """
    import torch

    from adjudge.training.checkpoint import load_model
    from adjudge.training.distributed import workers

    reporter = reporter or Reporter()
    identity = run_id(settings)
    if resume and is_finished(folder) and read_manifest(folder)["run"] == identity:
        return _finished_scores(settings.data, folder)
    started = time.time()
    chosen = pick_device(device)
    with workers(chosen) as team:
        if team.is_first:
            _prepare_folder(settings, folder, resume)
        team.wait()
        torch.manual_seed(settings.training.seed)
        told = reporter if team.is_first else Reporter()
        progress = _train(settings, folder, identity, resume, cache, chosen, team, told)
        if not team.is_first:
            return None
    scores = None
    if settings.data.test is not None:
        reporter.stage("predicting")
        model = load_model(folder, settings.training.freeze_layers)
        model.module.to(chosen)
        states = (cache or default_cache()) / "states"
        scores = predict_and_score(model, settings.data, settings.data.test, folder, states)
    write_json(folder / "manifest.json", _manifest(settings, identity, progress, started, command))
    (folder / "resume.safetensors").unlink(missing_ok=True)
    return scores


def _train(
    settings: RunSettings,
    folder: Path,
    identity: str,
    resume: bool,
    cache: Path | None,
    device: Any,
    team: Workers,
    reporter: Reporter,
) -> Progress:
    from adjudge.training.checkpoint import build
    from adjudge.training.dataset import shuffled_evidence
    from adjudge.training.frozen import cached_states
    from adjudge.training.loop import train
    from adjudge.training.shipped import begin_from
    from adjudge.training.tokens import stored_tokens

    labels = settings.data.label_set
    reporter.stage("loading the backbone")
    model = build(
        settings.model, labels, settings.training.freeze_layers, settings.training.freeze_embeddings
    )
    if settings.model.init is not None:
        begin_from(model, settings.model.init)
    model.module.to(device)
    reporter.stage("reading claims")
    claims, tuning = claims_of(settings)
    if settings.model.kind == "concat" and settings.training.shuffle_evidence:
        claims = shuffled_evidence(claims, settings.training.seed)  # one row: the batch cannot reorder it
    stored, source = (cache or default_cache()) / "tokens", _source(settings)
    data = stored_tokens(claims, model.writer, labels, stored, f"train {source}")
    dev = None if tuning is None else stored_tokens(tuning, model.writer, labels, stored, f"dev {source}")
    if settings.training.freeze_layers:
        reporter.stage("caching frozen layers")
        where = (cache or default_cache()) / "states"
        data = cached_states(model.module.backbone, data, where, reporter.caching)
        dev = None if dev is None else cached_states(model.module.backbone, dev, where, reporter.caching)
    reporter.stage("training")
    return train(
        model,
        data,
        dev,
        objective_for(settings, data, labels),
        settings.training,
        folder,
        identity=identity,
        resume=resume,
        workers=team,
        report=reporter.metric,
    )


def _source(settings: RunSettings) -> str:
    """All that decides which examples a run reads, beside how they are written as rows."""
    data = {**settings.data.model_dump(mode="json"), **data_hashes(settings.data)}
    drawn = None if settings.augment is None else settings.augment.model_dump(mode="json")
    one_row = settings.model.kind == "concat" and settings.training.shuffle_evidence
    seed = settings.training.seed if drawn or one_row else None
    return json.dumps([_code_hash(), data, drawn, one_row, seed], sort_keys=True)


def _code_hash() -> str:
    """Of the code that reads and draws examples: after a change of it, kept tokens do not hold any more."""
    package = Path(__file__).parents[1]
    files = [*sorted((package / "data").rglob("*.py")), package / "training" / "rows.py"]
    digest = hashlib.sha256()
    for file in (*files, Path(__file__).with_name("claims.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def objective_for(settings: RunSettings, data: Dataset, labels: LabelSet) -> Objective:
    """The objective of a run, its class weights counted on the claims it trains on."""
    from adjudge.objectives import Objective, class_balanced_weights

    chosen = settings.objective
    weights = None
    if chosen.beta is not None:
        counts = data.class_counts(len(labels))
        # The released code leaves the weights as they come out of Eq. 11.
        weights = class_balanced_weights(counts, chosen.beta, normalise=chosen.variant == "paper")
    return Objective(
        chosen.name,
        lam=chosen.lam,
        weights=weights,
        variant=chosen.variant,
        labels=labels,
        weighting=chosen.weighting,
        normalise=chosen.normalise,
    )


def predict_and_score(
    model: VerdictModel, data: DataSettings, test: Path, folder: Path, states: Path
) -> Scores:
    """Predict the dev claims, for calibration, and the test claims, and score these.

    What frozen layers give is kept in the folder ``states``.
    """
    from adjudge.training.predict import predict

    labels = data.label_set
    if data.dev is not None:
        write_verdicts(
            folder / "dev_predictions.jsonl", predict(model, dev_claims(data, data.dev), states=states)
        )
    examples = read_examples_any(test, labels=labels, require_labels=True)
    write_verdicts(folder / "predictions.jsonl", predict(model, examples, states=states))
    scores = score(folder / "predictions.jsonl", data.gold or test, labels)
    write_json(folder / "scores.json", scores.to_dict())
    return scores


def _finished_scores(data: DataSettings, folder: Path) -> Scores | None:
    if data.test is None:
        return None
    return score(folder / "predictions.jsonl", data.gold or data.test, data.label_set)


def pick_device(name: str) -> Any:
    """The torch device for ``auto``, ``cpu`` or ``cuda``; under torchrun, this worker's own GPU."""
    import os

    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda":
        if not torch.cuda.is_available():
            raise ConfigError("--device cuda: torch finds no GPU here; use --device cpu.")
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return torch.device(name)


def default_cache() -> Path:
    """The user's cache folder for adjudge."""
    from platformdirs import user_cache_path

    return user_cache_path("adjudge")


def _prepare_folder(settings: RunSettings, folder: Path, resume: bool) -> None:
    if is_finished(folder):
        raise ConfigError(f"{folder}: holds a finished run. Choose another folder, or remove it.")
    if (folder / "config.toml").exists() and not resume:
        raise ConfigError(f"{folder}: holds an unfinished run. Continue it with --resume, or remove it.")
    if (folder / "config.toml").exists() and run_id(read_settings(folder)) != run_id(settings):
        raise ConfigError(
            f"{folder}: holds a run of other settings or data. Resume with its own config.toml."
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STOPPED).unlink(missing_ok=True)
    write_text(folder / "config.toml", to_toml(settings))


def _manifest(
    settings: RunSettings, identity: str, progress: Progress, started: float, command: str
) -> dict[str, Any]:
    return {
        "run": identity,
        "command": command,
        "seed": settings.training.seed,
        "data": named_files(settings.data),
        "steps": progress.step,
        "best_step": progress.best_step,
        "best_dev_label_accuracy": None if settings.data.dev is None else progress.best_accuracy,
        **circumstances(started),
    }


def named_files(data: DataSettings) -> dict[str, dict[str, str]]:
    """Where every file of a run lies, and what it held."""
    return {
        name: {"path": str(getattr(data, name)), "sha256": digest}
        for name, digest in data_hashes(data).items()
    }


def circumstances(started: float) -> dict[str, Any]:
    """When something was begun that is now done, how long it took, and what computed it."""
    return {
        "started": datetime.fromtimestamp(started, timezone.utc).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 1),
        "versions": versions(),
        "machine": machine(),
        "git_commit": _git_commit(),
    }


def versions() -> dict[str, str]:
    """Versions of what decides a result."""
    found = {"python": platform.python_version()}
    for package in ("adjudge", "torch", "transformers", "numpy", "scipy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """What a result was computed on."""
    import torch

    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {"system": platform.platform(), "cpu": _cpu(), "threads": torch.get_num_threads(), "gpus": gpus}


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _git_commit() -> str | None:
    """The commit of the source tree adjudge runs from, when it runs from one."""
    try:
        found = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() if found.returncode == 0 else None
