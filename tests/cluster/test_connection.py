"""What a node lacks is said before it is given work."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.cluster.connection import WorkerResources, check_node, connect, inspect_node, shared_marker
from adjudge.errors import ConfigError


@pytest.mark.parametrize("address", ["nonsense", "nowhere:port", "127.0.0.1:1", "ray://127.0.0.1:1"])
def test_an_address_without_a_cluster_is_refused(address: str) -> None:
    pytest.importorskip("ray")
    with (
        pytest.raises(ConfigError, match=f"--ray {address}: no Ray cluster could be joined"),
        connect(address),
    ):
        pass


@pytest.mark.parametrize(
    ("share", "pieces"),
    [
        (WorkerResources(cpus=1), 8),
        (WorkerResources(cpus=3), 2),
        (WorkerResources(cpus=1, gpus=1), 2),
        (WorkerResources(cpus=1, gpus=0.5), 4),
        (WorkerResources(cpus=5, gpus=0.5), 1),
        (WorkerResources(cpus=9), 0),
    ],
)
def test_a_node_has_room_for_what_its_cpus_and_gpus_allow(share: WorkerResources, pieces: int) -> None:
    assert share.fits({"CPU": 8.0, "GPU": 2.0, "memory": 1e9}) == pieces


def test_a_node_without_gpus_takes_no_run_that_needs_one() -> None:
    assert WorkerResources(cpus=1, gpus=0.25).fits({"CPU": 8.0}) == 0


def test_a_mark_is_seen_by_those_who_share_the_folder_only(tmp_path: Path) -> None:
    with shared_marker(tmp_path / "runs") as mark:
        expected = inspect_node([mark])
        check_node(expected)
    assert list((tmp_path / "runs").iterdir()) == []
    with pytest.raises(ConfigError, match=f"Node {expected.node} does not see {mark}. Put it on storage"):
        check_node(expected)


def test_a_file_of_another_length_is_not_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("{}\n")
    expected = inspect_node([tmp_path / "train.jsonl", tmp_path])
    (tmp_path / "train.jsonl").write_text("{}\n{}\n")
    with pytest.raises(ConfigError, match="sees something else as .*train.jsonl") as refused:
        check_node(expected)
    assert len(str(refused.value).splitlines()) == 2  # the folder is as it was


def test_builds_of_one_version_are_the_same_and_a_missing_package_is_named(tmp_path: Path) -> None:
    here = inspect_node([])
    assert "+" not in str(here.versions["torch"])
    check_node(here)
    with pytest.raises(ConfigError, match="does not have kgat, of which 1.0 is here"):
        check_node(here._replace(versions={**here.versions, "kgat": "1.0"}))
