"""Content words of a text, crudely stemmed, without any of the package's own text analysis."""

from __future__ import annotations

import re

STOP_WORDS = frozenset(
    """a an the this that these those and or but nor so if than then as of in on at by for from to into onto with
    without within up down out off over under above below about after before between during through until since per
    via among against behind beside near along across around is are was were be been being am has have had having do
    does did done doing will would shall should can could may might must i you he she it we they me him her us them
    my your his its our their himself herself itself themselves who whom whose which what when where why how not no
    none nobody nothing never neither any some all every each both either more most less least few fewer many much
    such only own same other another one ones there here again also too very just still yet now once ever always
    almost even because while though although despite""".split()
)
# Longest first: the first that leaves three letters is cut.
_ENDINGS = tuple(
    "ations ation ments ingly ment edly ness ings iest ing ier ies ied ers est er ed es ly s e y".split()
)


def stem(word: str) -> str:
    """``word`` without its ending and without a doubled last consonant: ``stopped`` → ``stop``."""
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 3), "")
    base = word.removesuffix(ending)
    doubled = ending and len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiou"
    return base[:-1] if doubled else base


def content_words(text: str) -> set[str]:
    """The stems of all words and numbers of ``text`` that are no stop words."""
    words = re.findall(r"\w+", re.sub(r"'s?\b", " ", text.lower()))
    return {stem(word) for word in words if word not in STOP_WORDS}
