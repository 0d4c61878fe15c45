"""Fact verification: find the evidence, weigh it, decide.

Names are loaded when first used, so that ``import adjudge`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from adjudge.errors import AdjudgeError
    from adjudge.evaluation.scoring import Scores, score
    from adjudge.evaluation.statistics import McNemar, holm, mcnemar, paired_bootstrap
    from adjudge.objectives.loss import Objective
    from adjudge.objectives.weights import class_balanced_weights
    from adjudge.serving.check.check import CheckOptions
    from adjudge.serving.check.records import Check, CheckedPart, CheckedSentence, State
    from adjudge.serving.client import AsyncClient, Client
    from adjudge.serving.settings import VerifierSettings
    from adjudge.serving.verifier import Verifier
    from adjudge.types import FEVER_LABELS, Claim, Evidence, Example, Label, LabelSet, Page, Sentence, Verdict

_HOMES = {
    "adjudge.errors": ("AdjudgeError",),
    "adjudge.evaluation.scoring": ("Scores", "score"),
    "adjudge.evaluation.statistics": ("McNemar", "holm", "mcnemar", "paired_bootstrap"),
    "adjudge.objectives.loss": ("Objective",),
    "adjudge.objectives.weights": ("class_balanced_weights",),
    "adjudge.serving.check.check": ("CheckOptions",),
    "adjudge.serving.check.records": ("Check", "CheckedPart", "CheckedSentence", "State"),
    "adjudge.serving.client": ("AsyncClient", "Client"),
    "adjudge.serving.settings": ("VerifierSettings",),
    "adjudge.serving.verifier": ("Verifier",),
    "adjudge.types": (
        "FEVER_LABELS",
        "Claim",
        "Evidence",
        "Example",
        "Label",
        "LabelSet",
        "Page",
        "Sentence",
        "Verdict",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "FEVER_LABELS",
    "AdjudgeError",
    "AsyncClient",
    "Check",
    "CheckOptions",
    "CheckedPart",
    "CheckedSentence",
    "Claim",
    "Client",
    "Evidence",
    "Example",
    "Label",
    "LabelSet",
    "McNemar",
    "Objective",
    "Page",
    "Scores",
    "Sentence",
    "State",
    "Verdict",
    "Verifier",
    "VerifierSettings",
    "class_balanced_weights",
    "holm",
    "mcnemar",
    "paired_bootstrap",
    "score",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'adjudge' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
