from __future__ import annotations

import hashlib
import io
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from adjudge.data.download import fetch
from adjudge.data.formats import DOWNLOADS, find_download
from adjudge.data.records import Download, DownloadFile
from adjudge.errors import ConfigError, DownloadError

DATA = bytes(range(256)) * 400  # 102,400 bytes, every block different from its neighbour's middle
DIGEST = hashlib.sha256(DATA).hexdigest()


@dataclass
class Site:
    """A server on this machine: its files, how it misbehaves, and what it was asked."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut_after: list[int] = field(default_factory=list)  # bytes sent by the next answers before hanging up
    ranges: bool = True
    content_type: str = "application/octet-stream"
    asked: list[tuple[str, str | None]] = field(default_factory=list)


def handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            site.asked.append((self.path, wanted))
            body = site.files.get(self.path)
            if body is None:
                self.send_error(404, "Not Found")
                return
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and site.ranges else 0
            if start and start >= len(body):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(body)}")
                self.end_headers()
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            self.send_header("Content-Length", str(len(body) - start))
            self.send_header("Content-Type", site.content_type)
            self.end_headers()
            end = start + site.cut_after.pop(0) if site.cut_after else len(body)
            self.wfile.write(body[start:end])

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("no_proxy", "*")
    site = Site(files={"/data.bin": DATA})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(site))
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    server.shutdown()
    thread.join()
    server.server_close()


def toy(*urls: str, sha256: str | None = DIGEST, name: str = "data.bin", unpack: str | None = None):
    return Download("A toy", (DownloadFile(name, urls, sha256, unpack),), "CC0", "https://example.org")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_fetched_checked_and_recorded(site: Site, tmp_path: Path) -> None:
    seen = []
    paths = fetch(
        "toy", toy(f"{site.url}/data.bin"), tmp_path / "new" / "folder", lambda *step: seen.append(step)
    )
    assert [path.read_bytes() for path in paths] == [DATA]
    assert names(tmp_path / "new" / "folder") == ["SHA256SUMS", "data.bin"]
    assert (tmp_path / "new/folder/SHA256SUMS").read_text() == f"{DIGEST}  data.bin\n"
    assert seen[0] == ("data.bin", 0, len(DATA))
    assert seen[-1] == ("data.bin", len(DATA), len(DATA))


def test_a_file_that_is_there_is_checked_without_asking(site: Site, tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(DATA)
    fetch("toy", toy(f"{site.url}/data.bin"), tmp_path)
    assert site.asked == []


def test_what_a_fetch_left_that_was_killed_at_its_end_is_removed(site: Site, tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(DATA)
    (tmp_path / "data.bin.part.url").write_text(f"{site.url}/data.bin")
    (tmp_path / ".SHA256SUMS.0a1b2c3d.tmp").touch()
    fetch("toy", toy(f"{site.url}/data.bin"), tmp_path)
    assert names(tmp_path) == ["SHA256SUMS", "data.bin"]


def test_a_wrong_file_that_is_there_is_neither_used_nor_overwritten(site: Site, tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"mine")
    with pytest.raises(
        DownloadError, match=rf"data\.bin: SHA-256 is \w+, expected {DIGEST}\. Delete or rename"
    ):
        fetch("toy", toy(f"{site.url}/data.bin"), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == b"mine"


def test_a_connection_cut_midway_is_resumed_where_it_stopped(site: Site, tmp_path: Path) -> None:
    site.cut_after = [1_000, 20_000]
    (path,) = fetch("toy", toy(f"{site.url}/data.bin"), tmp_path)
    assert path.read_bytes() == DATA
    assert [wanted for _, wanted in site.asked] == [None, "bytes=1000-", "bytes=21000-"]


def test_what_an_earlier_fetch_left_is_resumed(site: Site, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").write_bytes(DATA[:777])
    (path,) = fetch("toy", toy(f"{site.url}/data.bin"), tmp_path)
    assert path.read_bytes() == DATA
    assert site.asked == [("/data.bin", "bytes=777-")]
    assert names(tmp_path) == ["SHA256SUMS", "data.bin"]


def test_a_part_that_is_already_whole_is_accepted(site: Site, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").write_bytes(DATA)
    (path,) = fetch("toy", toy(f"{site.url}/data.bin"), tmp_path)
    assert path.read_bytes() == DATA


def test_a_server_without_ranges_is_read_from_the_start(site: Site, tmp_path: Path) -> None:
    site.ranges = False
    (tmp_path / "data.bin.part").write_bytes(b"x" * 777)
    (path,) = fetch("toy", toy(f"{site.url}/data.bin"), tmp_path)
    assert path.read_bytes() == DATA


def test_a_connection_that_always_dies_leaves_its_part_for_the_next_fetch(site: Site, tmp_path: Path) -> None:
    site.cut_after = [5_000, 0, 0, 0]
    with pytest.raises(DownloadError, match="the connection ended after 5000 of 102400 bytes"):
        fetch("toy", toy(f"{site.url}/data.bin"), tmp_path)
    assert (tmp_path / "data.bin.part").read_bytes() == DATA[:5_000]
    assert not (tmp_path / "data.bin").exists()
    site.cut_after = []
    (path,) = fetch("toy", toy(f"{site.url}/data.bin"), tmp_path)
    assert path.read_bytes() == DATA


def test_mirrors_are_tried_in_order(site: Site, tmp_path: Path) -> None:
    site.files["/bad/data.bin"] = b"not the file"
    urls = (f"{site.url}/gone/data.bin", f"{site.url}/bad/data.bin", f"{site.url}/data.bin")
    (path,) = fetch("toy", toy(*urls), tmp_path)
    assert path.read_bytes() == DATA
    assert [asked for asked, _ in site.asked] == ["/gone/data.bin", "/bad/data.bin", "/data.bin"]


def test_a_wrong_checksum_leaves_nothing_behind_that_looks_right(site: Site, tmp_path: Path) -> None:
    site.files["/data.bin"] = b"changed"
    with pytest.raises(DownloadError, match=rf"the file's SHA-256 is \w+, expected {DIGEST}"):
        fetch("toy", toy(f"{site.url}/data.bin"), tmp_path)
    assert not (tmp_path / "data.bin").exists()
    assert not (tmp_path / "data.bin.part").exists()


def test_a_file_without_published_checksum_must_stay_what_it_was(site: Site, tmp_path: Path) -> None:
    download = toy(f"{site.url}/data.bin", sha256=None)
    (path,) = fetch("toy", download, tmp_path)
    fetch("toy", download, tmp_path)
    path.write_bytes(b"tampered")
    with pytest.raises(
        DownloadError, match=rf"expected {DIGEST} \(recorded in SHA256SUMS by an earlier fetch\)"
    ):
        fetch("toy", download, tmp_path)


def test_halves_of_two_mirrors_are_never_joined_unchecked(site: Site, tmp_path: Path) -> None:
    other = bytes(reversed(DATA))
    site.files["/other/data.bin"] = other
    site.cut_after = [5_000, 0]
    urls = (f"{site.url}/data.bin", f"{site.url}/other/data.bin")
    (path,) = fetch("toy", toy(*urls, sha256=None), tmp_path)
    assert path.read_bytes() == other


def test_a_web_page_is_not_taken_for_the_file(site: Site, tmp_path: Path) -> None:
    site.content_type = "text/html; charset=utf-8"
    with pytest.raises(DownloadError, match="the answer is a web page, not the file"):
        fetch("toy", toy(f"{site.url}/data.bin", sha256=None), tmp_path)


def test_offline_each_mirror_and_the_way_by_hand_are_named(site: Site, tmp_path: Path) -> None:
    urls = ("http://127.0.0.1:9/data.bin", f"{site.url}/gone.bin")  # port 9 discards: nobody listens
    with pytest.raises(DownloadError) as caught:
        fetch("toy", toy(*urls), tmp_path)
    message = str(caught.value)
    assert message.startswith("data.bin of 'toy' could not be fetched:")
    assert "  http://127.0.0.1:9/data.bin: " in message
    assert f"  {site.url}/gone.bin: HTTP 404 Not Found" in message
    assert f"put it at {tmp_path / 'data.bin'} and fetch again" in message


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("inner/claims.jsonl", "one\n")
        archive.writestr("__MACOSX/._claims.jsonl", "junk")
    return stream.getvalue()


def tarred(name: str = "data/claims.jsonl") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = 4
        archive.addfile(member, io.BytesIO(b"one\n"))
    return stream.getvalue()


@pytest.mark.parametrize("content", [zipped(), tarred()], ids=["zip", "tar.gz"])
def test_an_archive_is_unpacked_once_into_its_folder(site: Site, tmp_path: Path, content: bytes) -> None:
    site.files["/data.bin"] = content
    download = toy(f"{site.url}/data.bin", sha256=None, unpack="toy")
    assert fetch("toy", download, tmp_path) == (tmp_path / "toy",)
    assert (tmp_path / "toy" / "claims.jsonl").read_text() == "one\n"
    (tmp_path / "toy" / "claims.jsonl").write_text("edited")
    fetch("toy", download, tmp_path)
    assert (tmp_path / "toy" / "claims.jsonl").read_text() == "edited"
    assert names(tmp_path) == ["SHA256SUMS", "data.bin", "toy"]


def test_an_archive_cannot_write_outside_its_folder(site: Site, tmp_path: Path) -> None:
    site.files["/data.bin"] = tarred("../escaped.txt")
    with pytest.raises(DownloadError, match=r"data\.bin: cannot be unpacked"):
        fetch("toy", toy(f"{site.url}/data.bin", sha256=None, unpack="toy"), tmp_path / "in")
    assert names(tmp_path) == ["in"]
    assert names(tmp_path / "in") == ["SHA256SUMS", "data.bin"]


def test_an_unknown_data_set_is_an_error_that_names_the_known() -> None:
    with pytest.raises(ConfigError, match=r"Data set 'fevr' is not one of .*fever, fever-paper, .*"):
        find_download("fevr")


def test_the_table_of_downloads_is_complete() -> None:
    for name, entry in DOWNLOADS.items():
        assert entry.licence and entry.homepage.startswith("https://"), name
        files = [file.name for file in entry.files]
        assert files and len(set(files)) == len(files), name
        for file in entry.files:
            assert file.urls and all(url.startswith("https://") for url in file.urls), name
            assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32, name
