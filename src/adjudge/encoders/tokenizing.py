"""Tokenizers from ``tokenizer.json``, with no transformers to import."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from adjudge.errors import ConfigError

TOKENIZER, SETTINGS, SPECIAL_TOKENS = "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"
_FILES = (TOKENIZER, SETTINGS, SPECIAL_TOKENS, "vocab.txt")
_SPECIAL = ("pad_token", "cls_token", "sep_token")


class FastTokenizer:
    """What ``RowWriter`` needs of a tokenizer: token ids of texts, and the ids of the special tokens.

    Args:
        tokenizer: of the library ``tokenizers``.
        special: name → special token, as ``cls_token`` → ``[CLS]``.
        files: name → content of what it was loaded from, which is what it is saved as.
    """

    def __init__(self, tokenizer: Any, special: dict[str, str], files: dict[str, bytes]) -> None:
        self._tokenizer = tokenizer
        self._files = files
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # "[SEP]" in somebody's text is text, not a separator
        self.pad_token_id, self.cls_token_id, self.sep_token_id = (
            tokenizer.token_to_id(special[kind]) for kind in _SPECIAL
        )

    @classmethod
    def of(cls, tokenizer: Any, special: dict[str, str]) -> FastTokenizer:
        """A tokenizer that was not loaded from files."""
        settings = {"tokenizer_class": "PreTrainedTokenizerFast", **special}
        files = {TOKENIZER: tokenizer.to_str().encode(), SETTINGS: json.dumps(settings).encode()}
        return cls(tokenizer, special, files)

    def __call__(self, texts: Sequence[str], **settings: Any) -> dict[str, list[list[int]]]:
        """The token ids of each text, without special tokens."""
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return {"input_ids": [encoding.ids for encoding in encoded]}

    def num_special_tokens_to_add(self, pair: bool) -> int:
        """How many a text, or a pair of texts, gets."""
        count: int = self._tokenizer.num_special_tokens_to_add(pair)
        return count

    def save_pretrained(self, folder: Path | str) -> tuple[str, ...]:
        """Write the files it was loaded from; their paths."""
        paths = [Path(folder) / name for name in self._files]
        for path, content in zip(paths, self._files.values(), strict=True):
            path.write_bytes(content)
        return tuple(map(str, paths))


def read_tokenizer(folder: Path) -> FastTokenizer | None:
    """The tokenizer of a folder, or None where it has no ``tokenizer.json`` or does not name its special tokens."""
    files = {name: (folder / name).read_bytes() for name in _FILES if (folder / name).is_file()}
    if TOKENIZER not in files:
        return None
    try:
        special = _special_tokens(files)
        tokenizer = _parse(files[TOKENIZER])
    except Exception as error:  # the library raises nothing more specific
        raise ConfigError(f"{folder}: damaged tokenizer ({error}).") from None
    return FastTokenizer(tokenizer, special, files) if len(special) == len(_SPECIAL) else None


@lru_cache(maxsize=4)
def _parse(content: bytes) -> Any:
    """One tokenizer for equal files: a judge and an embedder on one encoder share it."""
    from tokenizers import Tokenizer

    return Tokenizer.from_str(content.decode())


def _special_tokens(files: dict[str, bytes]) -> dict[str, str]:
    special = {}
    for name in (SPECIAL_TOKENS, SETTINGS):
        values = json.loads(files.get(name, b"{}"))
        for kind in _SPECIAL:
            token = values.get(kind)
            text = token.get("content") if isinstance(token, dict) else token
            if isinstance(text, str):
                special[kind] = text
    return special
