"""A comparison as a report: one HTML page, Markdown, and LaTeX tables. No torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from adjudge.data.files import write_text
from adjudge.errors import ConfigError
from adjudge.experiments.report.content import Content, gather
from adjudge.experiments.report.html import to_html
from adjudge.experiments.report.latex import to_latex
from adjudge.experiments.report.markdown import to_markdown

__all__ = ["FORMATS", "Content", "gather", "to_html", "to_latex", "to_markdown", "write_report"]

FORMATS: dict[str, Callable[[Content], str]] = {"html": to_html, "md": to_markdown, "tex": to_latex}


def write_report(content: Content, out: Path, formats: Sequence[str] = tuple(FORMATS)) -> list[Path]:
    """Write ``report.html``, ``report.md`` and ``report.tex``, or some of them; all are made before any is written.

    Raises:
        ConfigError: a format that does not exist.
        MissingExtra: HTML without matplotlib or Jinja2.
    """
    if unknown := [name for name in formats if name not in FORMATS]:
        raise ConfigError(f"--format {', '.join(map(repr, unknown))}: expected some of {', '.join(FORMATS)}.")
    made = {out / f"report.{name}": FORMATS[name](content) for name in dict.fromkeys(formats)}
    for path, text in made.items():
        write_text(path, text)
    return list(made)
