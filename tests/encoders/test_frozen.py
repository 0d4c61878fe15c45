from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from adjudge.encoders import frozen
from adjudge.encoders.dataset import tokenize
from adjudge.encoders.frozen import cache_states
from adjudge.judges.predict import log_probabilities
from hf_tiny import load_tiny


@pytest.fixture
def model(tiny: ModuleType) -> Any:
    made = tiny.make_model(freeze_layers=1)
    made.module.eval()
    return made


def test_cached_states_are_the_frozen_layers_output_token_by_token(
    model: Any, tiny: ModuleType, tmp_path: Path
):
    data, _ = tiny.data_for(model)
    cached = cache_states(model.module.backbone, data, tmp_path)
    encoder, _ = load_tiny()
    for row in range(len(data.segment)):
        start, end = data.row_start[row], data.row_start[row + 1]
        ids = torch.from_numpy(data.tokens[start:end]).long()[None]
        segments = (torch.arange(end - start) >= data.segment[row]).long()[None]
        with torch.no_grad():
            # hidden_states[1] is the first layer's output
            states = encoder(input_ids=ids, token_type_ids=segments, output_hidden_states=True).hidden_states[
                1
            ]
        np.testing.assert_allclose(cached.states[start:end], states[0].numpy(), atol=3e-3)


@pytest.mark.parametrize("kind", ["kgat", "mixture", "concat"])
def test_a_model_reads_cached_states_as_it_reads_tokens(kind: str, tiny: ModuleType, tmp_path: Path):
    model = tiny.make_model(freeze_layers=1, kind=kind)
    model.module.eval()
    data, _ = tiny.data_for(model)
    cached = cache_states(model.module.backbone, data, tmp_path)
    torch.testing.assert_close(
        log_probabilities(model, cached), log_probabilities(model, data), atol=2e-3, rtol=0
    )


def test_states_are_computed_once(
    model: Any, tiny: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data, _ = tiny.data_for(model)
    seen: list[tuple[int, int]] = []
    first = cache_states(
        model.module.backbone, data, tmp_path, lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (len(data.tokens), len(data.tokens))
    seen.clear()
    second = cache_states(
        model.module.backbone, data, tmp_path, lambda done, total: seen.append((done, total))
    )
    assert seen == []
    assert np.array_equal(first.states, second.states)
    assert [path.suffix for path in tmp_path.iterdir()] == [".f16"]  # no temporary files stay


def test_batches_of_any_size_give_the_same_states(
    model: Any, tiny: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data, _ = tiny.data_for(model)
    whole = cache_states(model.module.backbone, data, tmp_path / "a").states
    monkeypatch.setattr(frozen, "BATCH_TOKENS", 1)
    single = cache_states(model.module.backbone, data, tmp_path / "b").states
    np.testing.assert_allclose(whole, single, atol=2e-3)


def test_another_backbone_other_layers_or_other_claims_have_their_own_file(
    model: Any, tiny: ModuleType, tmp_path: Path
):
    data, dev = tiny.data_for(model)
    cache_states(model.module.backbone, data, tmp_path)
    cache_states(model.module.backbone, dev, tmp_path)
    cache_states(tiny.make_model(freeze_layers=2).module.backbone, data, tmp_path)
    with torch.no_grad():
        model.module.backbone.encoder.embeddings.word_embeddings.weight[7, 0] += 1
    cache_states(model.module.backbone, data, tmp_path)
    assert len(list(tmp_path.glob("*.f16"))) == 4
    with torch.no_grad():
        model.module.backbone.encoder.pooler.dense.weight.add_(1)  # above the frozen layers
    cache_states(model.module.backbone, data, tmp_path)
    assert len(list(tmp_path.glob("*.f16"))) == 4


def test_a_cut_file_is_computed_again(model: Any, tiny: ModuleType, tmp_path: Path):
    data, _ = tiny.data_for(model)
    expected = np.array(cache_states(model.module.backbone, data, tmp_path).states)
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:100])
    assert np.array_equal(cache_states(model.module.backbone, data, tmp_path).states, expected)


def test_an_interrupted_computation_leaves_nothing(model: Any, tiny: ModuleType, tmp_path: Path):
    data, _ = tiny.data_for(model)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache_states(model.module.backbone, data, tmp_path, interrupt)
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_cache_leaves_the_data_as_it_is(model: Any, tiny: ModuleType, tmp_path: Path):
    data, _ = tiny.data_for(model)
    assert cache_states(tiny.make_model().module.backbone, data, tmp_path) is data
    empty = tokenize([], model.writer, model.labels)
    assert cache_states(model.module.backbone, empty, tmp_path) is empty


def test_a_file_with_another_bit_is_computed_again(model: Any, tiny: ModuleType, tmp_path: Path):
    data, _ = tiny.data_for(model)
    expected = cache_states(model.module.backbone, data, tmp_path).states.copy()
    (path,) = tmp_path.glob("*.f16")
    content = bytearray(path.read_bytes())
    content[1] ^= 64
    path.write_bytes(content)
    assert np.array_equal(cache_states(model.module.backbone, data, tmp_path).states, expected)
    assert len(list(tmp_path.iterdir())) == 1
