"""Sentences that do not name their subject, and the sentence before them that may."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from adjudge.types import Sentence

MAX_CONTEXT = 300
"""Characters kept of the sentence before."""

_PRONOUN = re.compile(
    r"\W*(?:(?:it|he|she|they|its|his|her|their|this|these|those|both|neither|here)\b"
    r"|there\b(?! (?:is|are|was|were|has|have|had|will|would|may|can|must|should)\b)"  # "there are" names no place
    r"|(?:the|that) (?:company|firm|group|team|club|band|city|town|village|country|state|river|building|church|"
    r"school|university|film|movie|series|show|book|novel|album|song|game|ship|museum|museum's|study|trial|"
    r"project|programme|program|latter|former|same|actor|actress|author|singer|player|couple|family)\b)",
    re.IGNORECASE,
)


def needs_context(text: str) -> bool:
    """Whether a sentence begins with a pronoun or with a noun that stands for a name."""
    return bool(_PRONOUN.match(text))


def contexts(sentences: Sequence[Sentence]) -> Iterator[str]:
    """For each sentence of a page that needs it the last one before that does not, else nothing.

    Not one of another section: a heading between them names another subject.
    """
    antecedent = section = ""
    for sentence in sentences:
        if sentence.section != section:
            antecedent, section = "", sentence.section
        if needs_context(sentence.text):
            yield antecedent[:MAX_CONTEXT]
        else:
            yield ""
            antecedent = sentence.text or antecedent
