"""Fetching public data: resumed, checked, from the first mirror that works."""

from __future__ import annotations

import http.client
import os
import re
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

from adjudge.data.records import Download, DownloadFile, PathLike
from adjudge.errors import DiskFull, DownloadError
from adjudge.io.files import sha256, write_text
from adjudge.io.system import is_disk_full
from adjudge.io.temporary import sweep, temporary_folder

DownloadProgress = Callable[[str, int, int | None], None]
"""Called with the file's name, the bytes it has and the bytes it will have, where the server says."""

SUMS = "SHA256SUMS"
ATTEMPTS = 20
_BLOCK = 1 << 18
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class _Interrupted(Exception):
    """The connection ended early; what arrived is kept."""


def fetch(
    name: str,
    download: Download,
    folder: PathLike,
    progress: DownloadProgress | None = None,
    *,
    timeout: float = 30.0,
) -> tuple[Path, ...]:
    """Make the files of a data set exist in a folder, and say where; files that are there are checked only.

    A file appears under its name only when whole and checked; until then it grows as ``name.part``, from
    which the next fetch goes on. A file whose checksum nobody published is trusted the first time: its
    SHA-256 goes to ``SHA256SUMS`` beside it, and must match from then on.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DownloadError(f"{folder}: cannot be made a folder ({error.strerror}).") from None
    sweep(folder)
    report = progress or (lambda name, done, total: None)
    return tuple(_fetch_file(name, file, folder, report, timeout) for file in download.files)


def _fetch_file(
    name: str, file: DownloadFile, folder: Path, progress: DownloadProgress, timeout: float
) -> Path:
    target = folder / file.name
    expected = file.sha256 or _read_checksums(folder).get(file.name)
    origin = "" if file.sha256 or not expected else f" (recorded in {SUMS} by an earlier fetch)"
    if target.is_file():
        digest = sha256(target)
        if expected not in (None, digest):
            raise DownloadError(
                f"{target}: SHA-256 is {digest}, expected {expected}{origin}. "
                "Delete or rename it, and fetch again for the right file."
            )
        _origin(target).unlink(missing_ok=True)  # of a fetch that was killed just after the file was whole
    else:
        digest = _fetch_from_mirrors(name, file, target, expected, progress, timeout)
    _record_checksum(folder, file.name, digest)
    return _unpack(target, folder / file.unpack) if file.unpack else target


def _fetch_from_mirrors(
    name: str,
    file: DownloadFile,
    target: Path,
    expected: str | None,
    progress: DownloadProgress,
    timeout: float,
) -> str:
    """Download to ``target`` and return its SHA-256."""
    part = target.with_name(f"{target.name}.part")
    origin = _origin(target)
    tried = []
    for url in file.urls:
        if expected is None and not (origin.is_file() and origin.read_bytes() == url.encode()):
            part.unlink(missing_ok=True)  # no checksum would notice two mirrors' halves in one file
        write_text(origin, url)
        try:
            _download(url, part, lambda done, total: progress(file.name, done, total), timeout)
        except (OSError, http.client.HTTPException, _Interrupted) as error:
            tried.append(f"{url}: {_reason(error)}")
            continue
        digest = sha256(part)
        if expected in (None, digest):
            os.replace(part, target)
            origin.unlink()
            return digest
        part.unlink()
        tried.append(f"{url}: the file's SHA-256 is {digest}, expected {expected}")
    attempts = "\n".join(f"  {line}" for line in tried)
    raise DownloadError(
        f"{file.name} of {name!r} could not be fetched:\n{attempts}\n"
        f"If this machine has no network, download the file elsewhere, put it at {target} "
        "and fetch again: it will be checked and used."
    )


def _origin(target: Path) -> Path:
    """Where a file notes the mirror that its first part came from."""
    return target.with_name(f"{target.name}.part.url")


def _download(url: str, part: Path, progress: Callable[[int, int | None], None], timeout: float) -> None:
    """Fill ``part`` from one mirror, going on after interruptions for as long as each try gains bytes."""
    for attempt in range(ATTEMPTS):
        before = _size(part)
        try:
            _request(url, part, progress, timeout)
            return
        except (ConnectionError, TimeoutError, http.client.HTTPException, _Interrupted):
            if attempt == ATTEMPTS - 1 or _size(part) <= before:
                raise


def _request(url: str, part: Path, progress: Callable[[int, int | None], None], timeout: float) -> None:
    """One request, for what ``part`` lacks."""
    start = _size(part)
    # Without "identity", a server may compress, and byte ranges would count compressed bytes.
    headers = {"User-Agent": "adjudge", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        response = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=timeout)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416 and start:  # nothing lies beyond what we have
                if error.headers.get("Content-Range") == f"bytes */{start}":
                    return
                part.unlink()
                raise _Interrupted("the server's file is shorter than what an earlier fetch left") from None
            raise
    with response:
        if response.headers.get_content_type() == "text/html":
            raise _Interrupted("the answer is a web page, not the file")
        start, total = _extent(response, start)
        _append(response, part, start, total, progress)


def _extent(response: http.client.HTTPResponse, start: int) -> tuple[int, int | None]:
    """Where the answer's bytes begin in the file, and how long the file is."""
    length = response.headers.get("Content-Length")
    if response.status != 206:
        return 0, int(length) if length else None
    span = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if span is None or int(span[1]) != start:
        raise _Interrupted("the server answered with another range than asked for")
    return start, None if span[2] == "*" else int(span[2])


def _append(
    response: http.client.HTTPResponse,
    part: Path,
    start: int,
    total: int | None,
    progress: Callable[[int, int | None], None],
) -> None:
    done = start
    progress(done, total)
    with open(part, "r+b" if start else "wb") as stream:
        stream.seek(start)
        while block := response.read(_BLOCK):
            try:
                stream.write(block)
            except OSError as error:
                if is_disk_full(error):
                    raise DiskFull(part, error.strerror or str(error)) from None
                raise DownloadError(f"{part}: cannot be written ({error.strerror}).") from None
            done += len(block)
            progress(done, total)
        stream.flush()
        os.fsync(stream.fileno())
    if total is not None and done != total:
        raise _Interrupted(f"the connection ended after {done} of {total} bytes")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return str(error.reason)
    return str(error) or type(error).__name__


def _read_checksums(folder: Path) -> dict[str, str]:
    """File name → SHA-256, from the list that ``sha256sum --check`` reads too."""
    sums = folder / SUMS
    if not sums.is_file():
        return {}
    try:
        lines = [line.split(maxsplit=1) for line in sums.read_text("utf-8").splitlines() if line.strip()]
        return {name.lstrip("*"): digest for digest, name in lines}
    except ValueError:  # of undecodable bytes too
        raise DownloadError(f"{sums}: a line is not 'checksum  file name'. Correct or delete it.") from None


def _record_checksum(folder: Path, name: str, digest: str) -> None:
    sums = _read_checksums(folder)
    if sums.get(name) != digest:
        sums[name] = digest
        write_text(folder / SUMS, "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)))


def _unpack(archive: Path, folder: Path) -> Path:
    """Unpack beside, then rename: the folder is whole or absent."""
    if folder.is_dir():
        return folder
    try:
        with temporary_folder(folder) as temporary:
            _extract(archive, temporary)
            inside = [item for item in temporary.iterdir() if item.name != "__MACOSX"]
            # An archive of one folder gives that folder's content, whatever it is called inside.
            content = inside[0] if len(inside) == 1 and inside[0].is_dir() else temporary
            content.chmod(0o755)
            os.replace(content, folder)
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError) as error:
        raise DownloadError(f"{archive}: cannot be unpacked ({error}).") from None
    return folder


def _extract(archive: Path, folder: Path) -> None:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
    else:
        with tarfile.open(archive) as bundle:
            bundle.extractall(folder, filter="data")
