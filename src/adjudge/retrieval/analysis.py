"""From text to index terms, the same for documents and claims; and from titles to names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from adjudge.data.text import clean_text

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

PROSE = "adjudge_prose"
TITLE = "adjudge_title"

MAX_QUERY_CHARACTERS = 10_000
MAX_QUERY_TERMS = 64
MAX_NAME_WORDS = 8
MAX_NAME_PLACES = 256
MAX_NAME = 400

_WORD = re.compile(r"\w+")
_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")
_CAPITALISED = re.compile(r"[^\W\d_a-z][\w'’-]*(?:\s+[^\W\d_a-z][\w'’-]*)*")
_ARTICLES = frozenset({"the", "a", "an"})
_COMMON = frozenset(
    "a about after all also an and any are as at be been before both but by can did do does during each for "
    "from had has have he her his how i if in into is it its many may more most my no not of on one only or "
    "other our out over she so some such than that the their them then there these they this those to two "
    "under up was we were what when where which while who will with would you your".split()
)


@lru_cache(maxsize=1)
def analyzers() -> dict[str, TextAnalyzer]:
    """Analyzers by name: prose is stemmed without stop words, titles keep every word as it is."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    def plain() -> TextAnalyzerBuilder:
        builder = TextAnalyzerBuilder(Tokenizer.simple())
        return builder.filter(Filter.remove_long(64)).filter(Filter.lowercase()).filter(Filter.ascii_fold())

    prose = plain().filter(Filter.stopword("english")).filter(Filter.stemmer("english")).build()
    return {PROSE: prose, TITLE: plain().build()}


def index_text(text: str) -> str:
    """Text as it is indexed: without FEVER's bracket codes, composed (NFC), no lone surrogates.

    Spacing and punctuation make no terms, so plain ASCII needs no cleaning.
    """
    if text.isascii() and "B-" not in text:
        return text
    return clean_text(text.encode("utf-8", "replace").decode())


def query_text(claim: str) -> str:
    """Any string a user may send, as text that can be searched for."""
    return clean_text(claim[:MAX_QUERY_CHARACTERS].encode("utf-8", "replace").decode().replace("\0", " "))


def terms(text: str, analyzer: str) -> list[str]:
    """The different terms of a query, in order, at most ``MAX_QUERY_TERMS``.

    Common words, which titles keep, are searched for only where there is nothing else: they cost time and
    distinguish little.
    """
    different = list(dict.fromkeys(analyzers()[analyzer].analyze(text)))
    return ([term for term in different if term not in _COMMON] or different)[:MAX_QUERY_TERMS]


def name_of(title: str) -> str:
    """What a claim would call the page: no trailing bracket, article, accents, case or punctuation.

    ``Savages (2012 film)`` → ``savages``; ``The Beatles`` → ``beatles``.
    """
    title = index_text(title)
    words = _fold_words(_BRACKET.sub("", title) or title)
    return _without_article(words)[:MAX_NAME]


def bracket_of(title: str) -> str:
    """The disambiguation of a title: ``Savages (2012 film)`` → ``2012 film``."""
    match = _BRACKET.search(title)
    return match[0].strip(" ()") if match else ""


@lru_cache(maxsize=256)
def names_in(text: str) -> Mapping[str, int]:
    """Names that the text may mention → their number of words; those of the last texts are kept.

    Every run of words that begins with a capital or a digit, unless it is one common word.
    """
    words = list(_WORD.finditer(text))[:MAX_NAME_PLACES]
    folded = [_fold_words(word[0]) for word in words]
    names: dict[str, int] = {}
    for first, word in enumerate(words):
        if not (word[0][0].isupper() or word[0][0].isdigit()):
            continue
        run: list[str] = []
        for parts in folded[first : first + MAX_NAME_WORDS]:
            run += parts
            name = _without_article(run)
            if name and name not in _COMMON:
                names[name] = name.count(" ") + 1
    return names


def proper_names(text: str) -> set[str]:
    """Names written in a text: runs of capitalised words, folded; the first word of the text alone is none."""
    names: set[str] = set()
    for run in _CAPITALISED.finditer(text):
        words = _fold_words(run[0])
        if run.start() > 0 or len(words) > 1:
            names.add(" ".join(words))
        if run.start() == 0:  # its first word may be capitalised only because it is the first
            names.add(" ".join(words[1:]))
    return {name for name in names if len(name) > 2}


def fold_text(text: str) -> str:
    """A text's words without case, accents and punctuation, a space around each."""
    return f" {' '.join(_fold_words(text))} "


def _without_article(words: list[str]) -> str:
    return " ".join(words[1:] if len(words) > 1 and words[0] in _ARTICLES else words)


def _fold_words(text: str) -> list[str]:
    if text.isascii():
        return _WORD.findall(text.lower().replace("_", " "))
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return _WORD.findall(bare.casefold().replace("_", " "))
