"""Groups of examples made by rule of sentences found in texts."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from adjudge.training.material.rules import (
    BREAKING,
    KEEPING,
    Rule,
    change_name,
    change_number,
    deny,
    find_names,
    negate,
    replace_opposite,
    replace_synonym,
    restore_text,
    shorten,
)
from adjudge.types import Evidence, Example, Label

WORDS = range(7, 27)
"""Only sentences of this many words are used."""
LONG, LONG_TRIES = 18, 2
IN_BOTH = 0.25
"""Share of the sentences that are changed before anything is made of them: a changed fact, or a ``not``, is not by
itself a false one."""
IN_EVIDENCE = 0.3
"""Share of the contradictions that are made by a change of the evidence rather than of the claim."""
DENIED = 0.12
"""Share of the groups in which the contradiction, denied, is what the sentence supports."""
_ENDS = re.compile(
    r"(?<=[a-z]) (?:because|after|before|when|although|in order to|together with|thanks to|in spite of) "
    r"[^,.;]{12,60}(?=\.$)"
    r"|, (?:who|which|where|but|and) [^.;]{12,70}(?=\.$)"
)


def select_usable(texts: Sequence[str]) -> list[str]:
    """The texts, as people write them, that are whole sentences of a fit length."""
    sentences = []
    for text in texts:
        text = restore_text(text)
        if len(text.split()) in WORDS and text[0].isupper() and text.endswith(".") and '"' not in text:
            sentences.append(text)
    return list(dict.fromkeys(sentences))


def sentence_groups(texts: Sequence[str], seed: int) -> Iterator[list[Example]]:
    """For every sentence a group: a claim it supports, one it refutes, and often one it leaves open."""
    rng = random.Random(f"sentences {seed}")
    names = find_names(texts)
    breaking: tuple[Rule, ...] = (*BREAKING, change_name(names), change_name(names), change_name(names))
    ends = [match[0] for text in texts for match in _ENDS.finditer(text)]
    for index, text in enumerate(texts):
        group = _group(text, str(index), breaking, ends, rng)
        if group:
            yield group


def _group(
    text: str, identity: str, breaking: Sequence[Rule], ends: Sequence[str], rng: random.Random
) -> list[Example]:
    if rng.random() < IN_BOTH:
        text = rng.choice((negate, replace_opposite, change_number))(text, rng) or text
    supported = _reword(text, rng)
    broken = next(
        (b for _ in range(6) if (b := rng.choice(breaking)(supported if rng.random() < 0.7 else text, rng))),
        None,
    )
    if broken is None:
        return []
    pairs = []
    if supported == text:
        return []
    if rng.random() < DENIED:
        supported = deny(broken, rng) or supported
    pairs.append((supported, text, Label.SUPPORTS))
    turned = rng.choice(breaking)(text, rng) if rng.random() < IN_EVIDENCE else None
    if turned is not None:
        pairs.append((replace_synonym(text, rng) or text, turned, Label.REFUTES))
    else:
        pairs.append((broken, text, Label.REFUTES))
    chance = rng.random()
    cut = shorten(text, rng)
    if chance < 0.3 and cut is not None:
        pairs.append((text, cut, Label.NOT_ENOUGH_INFO))
    elif chance < 0.45 and ends:
        pairs.append((supported.rstrip(".") + rng.choice(ends) + ".", text, Label.NOT_ENOUGH_INFO))
    return [
        Example(f"{identity}-{label.name[0]}", claim, (Evidence(evidence),), label.value)
        for claim, evidence, label in pairs
    ]


def _reword(text: str, rng: random.Random) -> str:
    """The sentence after one to three rules that keep what it says; a long one is shortened first."""
    changed = text
    for _ in range(LONG_TRIES if len(text.split()) > LONG else 0):
        changed = shorten(changed, rng) or changed
    for trial in range(rng.randint(3, 9)):
        if changed != text and trial >= rng.randint(1, 3):
            break
        changed = rng.choice(KEEPING)(changed, rng) or changed
    return changed
