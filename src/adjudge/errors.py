"""One exception tree. Every message says where, what was found, what was expected, what to do."""

from __future__ import annotations


class AdjudgeError(Exception):
    """Anything adjudge can say about bad input; the command line prints it and exits with 2."""


class DataError(AdjudgeError, ValueError):
    """A file or record is not what its format promises."""


class ConfigError(AdjudgeError, ValueError):
    """A setting is unknown, out of range or contradicts another."""


class ScoringError(AdjudgeError, ValueError):
    """Predictions and gold cannot be compared as they stand."""


class TrainingError(AdjudgeError, RuntimeError):
    """Training cannot go on: it diverged, or a run folder cannot be resumed."""


class DownloadError(AdjudgeError, RuntimeError):
    """A file could not be fetched, or is not the file it should be."""


class DiskFull(AdjudgeError, RuntimeError):
    """There is no room for a file; what was there before is unchanged."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(
            f"{path}: the disk is full, or a limit of space is reached ({reason}). What was there is unchanged: "
            "make room, or choose another disk, and give the command again."
        )


class MissingExtra(AdjudgeError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what}: pip install "adjudge[{extra}]".')
