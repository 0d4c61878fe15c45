"""Templates escape what they are given, and miss nothing in silence."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from adjudge.errors import MissingExtra
from adjudge.io.templates import template_environment


def test_values_are_escaped_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    jinja2 = pytest.importorskip("jinja2")
    (tmp_path / "page.html").write_text("<b>{{ title }}</b>")
    page = template_environment(tmp_path, "The page needs Jinja2").get_template("page.html")
    assert page.render(title="<script>") == "<b>&lt;script&gt;</b>"
    with pytest.raises(jinja2.UndefinedError):
        page.render()


def test_without_jinja_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtra, match=r'The page needs Jinja2: pip install "adjudge\[report\]"'):
        template_environment(tmp_path, "The page needs Jinja2")
