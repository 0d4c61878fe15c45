"""Judges by name, as data: nothing here loads a model before it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

KINDS = {
    "kgat": "adjudge.judges.kgat:KGAT",
    "mixture": "adjudge.judges.mixture:Mixture",
    "concat": "adjudge.judges.concat:Concatenation",
    "gear": "adjudge.judges.gear:GEAR",
    "bevers": "adjudge.judges.bevers:BEVERS",
}
"""The heads of row models: ``[model] kind`` → ``module:Class``. Reports spell a kind as its class is called: capitals
as they stand, other names in small letters.

A head is an ``nn.Module`` made by ``Class(backbone, classes, dropout, **options)`` that keeps its ``backbone`` and
turns a ``Batch`` into a ``ModelOutput``. ``one_row`` says that one row holds all evidence of a claim, ``pads_rows``
that every claim has as many rows as the model reads sentences. Where it has ``joins_rows``, the rows of a claim's
sentences are followed by one that holds all of them; ``mixes`` says that it mixes states of claims where a batch asks
for it; ``held_out`` is a share of the training claims that ``fit_held_out`` gets when the rest is trained. Its own
settings, ``[model.options]``, are a pydantic model ``Class.Settings``, where it has some.
"""

PACKAGE_MODELS = {"small": "models/small", "large": "models/large", "fever": "models/fever"}
"""Models that come with the package: name → folder in it. The first is the one where none is named."""

RULES = "rules"
"""The judge that compares facts and words by rules, without a model."""

LOADERS = {
    "hf": "adjudge.judges.hf:load_classifier",
    "hf-joined": "adjudge.judges.hf:load_joined_classifier",
    "t5": "adjudge.judges.list_t5:load_list_t5",
    "prover": "adjudge.judges.proof.prover:load_prover",
    "proofver": "adjudge.judges.proof.seq2seq:load_proofver",
}
"""Judges called ``prefix:source``: prefix → what loads one, given the source, ``device=`` and ``class_names=``."""


def import_object(path: str) -> Any:
    """What ``module:name`` stands for."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
