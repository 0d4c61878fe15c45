"""Long streams in short lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of ``size`` items; the last may be shorter."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
