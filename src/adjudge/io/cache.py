"""The user's cache: only the user may read it, and what is loaded from it must be the user's own."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from adjudge.errors import ConfigError


def user_cache(name: str) -> Path:
    """The place of a folder in the user's cache for adjudge; without a home that can be written, in a temporary one.

    Raises:
        ConfigError: neither can be had.
    """
    from platformdirs import user_cache_path

    root = user_cache_path("adjudge")
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(root, os.W_OK):
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


def foreign(path: Path) -> str | None:
    """Why what lies here may be somebody else's work: another's, writable by others, or a link."""
    if not hasattr(os, "getuid"):
        return None
    attributes = path.lstat()
    if stat.S_ISLNK(attributes.st_mode):
        return f"{path}: is a link."
    if attributes.st_uid != os.getuid():
        return f"{path}: belongs to another user."
    if attributes.st_mode & 0o022:
        return f"{path}: others may write it (chmod go-w)."
    return None
