"""A pytest fixture that checks texts: ``pytest_plugins = ["adjudge.testing"]`` in ``conftest.py``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from os import PathLike
from typing import Protocol

import pytest

from adjudge.serving.check.export import message_of
from adjudge.serving.verifier import Verifier


class AssertSupported(Protocol):
    """What the fixture ``assert_supported`` is."""

    def __call__(
        self,
        text: str,
        docs: Sequence[str | PathLike[str]],
        *,
        model: str = "small",
        fail_on: str = "unsupported",
    ) -> None:
        """Fail unless the documents support the text."""


def assert_supported(
    text: str,
    docs: Sequence[str | PathLike[str]],
    *,
    model: str = "small",
    fail_on: str = "unsupported",
) -> None:
    """Fail, with every sentence and its evidence, unless the documents support a text.

    Args:
        text: what a program wrote.
        docs: documents to check it against: texts, or paths.
        model: which judge; ``rules`` compares facts without a model.
        fail_on: ``unsupported``, or ``refuted``: what the documents do not mention is let pass.
    """
    check = _verifier(model).check(text, against=docs)
    if failures := check.failures(fail_on):
        lines = [f"- {message_of(sentence)}" for sentence in failures]
        raise AssertionError("\n".join([f"{check.summary}.", *lines]))


@lru_cache(maxsize=4)
def _verifier(model: str) -> Verifier:
    return Verifier.load(model, selector="lexical" if model == "rules" else "fusion")


@pytest.fixture(name="assert_supported", scope="session")
def _fixture() -> Iterator[AssertSupported]:
    yield assert_supported
    _verifier.cache_clear()
