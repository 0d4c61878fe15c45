"""Written groups: evidence, and claims that it supports, refutes or leaves open.

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
from dataclasses import dataclass
from pathlib import Path

from adjudge.errors import DataError
from adjudge.types import Evidence, Example, Label

LABELS = {"S": Label.SUPPORTS, "R": Label.REFUTES, "N": Label.NOT_ENOUGH_INFO}
_EXPECTED = (
    "expected lines such as 'E: a sentence.' and 'S: a claim.' (T, E, S, R or N), a blank line between groups"
)


@dataclass(frozen=True)
class Block:
    """Lines of a file without a blank one among them; ``start`` is the number of the first."""

    path: Path
    start: int
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        """Unique among the blocks of a folder."""
        return f"{self.path.stem}:{self.start}"

    def error(self, offset: int, problem: str) -> DataError:
        """An error that names the file and the line."""
        return DataError(f"{self.path}:{self.start + offset}: {problem}.")


def read_written(path: Path) -> Iterator[list[Example]]:
    """The groups of a file, or of all ``.txt`` files of a folder in the order of their names."""
    return map(_parse, read_blocks(path))


def read_blocks(path: Path) -> Iterator[Block]:
    """The blocks of lines of a file, or of all ``.txt`` files of a folder in the order of their names."""
    files = sorted(path.glob("*.txt")) if path.is_dir() else [path]
    if not files:
        raise DataError(f"{path}: no .txt files, expected blocks of evidence and claims.")
    for file in files:
        lines: list[str] = []
        for line_number, line in enumerate([*_read_lines(file), ""], start=1):
            if line.strip():
                lines.append(line.strip())
            elif lines:
                yield Block(file, line_number - len(lines), tuple(lines))
                lines = []


def _parse(block: Block) -> list[Example]:
    group: list[tuple[str, str]] = []
    for offset, line in enumerate(block.lines):
        letter, colon, text = line.partition(":")
        if not (colon and text.strip() and letter in ("T", "E", *LABELS)):
            raise block.error(offset, f"{line[:60]!r}: {_EXPECTED}")
        group.append((letter, text.strip()))
    return _make_group(group, block)


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}).") from None


def _make_group(lines: Iterable[tuple[str, str]], block: Block) -> list[Example]:
    parts: dict[str, list[str]] = {}
    for letter, text in lines:
        parts.setdefault(letter, []).append(text)
    title = " ".join(parts.get("T", ()))
    evidence = tuple(Evidence(text, title=title) for text in parts.get("E", ()))
    claims = [(label, text) for letter, label in LABELS.items() for text in parts.get(letter, ())]
    if not (evidence and claims):
        raise block.error(0, f"a group without {'claims' if evidence else 'evidence'}: {_EXPECTED}")
    return [
        Example(f"{block.name}/{index}", text, evidence, label.value)
        for index, (label, text) in enumerate(claims)
    ]
