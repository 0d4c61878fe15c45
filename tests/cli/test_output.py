"""Where no output can be written, a command ends with one line and exit code 2; what was there stays."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.errors import ConfigError
from adjudge.io.files import write_text
from command import Done, adjudge
from small_disk import small_disk
from toy import toy_files


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def check_refusal(done: Done) -> None:
    assert done.returncode == 2 and "disk" in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_an_index_stays_as_it_was(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("Apples are red.")
    with small_disk(tmp_path / "disk", "400k") as disk:
        assert adjudge("index", docs, "--out", disk / "index", "--no-vectors").returncode == 0
        before = names(disk)
        (docs / "b.txt").write_text(" ".join(f"Sentence {n} {os.urandom(20).hex()}." for n in range(20_000)))
        check_refusal(adjudge("index", docs, "--out", disk / "index", "--no-vectors"))
        assert names(disk) == before
        check_refusal(adjudge("index", docs, "--out", disk / "new", "--no-vectors"))
        assert names(disk) == before
        found = adjudge("search", "apples", "--corpus", disk / "index", "--selector", "lexical", "--json")
        assert "Apples are red." in found.stdout


def test_an_index_with_vectors_stays_as_it_was_and_goes_on_where_there_is_room(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("Apples are red.")
    command = ["index", docs, "--embedder", "tiny", "--out"]
    with small_disk(tmp_path / "disk", "600k") as disk:
        assert adjudge(*command, disk / "index").returncode == 0
        before = names(disk)
        (docs / "b.txt").write_text(" ".join(f"Sentence {n} {os.urandom(8).hex()}." for n in range(3_000)))
        check_refusal(adjudge(*command, disk / "index"))
        journal = {name for name in names(disk) if ".embedding" in name}  # what is embedded is kept to go on
        assert set(names(disk)) == {*before, *journal}
        shown = adjudge("search", "apples", "--corpus", disk / "index", "--selector", "lexical", "--json")
        assert "Apples are red." in shown.stdout
        subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
        assert "3001 sentences" in adjudge(*command, disk / "index").stdout.replace(",", "")
        assert not [name for name in names(disk) if ".embedding" in name or name.endswith(".tmp")]


def test_verdicts_in_bulk_are_kept_and_gone_on_from(tmp_path: Path, untrained_run: Path) -> None:
    (tmp_path / "a.txt").write_text("Apples are red.")
    lines = [f'{{"id": {n}, "claim": "Apples number {n} are red."}}\n' for n in range(120)]
    (tmp_path / "claims.jsonl").write_text("".join(lines))
    assert adjudge("index", tmp_path / "a.txt", "--out", tmp_path / "index", "--no-vectors").returncode == 0
    command = ["verify", "--claims", tmp_path / "claims.jsonl", "--corpus", tmp_path / "index"]
    command += ["--model", untrained_run, "--selector", "lexical", "--out"]
    assert adjudge(*command, tmp_path / "whole.jsonl").returncode == 0
    with small_disk(tmp_path / "disk", "32k") as disk:
        check_refusal(adjudge(*command, disk / "out.jsonl"))
        kept = list((disk / "out.jsonl.parts").glob("*.jsonl"))
        assert kept and not (disk / "out.jsonl").exists()
        assert not [name for name in names(disk) if name.endswith(".tmp")]
        subprocess.run(["mount", "-o", "remount,size=5m", disk], check=True)
        assert "from an interrupted job" in adjudge(*command, disk / "out.jsonl").stderr
        assert (disk / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize("size", ["150k", "400k"])
def test_a_training_ends_in_words_wherever_the_room_ends(tmp_path: Path, size: str) -> None:
    files = toy_files(tmp_path)
    options = [
        "--set",
        "model.backbone=tiny",
        "--set",
        "model.max_length=32",
        "--epochs",
        1,
        "--batch-size",
        8,
    ]
    with small_disk(tmp_path / "disk", size) as disk:
        command = ["train", "--train", files["train"], "--dev", files["dev"], *options, "--freeze-layers", 1]
        check_refusal(adjudge(*command, "--out", disk / "run", "--cache", disk / "cache"))
        assert not [name for name in names(disk) if name.endswith(".tmp")]


def test_frozen_layers_are_not_written_through_holes(tmp_path: Path) -> None:
    """A memory map of a file with holes would end in SIGBUS, so the command runs in a process of its own."""
    files = toy_files(tmp_path)
    command = ["train", "--train", files["train"], "--out", tmp_path / "run", "--freeze-layers", "1"]
    command += ["--set", "model.backbone=tiny", "--set", "model.max_length=32", "--epochs", "1"]
    with small_disk(tmp_path / "disk", "48k") as disk:
        done = subprocess.run(
            [sys.executable, "-m", "adjudge", *map(str, command), "--cache", str(disk)],
            capture_output=True,
            text=True,
        )
        check_refusal(Done(done.returncode, done.stdout, done.stderr))
        assert not [name for name in names(disk) if name.endswith(".tmp")]
    assert not (tmp_path / "run").exists()


def test_a_folder_in_the_place_of_an_output_file_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "claims.jsonl").write_text('{"id": 1, "claim": "a"}')
    command = [
        "verify",
        "--claims",
        tmp_path / "claims.jsonl",
        "--corpus",
        tmp_path,
        "--out",
        tmp_path / "out",
    ]
    for force in ([], ["--force"]):
        done = adjudge(*command, *force)
        assert done.returncode == 2 and "is a folder, expected the name of a file" in done.stderr
    done = adjudge("check", tmp_path / "claims.jsonl", "--against", tmp_path, "--out", tmp_path / "out")
    assert done.returncode == 2 and "is a folder, expected the name of a file" in done.stderr


def test_verdicts_do_not_take_the_place_of_the_claims(tmp_path: Path) -> None:
    claims = tmp_path / "claims.jsonl"
    claims.write_text('{"id": 1, "claim": "a"}')
    for command in (("verify", "--claims", claims, "--corpus", tmp_path), ("predict", "small", claims)):
        done = adjudge(*command, "--out", claims, "--force")
        assert done.returncode == 2 and "need a file each" in done.stderr
    assert claims.read_text() == '{"id": 1, "claim": "a"}'


def test_an_output_that_cannot_be_written_is_no_traceback() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "adjudge", "model", "list", "--json"], stdout=full, stderr=subprocess.PIPE
        )
    check_refusal(Done(done.returncode, "", done.stderr.decode()))


@pytest.mark.skipif(os.name != "posix", reason="pipes as on POSIX")
def test_a_device_or_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "claims.jsonl").write_text('{"id": 1, "claim": "Apples are red."}\n')
    command = ("verify", "--claims", tmp_path / "claims.jsonl", "--corpus", tmp_path / "docs", "--force")
    done = adjudge(*command, "--out", tmp_path / "pipe")
    assert done.returncode == 2 and f"{tmp_path / 'pipe'}: is not an ordinary file" in done.stderr
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    with pytest.raises(ConfigError, match="is not an ordinary file"):
        write_text(tmp_path / "pipe", "text")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."),
        ImportError("libtorch_cpu.so: failed to map segment from shared object"),
    ],
)
def test_short_memory_is_no_traceback(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("adjudge.cli._selected", lambda arguments: fail)
    done = adjudge("index", "docs")
    assert done.returncode == 2 and done.stderr.startswith("adjudge: there is not enough memory")
