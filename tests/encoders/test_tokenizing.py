from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.encoders.loading import has_embedded_minilm, locate, tiny_encoder
from adjudge.encoders.tokenizing import read_tokenizer
from adjudge.errors import ConfigError
from hf_tiny import load_tiny

TEXTS = [
    "The tower is 5 m tall.",
    "[SEP] hello [CLS] <s> </s> [MASK]",
    "Zürich naïve — “quoted” 東京 🎉 x\u200by\u202e z",
    "",
    " a  b\tc\n d",
    "I'm can't 3.14%",
    "A" * 300,
]


def test_the_tiny_tokenizer_gives_what_hugging_faces_gives():
    ours, (_, theirs) = tiny_encoder()[1], load_tiny()
    expected = theirs(TEXTS, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert ours(TEXTS)["input_ids"] == expected
    for kind in ("pad", "cls", "sep"):
        assert getattr(ours, f"{kind}_token_id") == getattr(theirs, f"{kind}_token_id")


@pytest.mark.skipif(not has_embedded_minilm(), reason="the extra offline is not installed")
@given(text=st.text())
@settings(max_examples=50, deadline=None)
def test_minilms_tokenizer_gives_what_hugging_faces_gives(text: str):
    from transformers import AutoTokenizer

    if not _TOKENIZERS:
        folder = Path(locate("minilm"))
        _TOKENIZERS.extend([read_tokenizer(folder), AutoTokenizer.from_pretrained(folder)])
    ours, theirs = _TOKENIZERS
    expected = theirs([text, *TEXTS], add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert ours([text, *TEXTS])["input_ids"] == expected


_TOKENIZERS: list = []


def test_a_tokenizer_is_saved_as_it_was_loaded(tmp_path: Path):
    tokenizer = tiny_encoder()[1]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    tokenizer.save_pretrained(tmp_path / "a")
    again = read_tokenizer(tmp_path / "a")
    assert again is not None
    again.save_pretrained(tmp_path / "b")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_a_folder_without_a_tokenizer_or_its_special_tokens_is_left_to_transformers(tmp_path: Path):
    assert read_tokenizer(tmp_path) is None
    tiny_encoder()[1].save_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("{}")
    assert read_tokenizer(tmp_path) is None


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
def test_a_damaged_tokenizer_is_named(name: str, tmp_path: Path):
    tiny_encoder()[1].save_pretrained(tmp_path)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:20])
    with pytest.raises(ConfigError, match="damaged tokenizer"):
        read_tokenizer(tmp_path)
