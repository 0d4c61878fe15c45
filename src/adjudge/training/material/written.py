"""Groups written by hand: evidence, and claims that it supports, refutes or leaves open.

A group is a run of lines, each a letter, a colon and a text; a blank line ends it:

    T: Riverside Allotments, rules for tenants
    E: Bonfires may be lit only between 1 November and 31 March.
    S: Lighting a fire in July is against the rules.
    R: Tenants can have a bonfire at any time of the year.
    N: Tenants must tell the committee before they light a bonfire.

``T`` is the document's title and may be left out; ``E`` is a sentence of evidence, at least one; ``S``, ``R`` and ``N``
are claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from adjudge.errors import DataError
from adjudge.types import Evidence, Example, Label

LABELS = {"S": Label.SUPPORTS, "R": Label.REFUTES, "N": Label.NOT_ENOUGH_INFO}
_EXPECTED = "expected lines such as 'E: a sentence.' and 'S: a claim.' (T, E, S, R or N), a blank line between groups"


def read_written(path: Path) -> Iterator[list[Example]]:
    """The groups of a file, or of all ``.txt`` files of a folder in the order of their names."""
    files = sorted(path.glob("*.txt")) if path.is_dir() else [path]
    if not files:
        raise DataError(f"{path}: no .txt files, expected groups of evidence and claims.")
    for file in files:
        yield from _parse(file)


def _parse(path: Path) -> Iterator[list[Example]]:
    group: list[tuple[str, str]] = []
    start = 1
    for line_number, line in enumerate([*_read_lines(path), ""], start=1):
        if line.strip():
            letter, colon, text = line.strip().partition(":")
            if not (colon and text.strip() and letter in ("T", "E", *LABELS)):
                raise DataError(f"{path}:{line_number}: {line.strip()[:60]!r}: {_EXPECTED}.")
            if not group:
                start = line_number
            group.append((letter, text.strip()))
        elif group:
            yield _make_group(group, f"{path.stem}:{start}", f"{path}:{start}")
            group = []


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}).") from None


def _make_group(lines: Iterable[tuple[str, str]], name: str, location: str) -> list[Example]:
    parts: dict[str, list[str]] = {}
    for letter, text in lines:
        parts.setdefault(letter, []).append(text)
    title = " ".join(parts.get("T", ()))
    evidence = tuple(Evidence(text, title=title) for text in parts.get("E", ()))
    claims = [(label, text) for letter, label in LABELS.items() for text in parts.get(letter, ())]
    if not (evidence and claims):
        raise DataError(f"{location}: a group without {'claims' if evidence else 'evidence'}: {_EXPECTED}.")
    return [
        Example(f"{name}/{index}", text, evidence, label.value) for index, (label, text) in enumerate(claims)
    ]
