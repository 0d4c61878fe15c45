"""What a node lacks is said before it is given work."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.errors import ConfigError
from adjudge.experiments.cluster import Share, check_here, connected, look, marked


@pytest.mark.parametrize("address", ["nonsense", "nowhere:port", "127.0.0.1:1", "ray://127.0.0.1:1"])
def test_an_address_without_a_cluster_is_refused(address: str) -> None:
    pytest.importorskip("ray")
    with (
        pytest.raises(ConfigError, match=f"--ray {address}: no Ray cluster could be joined"),
        connected(address),
    ):
        pass


@pytest.mark.parametrize(
    ("share", "pieces"),
    [
        (Share(cpus=1), 8),
        (Share(cpus=3), 2),
        (Share(cpus=1, gpus=1), 2),
        (Share(cpus=1, gpus=0.5), 4),
        (Share(cpus=5, gpus=0.5), 1),
        (Share(cpus=9), 0),
    ],
)
def test_a_node_has_room_for_what_its_cpus_and_gpus_allow(share: Share, pieces: int) -> None:
    assert share.fits({"CPU": 8.0, "GPU": 2.0, "memory": 1e9}) == pieces


def test_a_node_without_gpus_takes_no_run_that_needs_one() -> None:
    assert Share(cpus=1, gpus=0.25).fits({"CPU": 8.0}) == 0


def test_a_mark_is_seen_by_those_who_share_the_folder_only(tmp_path: Path) -> None:
    with marked(tmp_path / "runs") as mark:
        expected = look([mark])
        check_here(expected)
    assert list((tmp_path / "runs").iterdir()) == []
    with pytest.raises(ConfigError, match=f"Node {expected.node} does not see {mark}. Put it on storage"):
        check_here(expected)


def test_a_file_of_another_length_is_not_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("{}\n")
    expected = look([tmp_path / "train.jsonl", tmp_path])
    (tmp_path / "train.jsonl").write_text("{}\n{}\n")
    with pytest.raises(ConfigError, match="sees something else as .*train.jsonl") as refused:
        check_here(expected)
    assert len(str(refused.value).splitlines()) == 2  # the folder is as it was


def test_builds_of_one_version_are_the_same_and_a_missing_package_is_named(tmp_path: Path) -> None:
    here = look([])
    assert "+" not in str(here.versions["torch"])
    check_here(here)
    with pytest.raises(ConfigError, match="does not have kgat, of which 1.0 is here"):
        check_here(here._replace(versions={**here.versions, "kgat": "1.0"}))
