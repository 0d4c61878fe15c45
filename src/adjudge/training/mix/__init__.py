"""A training file mixed of several sources by stated shares, and a held-out file of the same sources.

A source is a file of claim–evidence pairs, FEVER's training claims, or material made by rule. Groups of examples that
share a claim or its evidence stay side by side, so that a step of the optimizer sees what changes the label. Examples
come in the order in which they are to be learnt: a source may be for the beginning of the training only.
"""

from adjudge.training.mix.draw import Mix, draw_mix
from adjudge.training.mix.settings import MIX, MixSettings, MixSource, find_mix, read_mix

__all__ = ["MIX", "Mix", "MixSettings", "MixSource", "draw_mix", "find_mix", "read_mix"]
