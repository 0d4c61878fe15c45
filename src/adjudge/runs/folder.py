"""A run folder: its files, what names it, and what it says of itself.

config.toml            the settings
metrics.jsonl          loss and label accuracy, a line a step or evaluation
checkpoint/            the best weights by LA on the tuning claims
resume.safetensors     the state of an unfinished training
stopped.json           in a training that was given up; resuming it removes the file
manifest.json          how the training came about; it is written last and makes the run finished
dev_predictions.jsonl  verdicts on the tuning claims, for calibration
judgements/ID/         for each set of test claims predictions.jsonl, scores.json and, last, judgement.json
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudge.config import DataSettings, RunSettings, read_toml, settings_from, to_toml
from adjudge.errors import ConfigError, DataError
from adjudge.io.files import sha256, write_atomic, write_json, write_text
from adjudge.io.jsonl import decode_object

TRAINING_FILES = ("train", "pages", "dev", "teacher")
EXAMPLE_FILES = ("train", "pages", "dev")
"""Those of them that examples are read from."""
TEST_FILES = ("test", "gold")
FILES = (*TRAINING_FILES, *TEST_FILES)
"""The settings of ``[data]`` that name files."""

SCHEMA = 2
"""Of what a run's identity is made from; raised when a setting or its default changes meaning."""


@dataclass(frozen=True)
class Judgement:
    """A run's verdicts on the claims of one test file, and their scores."""

    path: Path

    @property
    def predictions(self) -> Path:
        """The verdicts."""
        return self.path / "predictions.jsonl"

    @property
    def scores(self) -> Path:
        """What they score."""
        return self.path / "scores.json"

    @property
    def is_finished(self) -> bool:
        """Whether all of it is there."""
        return (self.path / "judgement.json").exists()

    def record(self) -> dict[str, Any]:
        """The files it is about, and its provenance."""
        return _read_json(self.path / "judgement.json")

    def finish(self, record: dict[str, Any]) -> None:
        """From here on it is finished."""
        write_json(self.path / "judgement.json", record)


@dataclass(frozen=True)
class RunFolder:
    """A run on disk, there or not."""

    path: Path

    @property
    def config(self) -> Path:
        """The settings."""
        return self.path / "config.toml"

    @property
    def metrics(self) -> Path:
        """The course of the training."""
        return self.path / "metrics.jsonl"

    @property
    def state(self) -> Path:
        """What an unfinished training goes on from."""
        return self.path / "resume.safetensors"

    @property
    def stopped(self) -> Path:
        """Marks a training that was given up before its end."""
        return self.path / "stopped.json"

    @property
    def dev_predictions(self) -> Path:
        """Verdicts on the tuning claims."""
        return self.path / "dev_predictions.jsonl"

    @property
    def is_finished(self) -> bool:
        """Whether it holds a trained run."""
        return (self.path / "manifest.json").exists()

    def holds(self, identity: str) -> bool:
        """Whether it holds a trained run of this identity."""
        return self.is_finished and self.manifest()["run"] == identity

    def settings(self) -> RunSettings:
        """The settings it was made with."""
        return settings_from(read_toml(self.config), str(self.config))

    def manifest(self) -> dict[str, Any]:
        """How a trained run came about."""
        return _read_json(self.path / "manifest.json")

    def judgement(self, identity: str) -> Judgement:
        """Its verdicts on the test claims of an identity (:func:`judgement_id`), there or not."""
        return Judgement(self.path / "judgements" / identity)

    def check(self, settings: RunSettings, resume: bool) -> None:
        """Refuse a folder in which a run of these settings cannot begin or go on."""
        if self.is_finished:
            raise ConfigError(f"{self.path}: holds a finished run. Choose another folder, or remove it.")
        if not self.config.exists():
            return
        if not resume:
            raise ConfigError(
                f"{self.path}: holds an unfinished run. Continue it with --resume, or remove it."
            )
        if run_id(self.settings()) != run_id(settings):
            raise ConfigError(
                f"{self.path}: holds a run of other settings or data. Resume with its own config.toml."
            )

    def begin(self, settings: RunSettings) -> None:
        """From here on it holds an unfinished run."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.stopped.unlink(missing_ok=True)
        write_text(self.config, to_toml(settings))

    def discard_unbegun(self) -> None:
        """Leave nothing of a run that was refused before its first step."""
        if not self.state.exists() and not (self.metrics.exists() and self.metrics.stat().st_size):
            self.config.unlink(missing_ok=True)
            self.metrics.unlink(missing_ok=True)

    def finish(self, manifest: dict[str, Any]) -> None:
        """From here on it holds a trained run."""
        write_json(self.path / "manifest.json", manifest)
        self.state.unlink(missing_ok=True)

    def show(self, data: DataSettings) -> None:
        """Copy the judgement on these test claims to the top, where a reader of a single run looks for it."""
        judgement = self.judgement(judgement_id(data))
        for source in (judgement.predictions, judgement.scores):
            with write_atomic(self.path / source.name) as stream:
                stream.write(source.read_bytes())


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return decode_object(path.read_bytes(), str(path))
    except DataError as error:
        raise DataError(
            f"{error}\nThe file was damaged: remove {path.parent}, and it is made again."
        ) from None


def run_id(settings: RunSettings) -> str:
    """The hash of what trains a run: settings other than the defaults, and the content of its files.

    Where the files lie does not matter, nor which test claims it will judge.
    """
    values = settings.model_dump(mode="json", exclude_defaults=True)
    data = values.get("data", {})
    hashes = {name: file["sha256"] for name, file in data_files(settings.data, TRAINING_FILES).items()}
    values["data"] = {key: value for key, value in data.items() if key not in FILES} | hashes
    if settings.model.init is not None:
        from adjudge.judges.folder import weights_sha256

        values["model"]["init"] = weights_sha256(settings.model.init)
    return _short_hash({"schema": SCHEMA, **values})


def judgement_id(data: DataSettings) -> str:
    """The hash of what is judged: the content of the test claims and of their gold groups."""
    return _short_hash({name: file["sha256"] for name, file in data_files(data, TEST_FILES).items()})


def _short_hash(values: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def data_files(data: DataSettings, names: Iterable[str] = FILES) -> dict[str, dict[str, str]]:
    """Where the files lie that the settings name, and the SHA-256 of what they hold.

    Raises:
        DataError: a file is not there.
    """
    paths = {name: path for name in names if (path := getattr(data, name)) is not None}
    return {name: {"path": str(path), "sha256": file_hash(path)} for name, path in paths.items()}


def file_hash(path: Path) -> str:
    """SHA-256 of a file: read once for all runs of a comparison, again when the file has changed."""
    if not path.is_file():
        raise DataError(f"{path}: {'is a directory' if path.is_dir() else 'no such file'}.")
    stat = path.stat()
    return _digest(path, stat.st_size, stat.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _digest(path: Path, size: int, changed: int) -> str:
    return sha256(path)
