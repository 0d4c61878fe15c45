"""The sample documents of the package, and the claims that the page offers where a corpus holds them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable

import msgspec

NAME = "samples"
"""What the corpus of the sample documents is called."""


class ExampleText(msgspec.Struct, frozen=True):
    """A claim or text to try: about a document, with a hint at what it is and a title where it is long."""

    document: str
    text: str
    hint: str
    title: str = ""

    @property
    def shown(self) -> str:
        """What the page calls it."""
        return self.title or self.text


def sample_documents() -> list[Traversable]:
    """The files of the sample documents, by name."""
    folder = resources.files("adjudge") / "serving" / "page" / "samples" / "documents"
    return sorted((file for file in folder.iterdir() if file.name.endswith(".md")), key=lambda file: file.name)


def examples_for(sha256: Collection[str]) -> list[ExampleText]:
    """The examples whose documents are among those with these hashes."""
    hashes = _hashes()
    return [example for example in _examples() if hashes.get(example.document) in sha256]


@lru_cache(maxsize=1)
def _hashes() -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sample_documents()}


@lru_cache(maxsize=1)
def _examples() -> list[ExampleText]:
    content = (resources.files("adjudge") / "serving" / "page" / "samples" / "examples.json").read_bytes()
    return msgspec.json.decode(content, type=list[ExampleText])
