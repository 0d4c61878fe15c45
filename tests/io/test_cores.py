from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from adjudge.io import cores
from adjudge.io.cores import allowed_threads, available_threads, container_quota, requested_threads


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_version_2_says_quota_and_period(tmp_path: Path):
    write(tmp_path / "cpu.max", "150000 100000\n")
    assert container_quota(tmp_path, "/") == 1.5
    write(tmp_path / "cpu.max", "max 100000\n")
    assert container_quota(tmp_path, "/") is None


def test_version_1_has_a_file_for_each(tmp_path: Path):
    write(tmp_path / "cpu" / "cpu.cfs_quota_us", "50000")
    write(tmp_path / "cpu" / "cpu.cfs_period_us", "100000")
    assert container_quota(tmp_path, "/docker/abc") == 0.5
    write(tmp_path / "cpu" / "cpu.cfs_quota_us", "-1")
    assert container_quota(tmp_path, "/docker/abc") is None


def test_the_least_on_the_way_up_counts(tmp_path: Path):
    write(tmp_path / "a" / "cpu.max", "200000 100000")
    write(tmp_path / "a" / "b" / "cpu.max", "400000 100000")
    assert container_quota(tmp_path, "/a/b") == 2.0


@pytest.mark.parametrize("text", ["", "nonsense", "1 0"])
def test_files_that_cannot_be_read_set_no_limit(tmp_path: Path, text: str):
    write(tmp_path / "cpu.max", text)
    assert container_quota(tmp_path, "/") is None


@pytest.mark.parametrize(
    ("text", "threads"), [("3", 3), ("4,2", 4), ("", None), ("0", None), ("-1", None), ("x", None)]
)
def test_the_users_figure(monkeypatch: pytest.MonkeyPatch, text: str, threads: int | None):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert requested_threads() == threads


@pytest.mark.parametrize(("quota", "threads"), [(None, 8), (0.2, 1), (1.5, 2), (99.0, 8)])
def test_a_quota_is_rounded_up_and_never_more_than_the_cores(
    monkeypatch: pytest.MonkeyPatch, quota: float | None, threads: int
):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    monkeypatch.setattr(cores, "container_quota", lambda: quota)
    assert allowed_threads() == threads


def test_the_users_figure_comes_before_the_machines_and_torchs_before_both(monkeypatch: pytest.MonkeyPatch):
    import torch

    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.setitem(sys.modules, "torch", None)
    assert available_threads() == 5
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setattr(cores, "allowed_threads", lambda: 3)
    assert available_threads() == 3
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert available_threads() == torch.get_num_threads()
