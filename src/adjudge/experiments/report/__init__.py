"""A comparison as a report: one HTML page, Markdown, LaTeX, and a view for the terminal. No torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import RenderableType

from adjudge.errors import ConfigError
from adjudge.experiments.report.blocks import Report
from adjudge.experiments.report.content import Content, gather
from adjudge.experiments.report.html import to_html
from adjudge.experiments.report.latex import to_latex
from adjudge.experiments.report.markdown import to_markdown
from adjudge.experiments.report.sections import build_report
from adjudge.experiments.report.terminal import to_terminal
from adjudge.experiments.summary import Summary
from adjudge.io.files import write_text

__all__ = ["FORMATS", "build_report", "comparison_view", "gather", "write_report"]

FORMATS: dict[str, Callable[[Report], str]] = {"html": to_html, "md": to_markdown, "tex": to_latex}


def comparison_view(summary: Summary) -> RenderableType:
    """A comparison in a terminal: the report without changed predictions, and without the effect of λ."""
    return to_terminal(build_report(gather(summary, with_changes=False)))


def write_report(content: Content, out: Path, formats: Sequence[str] = tuple(FORMATS)) -> list[Path]:
    """Write ``report.html``, ``report.md`` and ``report.tex``, or some of them; all are made before any is written.

    Raises:
        ConfigError: a format that does not exist.
        MissingExtra: HTML without matplotlib or Jinja2.
    """
    if unknown := [name for name in formats if name not in FORMATS]:
        raise ConfigError(f"--format {', '.join(map(repr, unknown))}: expected some of {', '.join(FORMATS)}.")
    report = build_report(content)
    texts = {out / f"report.{name}": FORMATS[name](report) for name in dict.fromkeys(formats)}
    for path, text in texts.items():
        write_text(path, text)
    return list(texts)
