from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from adjudge.judges.folder import load_model
from adjudge.training.distributed import Workers, workers

OPTIONS: dict[str, Any] = {
    "dropout": 0.0,
    "lr": 1e-4,
    "claims": 17,  # steps of 8, 8 and 1: the last has fewer claims than workers
    "batch_size": 2,
    "accumulation": 4,
    "epochs": 2,
    "eval_every": 2,
    "with_dev": False,
}


def losses(folder: Path) -> list[float]:
    return [json.loads(line)["loss"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_two_workers_train_as_one(tiny: ModuleType, tmp_path: Path):
    command = [
        *[sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"],
        *["--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0", "--local-addr", "127.0.0.1"],
        *[str(Path(__file__).parents[1] / "support" / "tiny_run.py"), str(tmp_path / "two")],
        *["--options", json.dumps(OPTIONS)],
    ]
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["finished", "finished"]

    _, _, expected = tiny.run(tmp_path / "one", **OPTIONS)
    assert len(losses(tmp_path / "one")) == 6
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), abs=1e-5)
    found = tiny.comparable(load_model(tmp_path / "two").module.state_dict())
    for name, weight in tiny.comparable(expected).items():
        torch.testing.assert_close(found[name], weight, atol=1e-5, rtol=0, msg=name)


@pytest.mark.parametrize("world", [1, 2, 3, 8])
def test_shares_cover_the_claims_of_a_step_once(world: int):
    claims = list(range(5))
    shares = [Workers(rank, world).share(claims) for rank in range(world)]
    assert sorted(claim for share in shares for claim in share) == claims
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_a_lone_worker_adds_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with workers(torch.device("cpu")) as team:
        assert team == Workers(0, 1) and team.is_first
        value = torch.tensor([1.5])
        assert team.add(value).tolist() == [1.5]
        assert [part.tolist() for part in team.gather(value)] == [[1.5]]
        layer = nn.Linear(2, 1)
        layer(torch.ones(1, 2)).sum().backward()
        team.add_gradients(layer)
        assert layer.weight.grad is not None and layer.weight.grad.tolist() == [[1.0, 1.0]]
        team.wait()
