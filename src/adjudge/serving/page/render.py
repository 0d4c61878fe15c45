"""The templates, and the values that all of them take."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge import __version__
from adjudge.serving.page.views import percent

if TYPE_CHECKING:
    from jinja2 import Environment

    from adjudge.serving.server.engine import Engine

STATIC = "/static"


class ModelView:
    """What the page says about the judge: its name, and lines of (what, value)."""

    def __init__(self, engine: Engine) -> None:
        self._settings = engine.settings.verifier
        self.name = self._settings.model
        self._engine = engine

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Judge, weights, how evidence is selected, calibration and threshold, as far as they are known."""
        settings = self._settings
        identity = _reader(dict(self._engine.verifier.judge.identity))
        judge = " on ".join(str(identity[key]) for key in ("kind", "backbone") if identity.get(key))
        lines = [("Judge", f"{self.name} ({judge})" if judge else self.name)]
        if weights := identity.get("weights"):
            lines.append(("Weights", f"SHA-256 {str(weights)[:16]}…"))
        lines.append(
            ("Evidence", f"the {settings.k} best of {settings.candidates} sentences, selected by {settings.selector}")
        )
        mixed = "mixed with what the comparison of facts says"
        temperature = identity.get("temperature")
        calibration = "" if temperature is None else f"calibrated (temperature {float(temperature):.2f}), then "
        lines.append(("Probabilities", f"{calibration}{mixed}"))
        least = settings.min_confidence
        threshold = f"below {least:.0%} the answer is “not enough info”" if least else "none: the likeliest answer counts"
        return [*lines, ("Threshold", threshold)]


def _reader(identity: dict[str, Any]) -> dict[str, Any]:
    """The identity of the judge that reads, within those that mix or calibrate its answers."""
    while isinstance(identity.get("judge"), dict) and identity["judge"]:
        identity = identity["judge"]
    settings = identity.get("model")
    return {**settings, **identity} if isinstance(settings, dict) else identity


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Jinja2 with everything escaped, and a missing value an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["percent"] = percent
    templates.filters["capitalize_first"] = lambda text: text[:1].upper() + text[1:]
    templates.globals.update(static=STATIC, version=__version__)
    return templates


def render(name: str, **values: Any) -> str:
    """A template with its values."""
    return environment().get_template(name).render(**values)
