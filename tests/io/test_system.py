"""The system's failures are told from damage, and with the file that they concern."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from adjudge.io.files import open_bytes, write_atomic
from adjudge.io.system import is_disk_full, is_limit, system_reason, unusable


@pytest.mark.parametrize(
    ("error", "full", "limit", "reason"),
    [
        (OSError(errno.ENOSPC, "full"), True, False, "No space left on device"),
        (ValueError("no room (os error 28)"), True, False, "No space left on device"),
        (OSError(errno.EMFILE, "files"), False, True, "Too many open files"),
        (ValueError("IoError { io_error: Os { code: 24, kind: X } }"), False, True, "Too many open files"),
        (ValueError("Internal error: 'x (os error 5)'"), False, False, "Input/output error"),
        (OSError(errno.ENOENT, "none"), False, False, None),
        (OSError("without a number"), False, False, None),
        (ValueError("bad header"), False, False, None),
    ],
)
def test_an_error_is_known_by_the_systems_number(
    error: Exception, full: bool, limit: bool, reason: str | None
) -> None:
    assert (is_disk_full(error), is_limit(error), system_reason(error)) == (full, limit, reason)


def test_only_what_could_be_read_is_called_damaged() -> None:
    assert unusable("model", ValueError("bad header")) == "damaged model (bad header)"
    assert unusable("model", OSError(errno.EIO, "EIO")) == "cannot be read (Input/output error)"


def test_an_error_in_reading_or_writing_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n")
    failure = OSError(errno.EIO, os.strerror(errno.EIO))
    with pytest.raises(OSError) as reading, open_bytes(path):
        raise failure
    assert reading.value.filename == str(path)
    in_rust = RuntimeError("Error while serializing: Input/output error (os error 5)")
    for error in (OSError(errno.EIO, os.strerror(errno.EIO)), in_rust):
        with pytest.raises(OSError) as writing, write_atomic(tmp_path / "b"):
            raise error
        assert (writing.value.errno, writing.value.filename) == (errno.EIO, str(tmp_path / "b"))
    with pytest.raises(RuntimeError, match="^of another kind$"), write_atomic(tmp_path / "b"):
        raise RuntimeError("of another kind")
