from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch

from adjudge.encoders import device
from adjudge.encoders.device import FEW_TOKENS, device_name, pick_device, threads_for
from adjudge.errors import ConfigError


@pytest.fixture
def four_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


def test_few_tokens_take_one_thread_and_many_take_all(four_threads: None):
    with threads_for(FEW_TOKENS - 1):
        assert torch.get_num_threads() == 1
    with threads_for(FEW_TOKENS):
        assert torch.get_num_threads() == 4
    assert torch.get_num_threads() == 4


def test_the_number_comes_back_after_blocks_that_overlap(four_threads: None):
    barrier = Barrier(3)

    def work(_: int) -> int:
        with threads_for(1):
            barrier.wait(timeout=30)
            assert torch.get_num_threads() == 1
        return torch.get_num_threads()

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(work, range(3))) == [4, 4, 4]
    assert torch.get_num_threads() == 4


def test_a_quota_limits_torch_unless_the_user_says_otherwise(
    four_threads: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(device, "allowed_threads", lambda: 2)
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    pick_device("cpu")
    assert torch.get_num_threads() == 4
    monkeypatch.delenv("OMP_NUM_THREADS")
    pick_device("cpu")
    assert torch.get_num_threads() == 2


def test_names_of_devices():
    assert device_name("cpu") == device_name("auto") == "cpu" or torch.cuda.is_available()
    with pytest.raises(ConfigError, match="is not one of auto, cpu, cuda"):
        device_name("abacus")


def test_a_name_is_had_without_torch_and_waiting_threads_sleep():
    script = (
        "import os, sys; from adjudge.encoders.device import device_name; device_name('cpu');"
        "print('torch' in sys.modules, os.environ['OMP_WAIT_POLICY'])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["False", "passive"], done.stderr
