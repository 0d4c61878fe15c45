"""The user's cache: only the user may read it, and what is loaded from it must be the user's own."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from adjudge.errors import ConfigError


def user_cache(name: str) -> Path:
    """The place of a folder in the user's cache for adjudge, or in a temporary one.

    The temporary one serves where there is no home that can be written, and where the cache may hold what others
    wrote: verdicts and weights would be theirs.

    Raises:
        ConfigError: neither can be had.
    """
    root = _cache_root()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(root, os.W_OK) and not _foreign_folder(root):
            return root / name
    except OSError:
        pass
    owner = os.getuid() if hasattr(os, "getuid") else os.getlogin()
    root = Path(tempfile.gettempdir()) / f"adjudge-{owner}"
    try:
        root.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{root}: no place for a cache ({error.strerror}). Set XDG_CACHE_HOME to one."
        ) from None
    if problem := foreign(root):
        raise ConfigError(f"{problem} Set XDG_CACHE_HOME to a folder of your own.")
    return root / name


def fetched_cache(name: str) -> Path:
    """The place of a folder in the user's cache that holds what was fetched: it has no substitute.

    The cache may be the administrator's too, as in an image that was prepared for other users.

    Raises:
        ConfigError: the cache may hold what others wrote.
    """
    root = _cache_root()
    try:
        problem = _foreign_folder(root, administrator=True)
    except OSError:  # there is none, or nobody can read it
        problem = None
    if problem:
        raise ConfigError(f"{problem} Set XDG_CACHE_HOME to a folder of your own.")
    return root / name


def _cache_root() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("adjudge")


def _foreign_folder(root: Path, administrator: bool = False) -> str | None:
    """Why a folder, or what a link of the user's own leads to, may hold somebody else's work."""
    if hasattr(os, "getuid") and root.is_symlink() and root.lstat().st_uid not in (os.getuid(), 0):
        return f"{root}: is another user's link."
    return foreign(Path(os.path.realpath(root)), administrator)


def foreign(path: Path, administrator: bool = False) -> str | None:
    """Why what lies here may be somebody else's work: another's, writable by others, or a link.

    Args:
        path: a file or a folder, which exists.
        administrator: whether the administrator's is as good as the user's own.
    """
    if not hasattr(os, "getuid"):
        return None
    attributes = path.lstat()
    if stat.S_ISLNK(attributes.st_mode):
        return f"{path}: is a link."
    if attributes.st_uid != os.getuid() and not (administrator and attributes.st_uid == 0):
        return f"{path}: belongs to another user."
    if attributes.st_mode & 0o022:
        return f"{path}: others may write it (chmod go-w)."
    return None
