"""A report as one HTML page that needs nothing else: no network, no script."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge import __version__
from adjudge.errors import MissingExtra
from adjudge.experiments.report.blocks import Report, cells_of

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATE = "page.html"


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
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise MissingExtra(
            "The HTML report needs matplotlib and Jinja2 (--format md,tex does not)", "report"
        ) from None
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    numbers = count(1)
    # The drawings are our own: the only text that is not escaped.
    filters: dict[str, Any] = {
        "svg": lambda plot: Markup(plot.draw(f"plot-{next(numbers)}")),
        "cells": cells_of,
    }
    environment.filters |= filters
    return environment
