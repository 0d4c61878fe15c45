"""Commands write where they were told to, in the user's mode, without secrets; and nothing goes over the network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from toy import toy_files

SECRET = "hf_do_not_write_this_down"
HOOK = """
import sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise SystemExit(f"tried to reach the network: {event} {arguments}")

sys.addaudithook(refuse)
"""


def run(
    code: str, *arguments: object, cwd: Path, umask: int = 0o022, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run code in a process that may not use the network, and is not told that there is none."""
    told = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))
    }
    return subprocess.run(
        [sys.executable, "-c", HOOK + code, *map(str, arguments)],
        cwd=cwd,
        env={**told, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        umask=umask,
    )


COMMAND = "from adjudge.cli import main; main()"


def files_below(*folders: Path) -> set[Path]:
    return {path for folder in folders for path in folder.rglob("*")}


@pytest.mark.skipif(os.name != "posix", reason="modes as on POSIX")
def test_a_training_writes_only_where_it_was_told_to_and_tells_no_secret(tmp_path: Path) -> None:
    data, home, temporary, work = (tmp_path / name for name in ("data", "home", "temporary", "work"))
    for folder in (data, home, temporary, work):
        folder.mkdir()
    files = toy_files(data)
    before = files_below(data)
    done = run(
        COMMAND,
        *("train", "--train", files["train"], "--dev", files["dev"], "--test", files["test"], "--out", "run"),
        *(
            "--set",
            "model.backbone=tiny",
            "--set",
            "model.max_length=32",
            "--epochs",
            1,
            "--freeze-layers",
            1,
        ),
        cwd=work,
        umask=0o027,
        HOME=str(home),
        XDG_CACHE_HOME=str(home / "cache"),
        TMPDIR=str(temporary),
        TORCHINDUCTOR_CACHE_DIR=str(
            home / "cache"
        ),  # PyTorch makes one when it is imported, by default in TMPDIR
        HF_TOKEN=SECRET,
        MY_PASSWORD=SECRET,
    )
    assert done.returncode == 0, done.stderr
    assert files_below(data) == before and not files_below(temporary)
    assert {path.name for path in work.iterdir()} == {"run"}
    assert {path.relative_to(home).parts[:2] for path in files_below(home) if path.is_file()} == {
        ("cache", "adjudge")
    }
    for path in files_below(work, home):
        mode = path.stat().st_mode & 0o777
        assert not mode & 0o027, f"{path} has mode {mode:o} under a umask of 027"
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path
    assert (home / "cache" / "adjudge").stat().st_mode & 0o777 == 0o700
    assert SECRET not in done.stdout + done.stderr


def test_nothing_is_sent_or_fetched_when_the_package_is_imported_and_used(tmp_path: Path) -> None:
    document = tmp_path / "ferry.txt"
    document.write_text((Path(__file__).parent / "resources" / "documents" / "ferry.txt").read_text())
    everything = (
        "import importlib, pkgutil, adjudge\n"
        "extras = {'cluster', 'integrations'}\n"
        "modules = pkgutil.walk_packages(adjudge.__path__, 'adjudge.')\n"
        "names = [m.name for m in modules if not extras & set(m.name.split('.'))]\n"
        "for name in names:\n    name.endswith('__main__') or importlib.import_module(name)\n"
    )
    done = run(
        everything + COMMAND,
        *("verify", "The Ellery Bridge was opened in 1932.", "--corpus", document, "--json"),
        cwd=tmp_path,
        HOME=str(tmp_path),
        XDG_CACHE_HOME=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert '"label"' in done.stdout


def test_the_hook_sees_an_attempt() -> None:
    done = run("import socket; socket.create_connection(('127.0.0.1', 9))", cwd=Path.cwd())
    assert "tried to reach the network" in done.stderr
