"""Verdict models: a batch of rows in, a distribution per claim out."""

from adjudge.models.backbone import Backbone
from adjudge.models.batch import Batch, ModelOutput
from adjudge.models.concat import Concat
from adjudge.models.kgat import KGAT
from adjudge.models.mixture import Mixture

VERDICT_MODELS = {"kgat": KGAT, "mixture": Mixture, "concat": Concat}

__all__ = ["KGAT", "VERDICT_MODELS", "Backbone", "Batch", "Concat", "Mixture", "ModelOutput"]
