"""What a sentence stands under: the title, the headings above it, and the line that introduces its list.

"Weight: 3 kg" says nothing without the heading "Falcon X", and "dogs" nothing without "The following are prohibited:".
"""

from __future__ import annotations

MAX_SECTION = 300
"""Characters of a section; the title and what stands next above the sentence are kept first."""
MAX_NAME = 150
"""Characters of one heading or introducing line."""
APART = -1
"""The depth of notes, which stand after the last section and in none."""


class Outline:
    """Follows the headings and lists of a document, block by block.

    A heading that repeats the title stands for it; another one of its level or above begins something else, which the
    title does not name. Depth 0 is prose, 1 an item of a list or a row of a table, 2 an item of a list within the list.
    """

    def __init__(self, title: str = "") -> None:
        self.title = title
        self._title_level = 0
        self._titled = True
        self._headings: list[tuple[int, str]] = []
        self._leads: list[tuple[int, str]] = []

    def enter_heading(self, text: str, level: int) -> None:
        """A heading begins; level 1 is the highest."""
        self._leads = []
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        if not self._headings and f": {self.title}".casefold().endswith(f": {text}".casefold()):
            self._title_level, self._titled = level, True
            return
        if level <= self._title_level:
            self._titled = False
        self._headings.append((level, _name(text)))

    def introduce(self, text: str, depth: int, always: bool = False) -> None:
        """Text that ends with a colon, or ``always``, introduces the deeper blocks that follow."""
        if always or text.rstrip().endswith(":"):
            self._leads.append((depth, _name(text)))

    def section(self, depth: int) -> str:
        """What a block of this depth stands under; empty where that is the title alone."""
        self._leads = [lead for lead in self._leads if lead[0] < depth]
        if depth == APART:
            self._headings = []
        names = [name for _, name in (*self._headings, *self._leads) if name]
        if not names:
            return ""
        if self.title and self._titled:
            names.insert(0, self.title)
        while len(": ".join(names)) > MAX_SECTION and len(names) > 2:
            del names[1]
        return ": ".join(names)[:MAX_SECTION]


def _name(text: str) -> str:
    """A heading or introducing line on one line, of a long one the end, which says what follows."""
    text = " ".join(text.split()).rstrip(" :")
    return text if len(text) <= MAX_NAME else "…" + text[1 - MAX_NAME :]
