"""Complement tables: which labels a gold label rules out. Variants of the loss are data, not branches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from adjudge.errors import ConfigError
from adjudge.types import FEVER_LABELS, Label, LabelSet

ComplementTable = Mapping[str, frozenset[str]]

SUPPORTS, REFUTES, NEI = (label.value for label in Label)
CUSTOM = "custom"
"""What an objective with a table of the user's own is called, unless the user names it."""


@dataclass(frozen=True)
class ObjectiveDefinition:
    """An objective by name.

    Attributes:
        description: what it penalises beside cross-entropy.
        complement: which labels each gold label rules out; None: all others, whatever the label set.
        overwritten: (lost, kept): in the published code claims of label ``lost`` have no complement terms in a
            micro-batch that holds a claim of label ``kept``.
    """

    description: str
    complement: Mapping[str, Iterable[str]] | None
    overwritten: tuple[str, str] | None = None


_BOTH = {SUPPORTS: {REFUTES}, REFUTES: {SUPPORTS}}

OBJECTIVES = {
    "ce": ObjectiveDefinition("cross-entropy alone", {}),
    "mll": ObjectiveDefinition("the probability of every other label", None),
    "srn": ObjectiveDefinition(
        "of the opposite verdict, of both under NEI",
        {**_BOTH, NEI: {SUPPORTS, REFUTES}},
        (SUPPORTS, REFUTES),
    ),
    "sr": ObjectiveDefinition("of the opposite verdict, of none under NEI", _BOTH, (SUPPORTS, REFUTES)),
}


def objective_help() -> str:
    """The objectives by name, on one line."""
    return "; ".join(f"{name}, {definition.description}" for name, definition in OBJECTIVES.items())


def complement(table: Mapping[str, Iterable[str]], labels: LabelSet = FEVER_LABELS) -> ComplementTable:
    """Check a complement table against its labels; a label left out rules out nothing."""
    checked = {}
    for gold, others in table.items():
        ruled_out = frozenset(others)
        if unknown := sorted(({gold} | ruled_out) - set(labels.names)):
            raise ConfigError(f"Complement table names {unknown}, expected labels of {list(labels.names)}.")
        if gold in ruled_out:
            raise ConfigError(f"Complement table lets {gold!r} rule itself out.")
        checked[gold] = ruled_out
    return {name: checked.get(name, frozenset()) for name in labels}


def complement_of(name: str, labels: LabelSet = FEVER_LABELS) -> ComplementTable:
    """The table of a named objective over a label set."""
    if name not in OBJECTIVES:
        raise ConfigError(f"objective {name!r} is not one of {', '.join(OBJECTIVES)}.")
    table = OBJECTIVES[name].complement
    if table is None:
        return complement({gold: set(labels) - {gold} for gold in labels}, labels)
    if table and set(labels) != set(FEVER_LABELS):
        raise ConfigError(
            f"Objective {name!r} is defined for {', '.join(FEVER_LABELS)}; "
            f"for {', '.join(labels)} say which label rules out which: --complement "
            f"'{labels.names[0]}={labels.names[1]};{labels.names[1]}={labels.names[0]}' or complement={{…}}"
        )
    return complement(table, labels)


def parse_complement(text: str) -> dict[str, tuple[str, ...]]:
    """``GOLD=LABEL,LABEL;GOLD=LABEL`` as a table."""
    table: dict[str, tuple[str, ...]] = {}
    for entry in filter(str.strip, text.split(";")):
        gold, equals, others = entry.partition("=")
        names = tuple(name.strip() for name in others.split(",") if name.strip())
        if not (equals and gold.strip() and names) or gold.strip() in table:
            raise ConfigError(
                f"complement {text!r}: expected each gold label once with the labels that it rules out, "
                f"such as {SUPPORTS}={REFUTES};{REFUTES}={SUPPORTS},{NEI}."
            )
        table[gold.strip()] = names
    return table
