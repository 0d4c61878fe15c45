"""The native library against naive loops, and plain PyTorch where the library cannot be had."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from adjudge.encoders import kernels, native
from adjudge.encoders.kernels import kernel_grid, kernel_pooling

MU, SIGMA = kernel_grid()


def naive(similarity: Tensor, mask: Tensor, gradient: Tensor) -> tuple[list[float], list[float]]:
    """φ and dφ·g/dM of one row, pair by pair, in double precision."""
    phi, slopes = [], [0.0] * len(similarity)
    for k, (mu, sigma) in enumerate(zip(MU, SIGMA, strict=True)):
        values = [
            math.exp(-((float(m) - mu) ** 2) / (2 * sigma**2)) if kept else 0.0
            for m, kept in zip(similarity, mask, strict=True)
        ]
        total = sum(values)
        phi.append(math.log(max(total, 1e-10)))
        if total > 1e-10:
            for j, value in enumerate(values):
                slope = (mu - float(similarity[j])) / sigma**2 * value / total
                slopes[j] += float(gradient[k]) * slope
    return phi, slopes


needs_library = pytest.mark.skipif(native.native().library is None, reason=native.native().status)


def check(similarity: Tensor, mask: Tensor) -> None:
    """Every row of ``similarity`` against the loop: values and gradients to 1e-5 of their size."""
    wanted = mask.expand_as(similarity)
    weights = torch.randn(*similarity.shape[:-1], 21, generator=torch.Generator().manual_seed(1))
    ours = similarity.clone().requires_grad_()
    phi = kernel_pooling(ours, mask)
    (phi * weights).sum().backward()
    assert ours.grad is not None
    columns = similarity.shape[-1]
    rows = zip(
        similarity.reshape(-1, columns),
        wanted.reshape(-1, columns),
        weights.reshape(-1, 21),
        phi.reshape(-1, 21),
        ours.grad.reshape(-1, columns),
        strict=True,
    )
    for row, kept, weight, found, slopes in rows:
        expected_phi, expected_slopes = naive(row, kept, weight)
        torch.testing.assert_close(found, torch.tensor(expected_phi), atol=1e-5, rtol=1e-5)
        largest = max(1.0, *(abs(slope) for slope in expected_slopes))
        torch.testing.assert_close(slopes, torch.tensor(expected_slopes), atol=1e-5 * largest, rtol=1e-5)


def cosines(*shape: int, seed: int = 0) -> Tensor:
    return 2 * torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) - 1


MASKS: dict[str, Callable[[], Tensor]] = {
    "one for all": lambda: torch.arange(11) < 7,
    "by the first dimension": lambda: cosines(2, 1, 11, seed=2) > 0,
    "by the second dimension": lambda: cosines(3, 11, seed=3) > 0,
    "of its own for every row": lambda: cosines(2, 3, 11, seed=4) > 0,
    "nothing": lambda: torch.zeros(11, dtype=torch.bool),
    "everything": lambda: torch.ones(2, 3, 11, dtype=torch.bool),
    "some rows whole, others not at all": lambda: torch.tensor([[True], [False], [True]]).expand(3, 11),
}


@needs_library
@pytest.mark.parametrize("shape", MASKS)
def test_every_shape_of_mask_gives_what_the_loop_gives(shape: str):
    similarity = cosines(2, 3, 11)
    similarity[..., 0] = 1.0
    similarity[..., 1] = 0.9995
    check(similarity, MASKS[shape]())


@needs_library
@given(
    st.lists(
        st.tuples(
            st.floats(-1, 1, width=32) | st.sampled_from([1.0, -1.0, 0.999, 1.0000001, 0.05]), st.booleans()
        ),
        min_size=1,
        max_size=40,
    )
)
@settings(deadline=None, max_examples=60)
def test_any_cosines_give_what_the_loop_gives(row: list[tuple[float, bool]]):
    values, kept = zip(*row, strict=True)
    check(torch.tensor([values], dtype=torch.float32), torch.tensor([kept]))


@needs_library
def test_the_library_and_plain_pytorch_agree_on_many_rows_and_any_number_of_threads():
    similarity = cosines(2, 3, 40, 3, 40)
    mask = cosines(2, 1, 1, 3, 40, seed=5) > -0.3
    plain = kernels._pool_plain(similarity.double(), mask)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = kernels._pool_native(similarity, mask)
        torch.set_num_threads(2)
        two = kernels._pool_native(similarity, mask)
    finally:
        torch.set_num_threads(threads)
    torch.testing.assert_close(one.double(), plain, atol=1e-6, rtol=5e-6)
    assert torch.equal(one, two)


@needs_library
def test_similarities_that_lie_apart_in_memory_are_read_where_they_are():
    whole = cosines(5, 4, 6)
    mask = torch.ones(6, dtype=torch.bool)
    assert torch.equal(
        kernel_pooling(whole.transpose(0, 1), mask), kernel_pooling(whole, mask).transpose(0, 1)
    )


def test_without_a_compiler_or_with_one_that_fails_plain_pytorch_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CXX", "false")
    failed = native.load(tmp_path / "a")
    assert failed.library is None and "plain PyTorch: false failed" in failed.status
    monkeypatch.setenv("CXX", str(tmp_path / "no-such-compiler"))
    assert "no-such-compiler" in native.load(tmp_path / "b").status
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert native.load(tmp_path / "c").status == "plain PyTorch: no C++ compiler"


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")
    found = native.load(tmp_path / "file" / "native")
    assert found.library is None and found.status.startswith("plain PyTorch: ")


@needs_library
def test_a_file_is_loaded_only_while_it_is_what_was_built(tmp_path: Path):
    built = native.load(tmp_path / "native").status.removeprefix("native: ")
    content = Path(built).read_bytes()
    Path(built).unlink()  # a loaded file must not change
    Path(built).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    Path(built).chmod(0o700)
    assert native.load(tmp_path / "native").status == f"native: {built}"
    assert Path(built).read_bytes() == content  # built again


@needs_library
@pytest.mark.skipif(os.name != "posix", reason="rights as on POSIX")
def test_what_others_can_write_is_not_loaded(tmp_path: Path):
    folder = tmp_path / "native"
    built = Path(native.load(folder).status.removeprefix("native: "))
    assert (folder.stat().st_mode | built.stat().st_mode) & 0o077 == 0
    planted = built.with_name(f"{built.stem.partition('-')[0]}-0.so")
    built.rename(planted)
    planted.chmod(0o777)
    assert native.load(folder).status == f"native: {built}"  # not the one that others could have written
    folder.chmod(0o770)
    assert native.load(folder).status == f"plain PyTorch: {folder}: others may write it (chmod go-w)."
    folder.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(folder, 65534, -1)
        assert native.load(folder).status == f"plain PyTorch: {folder}: belongs to another user."


@needs_library
def test_another_compiler_has_its_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = native.load(tmp_path / "native").status
    script = tmp_path / "other-c++"
    script.write_text('#!/bin/sh\nexec c++ "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    assert native.load(tmp_path / "native").status not in (first, "")
    assert len(list((tmp_path / "native").iterdir())) == 2


@needs_library
def test_without_openmp_the_library_starts_threads_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    similarity, mask = cosines(400, 40), torch.ones(400, 40, dtype=torch.bool)
    expected = native.pool(similarity, mask)
    monkeypatch.setattr(native, "THREADS", ((),))
    own = native.load(tmp_path)
    monkeypatch.setattr(native, "native", lambda: own)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert torch.equal(native.pool(similarity, mask), expected)


@needs_library
def test_processes_that_build_at_the_same_time_all_get_a_library(tmp_path: Path):
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(native.load, [tmp_path / "native"] * 2))
    assert all(one.library is not None for one in found)
    assert [path.suffix for path in (tmp_path / "native").iterdir()] == [".so"]  # no folder of a build stays


def test_the_switch_turns_it_off():
    code = (
        "import torch; from adjudge.encoders.kernels import kernel_pooling; from adjudge.encoders import native;"
        "print(native.native().status, native.is_usable_on(torch.ones(1)));"
        "print(kernel_pooling(torch.tensor([0.05]), torch.tensor([True]))[10].item())"
    )
    environment = {**os.environ, native.SWITCH: "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "plain PyTorch: ADJUDGE_NATIVE=0 False"
    assert float(done.stdout.splitlines()[1]) == pytest.approx(0, abs=1e-6)  # log exp(0)
