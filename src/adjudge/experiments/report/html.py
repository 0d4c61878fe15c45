"""A report as one HTML page that needs nothing else: no network, no script."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge import __version__
from adjudge.errors import MissingExtra
from adjudge.experiments.report.blocks import Report, cells_of
from adjudge.io.templates import template_environment

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATE = "page.html"
_NEEDED = "The HTML report needs matplotlib and Jinja2 (--format md,tex does not)"


def to_html(report: Report) -> str:
    """The whole page.

    Raises:
        MissingExtra: matplotlib or Jinja2 is not installed.
    """
    page = _environment().get_template(TEMPLATE)
    return page.render(report=report, version=__version__).lstrip() + "\n"


def _environment() -> Environment:
    try:
        import matplotlib  # noqa: F401  (found missing before anything is drawn)
        from markupsafe import Markup
    except ImportError:
        raise MissingExtra(_NEEDED, "report") from None
    environment = template_environment(Path(__file__).parent, _NEEDED)
    numbers = count(1)
    # The drawings are our own: the only text that is not escaped.
    filters: dict[str, Any] = {
        "svg": lambda plot: Markup(plot.draw(f"plot-{next(numbers)}")),
        "cells": cells_of,
    }
    environment.filters |= filters
    return environment
