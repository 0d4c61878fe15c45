"""Drawings for a page: SVG whose colours are CSS variables, so that one serves light and dark.

Text stays text, and the same figures give the same bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from adjudge.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, QUIET, RULE = "#24292f", "#6e7781", "#d0d7de"
BLUE, ORANGE, SKY, PINK, GREEN = "#0072b2", "#d55e00", "#56b4e9", "#cc79a7", "#009e73"
"""Told apart by readers who do not see all colours (Okabe and Ito); markers and dashes differ too."""

VARIABLES = {
    INK: "--ink",
    QUIET: "--quiet",
    RULE: "--rule",
    BLUE: "--blue",
    ORANGE: "--orange",
    SKY: "--sky",
    PINK: "--pink",
    GREEN: "--green",
}
"""What the page may call each colour."""

_WIDTH = 9.4  # inches; at 96 pixels an inch as wide as the page's column
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "adjudge",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


class Drawing(NamedTuple):
    """A figure and its axes, row by row."""

    figure: Figure
    axes: list[Axes]

    def svg(self, name: str) -> str:
        """The drawing, its ids beginning with ``name``."""
        stream = io.StringIO()
        self.figure.savefig(stream, format="svg", metadata={"Date": None})
        return _inline(stream.getvalue(), name)


@contextmanager
def drawing(height: float, rows: int = 1, columns: int = 1, **shared: Any) -> Iterator[Drawing]:
    """A figure in the house's style, whatever the user's own settings of matplotlib."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("Plots need matplotlib", "report") from None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **shared)
        yield Drawing(figure, list(axes.flat))


def _inline(svg: str, name: str) -> str:
    """Keep what a page needs: no prolog, metadata or idle ids; colours as variables; ids that no other plot has."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", svg, flags=re.S)
    svg = re.sub(r'\s(?:xmlns(?::xlink)?|version)="[^"]*"', "", svg, count=3)
    svg = svg.replace("xlink:href", "href")
    used = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg))
    wanted = {url_id or href_id for url_id, href_id in used}
    svg = re.sub(r' id="([^"]+)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in wanted else "", svg)
    svg = re.sub(r'href="#|url\(#', lambda m: f"{m[0]}{name}-", svg)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var({variable}, {colour})")
    svg = re.sub(r"(font: [^;\"]*?px)[^;\"]*", r"\1 system-ui, sans-serif", svg)
    svg = re.sub(r"font-family: [^;\"]*", "font-family: system-ui, sans-serif", svg)
    svg = re.sub(r"<[^>]+>", lambda tag: re.sub(r"\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}", tag[0]), svg)
    return re.sub(r"\s*\n\s*", "\n", svg).strip()
