"""The user's cache is the user's alone, and has a substitute where there is no home."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from adjudge.errors import ConfigError
from adjudge.io.cache import fetched_cache, user_cache

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


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache for adjudge, closed to others; temporary files go beside it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return user_cache("indexes").parent


def test_a_cache_that_others_can_write_is_not_used(cache: Path, tmp_path: Path) -> None:
    assert not user_cache("indexes").is_relative_to(tmp_path / f"adjudge-{os.getuid()}")
    cache.chmod(0o777)
    assert user_cache("indexes") == tmp_path / f"adjudge-{os.getuid()}" / "indexes"
    with pytest.raises(ConfigError, match=r"others may write it .*Set XDG_CACHE_HOME"):
        fetched_cache("encoders")


@pytest.mark.skipif(
    os.name != "posix" or os.getuid() != 0, reason="giving files away takes the administrator"
)
@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_a_cache_of_another_user_is_not_used(cache: Path, tmp_path: Path, mode: int) -> None:
    cache.chmod(mode)
    os.chown(cache, 54321, 54321)
    assert user_cache("native") == tmp_path / f"adjudge-{os.getuid()}" / "native"
    with pytest.raises(ConfigError, match=r"belongs to another user\. Set XDG_CACHE_HOME"):
        fetched_cache("encoders")


@pytest.mark.skipif(
    os.name != "posix" or os.getuid() != 0, reason="giving files away takes the administrator"
)
def test_a_link_that_another_user_made_is_not_followed(cache: Path, tmp_path: Path) -> None:
    cache.rename(tmp_path / "own")
    cache.symlink_to(tmp_path / "own")
    assert user_cache("native") == cache / "native"  # the user's own link leads where the user wants
    os.chown(cache, 54321, 54321, follow_symlinks=False)
    assert user_cache("native") == tmp_path / f"adjudge-{os.getuid()}" / "native"


def test_what_was_fetched_may_be_the_administrators(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = cache.stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    if owner == 0:
        assert fetched_cache("encoders") == cache / "encoders"
    else:
        with pytest.raises(ConfigError, match="belongs to another user"):
            fetched_cache("encoders")


def test_no_cache_is_needed_to_say_where_an_encoder_would_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    assert fetched_cache("encoders").name == "encoders"
    assert not (tmp_path / "none").exists()
