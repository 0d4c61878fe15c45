"""Templates of HTML pages, which stand beside the modules that fill them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.errors import MissingExtra

if TYPE_CHECKING:
    from jinja2 import Environment


def template_environment(folder: Path, needed_by: str, extra: str = "report") -> Environment:
    """The templates of a folder: all values are escaped, and a value that is missing is an error.

    Raises:
        MissingExtra: Jinja2 is not installed; ``needed_by`` says what for, ``extra`` what brings it.
    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtra(needed_by, extra) from None
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
