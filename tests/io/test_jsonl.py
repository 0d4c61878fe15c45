"""JSON lines as other programs write them, and as nobody should."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from adjudge.errors import ConfigError, DataError
from adjudge.io.files import refuse_replacing
from adjudge.io.jsonl import MAX_LINE, read_json_lines

LINES = '{"id": 1, "text": "Brücke"}\r\n\r\n{"id": 2}'


def test_the_mark_that_windows_writes_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(LINES.encode("utf-8-sig"))
    assert list(read_json_lines(path)) == [(1, {"id": 1, "text": "Brücke"}), (3, {"id": 2})]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_another_encoding_is_named(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(("" if encoding == "utf-16" else "\ufeff").encode(encoding) + LINES.encode(encoding))
    with pytest.raises(DataError, match="is UTF-16, expected UTF-8"):
        list(read_json_lines(path))


def test_a_line_without_end_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:  # a megabyte that unpacks to 400
        stream.write(b'{"id": 1}\n')
        for _ in range(400):
            stream.write(bytes(1 << 20))
    tracemalloc.start()
    with pytest.raises(
        DataError, match=r"bomb\.jsonl\.gz:2: longer than 32 MiB, expected a record on each line"
    ):
        list(read_json_lines(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * MAX_LINE


def test_a_result_does_not_take_the_place_of_its_input(tmp_path: Path) -> None:
    claims = tmp_path / "claims.jsonl"
    claims.write_text("{}")
    (tmp_path / "link").symlink_to(claims)
    refuse_replacing(claims, tmp_path / "out.jsonl", None)
    for out in (claims, tmp_path / "." / "claims.jsonl", tmp_path / "link"):
        with pytest.raises(ConfigError, match="need a file each"):
            refuse_replacing(claims, out)
    with pytest.raises(ConfigError, match="need a file each"):
        refuse_replacing(claims, tmp_path / "out.jsonl", tmp_path / "out.jsonl")
