"""Files in the making: whole or not at all, in the user's mode, and swept up after a process that was killed."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.errors import AdjudgeError
from adjudge.io.files import write_atomic, write_text
from adjudge.io.temporary import allocate, sweep, temporary_file, temporary_folder


def killed_while_writing(folder: Path) -> None:
    """A process that was killed in the middle of a file and of a folder."""
    code = (
        "import os, signal; from pathlib import Path;"
        "from adjudge.io.temporary import temporary_file, temporary_folder\n"
        "with temporary_file(Path('a.txt')) as path, temporary_folder(Path('tokens')) as folder:\n"
        "    path.write_text('half'); (folder / 'part').touch(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=folder).returncode == -signal.SIGKILL


def test_what_a_killed_process_left_is_swept_up_and_nothing_else(tmp_path: Path) -> None:
    killed_while_writing(tmp_path)
    write_text(tmp_path / "kept.txt", "whole")
    (tmp_path / ".hidden.tmp").touch()
    assert len(list(tmp_path.iterdir())) == 4
    sweep(tmp_path, "another")
    assert len(list(tmp_path.iterdir())) == 4
    with temporary_file(tmp_path / "b.txt") as path, temporary_folder(tmp_path / "c") as folder:
        sweep(tmp_path)
        assert path.exists() and folder.exists()  # they are being written
        left = {entry.name for entry in tmp_path.iterdir()} - {path.name, folder.name}
    assert left == {"kept.txt", ".hidden.tmp"}
    sweep(tmp_path / "nowhere")


@pytest.mark.skipif(os.name != "posix", reason="modes as on POSIX")
def test_a_folder_that_is_swept_up_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdir = Path.mkdir
    made: list[Path] = []

    def make_and_lose_the_first(path: Path, *args: int, **options: bool) -> None:
        mkdir(path, *args, **options)
        if path.name.endswith(".tmp"):
            made.append(path)
            if len(made) == 1:
                sweep(tmp_path)  # another process, in the moment before the lock

    monkeypatch.setattr(Path, "mkdir", make_and_lose_the_first)
    with temporary_folder(tmp_path / "tokens") as folder:
        assert len(made) == 2 and folder == made[1] and folder.is_dir()


def test_a_file_gets_the_mode_that_the_user_gives_to_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a.txt", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(ZeroDivisionError), write_atomic(tmp_path / "a.txt") as stream:
        stream.write(b"new")
        raise ZeroDivisionError
    assert (tmp_path / "a.txt").read_text() == "old" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        ValueError(f"IoError(No space left on device (os error {errno.ENOSPC}))"),
    ],
)
def test_a_full_disk_is_called_so(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(AdjudgeError, match="the disk is full"), temporary_file(tmp_path / "a.bin"):
        raise error
    assert not list(tmp_path.iterdir())


def test_other_errors_stay_what_they_are(tmp_path: Path) -> None:
    for error in (OSError(errno.EIO, "broken"), ValueError("(os error 2)"), KeyError("x")):
        with pytest.raises(type(error)) as raised, temporary_file(tmp_path / "a.bin"):
            raise error
        assert raised.value is error


@pytest.mark.skipif(sys.platform != "linux", reason="counts blocks as Linux does")
def test_an_allocated_file_has_no_holes(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    allocate(tmp_path / "a", 1 << 20)
    found = (tmp_path / "a").stat()
    assert found.st_size == 1 << 20 and found.st_blocks * 512 >= 1 << 20


def test_a_file_that_a_library_wrote_by_renaming_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    with temporary_file(tmp_path / "out") as temporary:
        other = tmp_path / "other"
        other.write_text("renamed")
        other.chmod(0o600)
        other.replace(temporary)
    plain = tmp_path / "plain"
    plain.write_text("")
    assert (tmp_path / "out").read_text() == "renamed"
    assert (tmp_path / "out").stat().st_mode == plain.stat().st_mode
