from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from adjudge.encoders import device
from adjudge.encoders.device import device_name, pick_device
from adjudge.errors import ConfigError


@pytest.fixture
def four_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


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
