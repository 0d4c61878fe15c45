"""Objectives: complement losses, class-balanced weights, and the released variant."""

from adjudge.objectives.complement import CE, MLL, OBJECTIVES, SR, SRN, complement, log_one_minus, penalty
from adjudge.objectives.objective import Objective
from adjudge.objectives.weights import class_balanced_weights

__all__ = [
    "CE",
    "MLL",
    "OBJECTIVES",
    "SR",
    "SRN",
    "Objective",
    "class_balanced_weights",
    "complement",
    "log_one_minus",
    "penalty",
]
