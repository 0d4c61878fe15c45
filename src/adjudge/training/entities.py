"""Who a text is about, by its capitals: titles for sentences that lost theirs, and splits that share no entity."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

_LINKING = {"of", "the", "and", "de", "in", "von", "van", "to", "for", "a", "on"}
_OPENERS = {"the", "a", "an", "it", "he", "she", "they", "his", "her", "its", "their", "this", "that", "in"}
_AFTER_NAME = re.compile(r" (?:\(|,|;|--|-LRB-|``|is|was|are|were|or|refers|has) ")
_MAX_TITLE_WORDS = 8


def leading_entity(claim: str) -> str:
    """The run of capitalised words a claim begins with, the possessive dropped: whom FEVER's claims are about.

    ``The Breakfast Club is a film.`` → ``The Breakfast Club``; a claim without capitals gives its first word.
    """
    words = claim.rstrip(" .").split()
    run: list[str] = []
    for word in words:
        if not (word[0].isupper() or word[0].isdigit() or word[0] in "\"'`" or (run and word in _LINKING)):
            break
        run.append(word)
    while run and run[-1] in _LINKING:
        run.pop()
    return re.sub(r"'s?$", "", " ".join(run or words[:1]))


def lead_title(sentence: str) -> str:
    """The name that a page's first sentence opens with; empty where it opens otherwise.

    ``Fargo is an American series .`` → ``Fargo``.
    """
    name = _AFTER_NAME.split(f"{sentence} ", maxsplit=1)[0].strip(" `'\"")
    if not name[:1].isupper() or len(name.split()) > _MAX_TITLE_WORDS or name == sentence.strip(" `'\""):
        return ""
    return name


def titles_by_sentence(pages: Iterable[tuple[str, ...]]) -> dict[str, str]:
    """The title of every sentence of some pages, read off each page's first sentence."""
    return {sentence: lead_title(page[0]) for page in pages if page for sentence in page}


def title_of(sentence: str, titles: Mapping[str, str]) -> str:
    """A sentence's title: its page's, or the name the sentence itself opens with; empty where neither is known."""
    if sentence in titles:
        return titles[sentence]
    name = lead_title(sentence)
    words = name.split()
    if not words or words[0].lower() in _OPENERS:
        return ""
    return name if all(word[0].isupper() or word in _LINKING for word in words) else ""


def is_held_out(claim: str, share: float) -> bool:
    """Whether a claim belongs to the held-out share: by a hash of its entity, so that an entity is never split."""
    return is_in_share(leading_entity(claim).casefold(), share)


def is_in_share(key: str, share: float) -> bool:
    """Whether the hash of a text falls into a share of all hashes."""
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) < share * 2**32
