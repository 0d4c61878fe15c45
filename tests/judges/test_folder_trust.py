"""A folder that changed on its way, is another's, or brings code is refused."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from adjudge.encoders.loading import load_encoder
from adjudge.errors import ConfigError
from adjudge.judges.folder import (
    load_model,
    save_model,
    weights_sha256,
)
from adjudge.judges.row_model import RowJudge
from trained_model import leave_out_hashes, nudged


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_a_folder_that_asks_for_code_is_refused_by_name(trained: RowJudge, tmp_path: Path, file: str):
    save_model(trained, tmp_path)
    settings = json.loads((tmp_path / file).read_text())
    (tmp_path / file).write_text(json.dumps({**settings, "auto_map": {"AutoModel": "own.Model"}}))
    (tmp_path / "own.py").write_text(f"from pathlib import Path; Path({str(tmp_path / 'ran')!r}).touch()")
    leave_out_hashes(tmp_path)  # as whoever wrote the folder could have
    for load in (load_model, lambda folder: load_encoder(str(folder))):
        with pytest.raises(ConfigError, match=f"{tmp_path}: asks for code of its own"):
            load(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_no_bit_of_a_folder_changes_unnoticed(trained: RowJudge, tmp_path: Path):
    """Another answer, or an error that is not ours, would be the damage of a disk or of a copy."""
    save_model(trained, tmp_path)
    load_model(tmp_path)
    rng = random.Random(4)
    files = sorted(path for path in tmp_path.iterdir() if path.is_file())
    for trial in range(60):
        path = files[trial % len(files)]
        whole = path.read_bytes()
        position = rng.randrange(len(whole))
        damaged = bytes([whole[position] ^ (1 << rng.randrange(8))])
        path.write_bytes(whole[:position] + damaged + whole[position + 1 :])
        with pytest.raises(ConfigError):
            load_model(tmp_path)
        path.write_bytes(whole)


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("content", ["{}", "[]", "[" * 100_000, "null", '{"model": {"vocab": 1}}', "\xff"])
def test_a_folder_without_hashes_is_refused_in_words(
    trained: RowJudge, tmp_path: Path, file: str, content: str
):
    save_model(trained, tmp_path)
    leave_out_hashes(tmp_path)
    (tmp_path / file).write_bytes(content.encode("latin-1"))
    try:
        load_model(tmp_path)
    except ConfigError as error:
        assert str(tmp_path) in str(error)


def test_another_runs_weights_are_refused(trained: RowJudge, tmp_path: Path):
    save_model(trained, tmp_path / "checkpoint")
    (tmp_path / "manifest.json").write_text(json.dumps({"weights": weights_sha256(str(tmp_path))}))
    load_model(tmp_path)
    save_model(nudged(trained), tmp_path / "checkpoint")
    with pytest.raises(ConfigError, match="They are another run's"):
        load_model(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"temperature": 0.0}, "temperature is 0.0"),  # every probability would be NaN
        ({"temperature": -1.0}, "temperature is -1.0"),  # the least likely label would win
        ({"temperature": 1e300}, "temperature is 1e"),
        ({"files": {"../../secret": "0"}}, "no file of this folder"),  # whose hash the message would tell
    ],
)
def test_settings_that_no_model_has_are_refused(
    trained: RowJudge, tmp_path: Path, change: dict[str, object], message: str
):
    save_model(trained, tmp_path / "model")
    path = tmp_path / "model" / "adjudge.json"
    values = {**json.loads(path.read_text()), **change}
    del values["checksum"]  # as whoever wrote the folder could have
    path.write_text(json.dumps(values))
    with pytest.raises(ConfigError, match=message):
        load_model(tmp_path / "model")
