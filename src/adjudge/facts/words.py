"""Words of a text with their places, and which of them say something."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")

COMMON = frozenset(
    "a about after all also although an and any are as at be because been before being both but by can could did do "
    "does during each either for from had has have he her here his how however i if in into is it its itself just many "
    "may might more most much must my no nor not now of on one only or other our out over own same shall she should so "
    "some such than that the their them then there these they this those through to too under until up upon very was "
    "we were what when where whether which while who whom whose why will with within without would yet you your".split()
)
NEGATIONS = frozenset(
    "not no never nor neither none nobody nothing nowhere cannot without hardly n't don't doesn't didn't isn't aren't "
    "wasn't weren't hasn't haven't hadn't won't wouldn't can't couldn't shouldn't fails failed refuses refused lacks "
    "lacked denies denied".split()
)
_ENDINGS = (
    ("ational", "ate"),
    ("isation", "ise"),
    ("ization", "ise"),
    ("ations", "ate"),
    ("ation", "ate"),
    ("ities", "ity"),
    ("iness", "y"),
    ("ies", "y"),
    ("ied", "y"),
    ("ness", ""),
    ("ment", ""),
    ("ments", ""),
    ("ings", ""),
    ("ing", ""),
    ("edly", ""),
    ("ers", ""),
    ("er", ""),
    ("ors", ""),
    ("or", ""),
    ("ed", ""),
    ("ly", ""),
    ("es", ""),
    ("s", ""),
    ("e", ""),
)
_IRREGULAR = {
    word: line.split()[0]
    for line in """
    be is are was were been being am|begin began begun|build built|buy bought|bring brought|catch caught
    choose chose chosen
    come came|draw drew drawn|drive drove driven|fall fell fallen|find found|fly flew flown|get got|give gave given
    go went gone|grow grew grown|have has had|hold held|keep kept|know knew known|lead led|leave left|lend lent
    lose lost
    make made|man men|mean meant|meet met|pay paid|person people|rise rose risen|run ran|say said|see saw seen|sell sold
    send sent|sing sang sung|sit sat|speak spoke spoken|spend spent|stand stood|take took taken|teach taught|tell told
    think thought|throw threw thrown|wear wore worn|win won|woman women|write wrote written|child children|foot feet
    do does did done|show shown|shut|become became|feed fed|break broke broken|steal stole stolen|swim swam swum
    """.replace("\n", "|").split("|")
    for word in line.split()
}


class Word(NamedTuple):
    """A word as it stands in a text, and its stem."""

    text: str
    start: int
    end: int
    stem: str


def words_of(text: str) -> list[Word]:
    """The words of a text, in order."""
    return [Word(match[0], match.start(), match.end(), stem(match[0])) for match in _WORD.finditer(text)]


def fold(word: str) -> str:
    """A word without case, accents and possessive."""
    if not word.isascii():
        decomposed = unicodedata.normalize("NFKD", word)
        word = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return _POSSESSIVE.sub("", word.casefold())


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """What the forms of a word share, roughly: ``opened``, ``opens`` and ``opening`` are ``open``."""
    folded = fold(word).replace(".", "")
    if folded in _IRREGULAR:
        return _IRREGULAR[folded]
    if len(folded) < 4 or not folded.isalpha():
        return folded
    for ending, instead in _ENDINGS:
        root = folded[: -len(ending)]
        if folded.endswith(ending) and len(root) + len(instead) >= 3 and not folded.endswith("ss"):
            root += instead
            if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "sl":
                root = root[:-1]  # stopped, planned
            return root[:-1] if len(root) > 3 and root.endswith("e") else root
    return folded


def is_content(word: Word) -> bool:
    """Whether a word says something by itself."""
    return word.text.casefold() not in COMMON


def content_stems(text: str) -> frozenset[str]:
    """The stems of the words that say something."""
    return frozenset(word.stem for word in words_of(text) if is_content(word))
