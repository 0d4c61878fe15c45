"""The user's cache is the user's alone, and has a substitute where there is no home."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from adjudge.errors import ConfigError
from adjudge.io.cache import user_cache

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights as on POSIX")


def test_the_cache_is_closed_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert user_cache("indexes").parent.is_relative_to(tmp_path)
    assert stat.S_IMODE(user_cache("indexes").parent.stat().st_mode) == 0o700


def test_without_a_home_that_can_be_written_a_temporary_place_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("no folder")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = user_cache("indexes")
    assert place.parent.parent == tmp_path and stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    place.parent.chmod(0o777)
    with pytest.raises(ConfigError, match="others may write it"):
        user_cache("indexes")
