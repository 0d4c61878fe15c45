"""What a spreadsheet program shows in a cell: a value and its number format as text."""

from __future__ import annotations

import datetime
import math
import re
from typing import Any, NamedTuple

MAX_CELL = 32_767
"""Characters of a cell, Excel's own limit; a longer text is cut."""

# Colours and conditions; a currency; text between quotes or after a backslash; space and filling; digits.
_PART = re.compile(
    r"\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[[^\]]*\]|\"(?P<text>[^\"]*)\"|\\(?P<literal>.)|[_*].|"
    r"(?P<digits>[#0?][#0?,]*(?:\.[#0?]*)?,*)|(?P<sign>[%$€£¥+()-])|(?P<space>\s)|(?P<other>.)"
)


class _Format(NamedTuple):
    before: str
    decimals: int
    least: int
    thousands: bool
    scale: float
    after: str


def cell_text(cell: Any) -> str:
    """The text of a cell; empty for errors such as ``#DIV/0!``."""
    value = cell.value
    if value is None or cell.data_type == "e":
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ", "minutes")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (int, float)):
        return number_text(value, str(cell.number_format))
    return str(value)[:MAX_CELL]


def number_text(value: float, number_format: str = "General") -> str:
    """A number as its format shows it; plainly where the format is none of the usual kind."""
    if not math.isfinite(value):
        return ""
    parsed = _parse(number_format.split(";")[0]) if len(number_format) < 200 else None
    if parsed is None or abs(value) > 1e15:
        return f"{value:.15g}" if isinstance(value, float) else str(value)[:400]
    digits = f"{abs(value) * parsed.scale:{',' if parsed.thousands else ''}.{parsed.decimals}f}"
    optional = parsed.decimals - parsed.least
    while optional and digits.endswith("0"):
        digits, optional = digits[:-1], optional - 1
    digits = digits.removesuffix(".")
    return f"{'-' if value < 0 else ''}{parsed.before}{digits}{parsed.after}".strip()


def _parse(section: str) -> _Format | None:
    """The parts of a format such as ``"$"#,##0.00`` or ``0.0%``; None for what is not of that kind."""
    before = after = ""
    digits: str | None = None
    for match in _PART.finditer(section):
        kind, text = match.lastgroup, match[match.lastgroup] if match.lastgroup else ""
        if kind == "other":
            return None
        if kind == "digits":
            if digits is not None:
                return None
            digits = text
        elif digits is None:
            before += text.strip("()")
        else:
            after += text.strip("()")
    if digits is None:
        return None
    whole, _, decimals = digits.rstrip(",").partition(".")
    scale = 1000.0 ** -(len(digits) - len(digits.rstrip(",")))
    scale *= 100 if "%" in before + after else 1
    return _Format(before, len(decimals), decimals.count("0"), "," in whole, scale, after)
