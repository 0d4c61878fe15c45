from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from adjudge.io import digests
from adjudge.io.digests import digest_of
from adjudge.io.files import sha256


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache" / "digests.json"
    path.parent.mkdir()
    monkeypatch.setattr(digests, "_records_file", lambda: path)
    monkeypatch.setattr(digests, "SETTLED", -1.0)  # files of a test are new
    return path


def forget() -> None:
    digests._digest.cache_clear()


def test_a_file_is_read_once_as_long_as_it_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "weights"
    path.write_bytes(b"one")
    expected = hashlib.sha256(b"one").hexdigest()
    assert digest_of(path) == expected
    forget()
    monkeypatch.setattr(digests, "sha256", lambda path: "read again")
    assert digest_of(path) == expected


def test_new_content_of_the_same_size_and_age_shows(tmp_path: Path):
    path = tmp_path / "weights"
    path.write_bytes(b"one")
    before = path.stat()
    digest_of(path)
    time.sleep(0.02)
    path.write_bytes(b"two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    forget()
    assert digest_of(path) == sha256(path) == hashlib.sha256(b"two").hexdigest()


def test_a_file_that_has_just_changed_is_not_remembered(
    tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(digests, "SETTLED", 60.0)
    (tmp_path / "weights").write_bytes(b"one")
    digest_of(tmp_path / "weights")
    assert not records.exists()


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": 1}', b"[]"])
def test_damaged_records_are_no_records(tmp_path: Path, records: Path, content: bytes):
    records.write_bytes(content)
    (tmp_path / "weights").write_bytes(b"one")
    assert digest_of(tmp_path / "weights") == hashlib.sha256(b"one").hexdigest()


def test_records_that_others_may_write_are_not_believed(tmp_path: Path, records: Path):
    path = tmp_path / "weights"
    path.write_bytes(b"one")
    digest_of(path)
    records.write_bytes(records.read_bytes().replace(hashlib.sha256(b"one").hexdigest().encode(), b"0" * 64))
    forget()
    assert digest_of(path) == "0" * 64  # the user's own word
    records.chmod(0o666)
    forget()
    assert digest_of(path) == hashlib.sha256(b"one").hexdigest()


def test_only_the_last_files_are_remembered(tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(digests, "MOST", 2)
    for name in "abc":
        (tmp_path / name).write_bytes(name.encode())
        digest_of(tmp_path / name)
    assert [Path(name).name for name in digests._read_records()] == ["b", "c"]
