"""Cleaning FEVER's tokenised text, and page ids to titles and back.

The readers hand out text as it is stored. Whoever turns text into model input or index terms calls
``clean_text`` there, for training, evaluation and a user's own words alike, so that all three see the
same spelling. It is idempotent: cleaning twice is cleaning once.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from adjudge.errors import ConfigError
from adjudge.types import Evidence

_CODES = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "-COLON-": ":",
}
_CODE = re.compile("|".join(_CODES))
_BRACKETS = str.maketrans({symbol: code for code, symbol in _CODES.items()} | {" ": "_"})

# Some derived files dropped the dashes. A lone LRB may be the London Review of Books, so bare codes
# count only as whole tokens that open and close.
_BARE_CODE = re.compile(r"(?<!\S)(L|R)(RB|SB|CB)(?!\S)")

_INVISIBLE = re.compile("[\u00ad\u200b\ufeff]")  # soft hyphen, zero-width space, byte order mark
_QUOTED = re.compile(r"`` ?(.*?) ?(?:''|``)")
_DASH = re.compile(r"(?<!\S)--(?!\S)")

# Each match is one space to delete. Looking around rather than consuming keeps every decision
# independent of its neighbours, so that a second pass finds nothing.
_SPLIT_OFF = re.compile(
    r"""
    [ ] (?:
        (?= [,;?!.] (?: [ "] | $ ) )                    # 'word ,' but not ' .NET' nor ' ...'
      | (?<! \d[ ] ) (?= : (?: [ ] | $ ) )              # 'Alien : Covenant' but not '3 : 1'
      | (?= [)\]}] (?: [ "] | $ ) )                     # '2001 )'
      | (?<= (?<! [^\s"(\[{] ) [(\[{][ ] )              # '( 2001' but not ':( today'
      | (?<= \w[ ] ) (?= (?i: ' (?: s|re|ve|ll|d|m ) )  # "Lee 's" but not "in 's-Gravenhage"
                         (?: [ .,;:?!)\]"] | $ ) )
      | (?<= \w[ ] ) (?= (?i: n't ) (?! \w ) )          # "ca n't"
    )
    """,
    re.VERBOSE,
)


def expect_text(value: object, name: str) -> None:
    """``ConfigError`` unless a value is a text, of whole characters."""
    if not isinstance(value, str):
        raise ConfigError(f"{name}: expected a text, found {type(value).__name__}.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"{name}: character {error.start + 1} is half of a surrogate pair ({value[error.start]!a}), expected "
            'Unicode text. Decode it anew, or replace such characters: text.encode("utf-8", "replace").decode().'
        ) from None


def clean_text(text: str) -> str:
    """Undo FEVER's tokenisation and escapes: "Lee 's film -LRB- 2001 -RRB- ." becomes "Lee's film (2001).".

    Bracket codes become brackets, `` `` '' `` become ``"``, a lone ``--`` becomes an en dash, white space
    collapses, split-off punctuation, ``'s`` and ``n't`` join their word. Ordinary prose passes unchanged
    but for white space and Unicode composition (NFC; the wiki dump is decomposed).
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    text = " ".join(text.split())
    if "-" in text:
        text = _CODE.sub(lambda code: _CODES[code[0]], text)
    text = _join_bare_codes(text)
    if "``" in text:
        text = _QUOTED.sub(r'"\1"', text).replace("``", '"')
    text = text.replace("''", '"')
    if "--" in text:
        text = _DASH.sub("–", text)
    return _SPLIT_OFF.sub("", text)


def page_title(page: str) -> str:
    """What a reader would call a FEVER page: ``Alien_-LRB-film-RRB-`` → ``Alien (film)``."""
    return _CODE.sub(lambda code: _CODES[code[0]], page.replace("_", " "))


def evidence_title(evidence: Evidence) -> str:
    """The title under which a model reads a sentence, cleaned: its headings too; empty where the page is unknown."""
    return clean_text(evidence.section) or page_name(evidence)


def page_name(evidence: Evidence) -> str:
    """What a reader would call the page of a sentence, cleaned."""
    return clean_text(evidence.title or page_title(evidence.page))


def headings_of(evidence: Evidence) -> str:
    """What a sentence stands under, without the page's title; empty where that is all."""
    return evidence.section.removeprefix(f"{evidence.title}: ")


def title_with_context(title: str, context: str) -> str:
    """A title with the sentence before, which names the subject of a sentence that does not; either may be empty."""
    return ": ".join(part for part in (title, context) if part)


def drop_title(evidence: Evidence) -> Evidence:
    """The sentence without its page, as a model reads it in a text without titles."""
    return replace(evidence, page="", title="", section="")


def page_id(title: str) -> str:
    """FEVER's id of a title, the inverse of ``page_title``; an id is its own id.

    A title with underscores, or with bracket codes spelt out, has no id of its own.
    """
    return title.translate(_BRACKETS)


def _join_bare_codes(text: str) -> str:
    if "RB" not in text and "SB" not in text and "CB" not in text:
        return text
    opening: dict[str, list[int]] = {}
    symbols: dict[int, str] = {}
    for code in _BARE_CODE.finditer(text):
        side, kind = code.groups()
        if side == "L":
            opening.setdefault(kind, []).append(code.start())
        elif opening.get(kind):
            symbols[opening[kind].pop()] = _CODES[f"-L{kind}-"]
            symbols[code.start()] = _CODES[f"-R{kind}-"]
    return _BARE_CODE.sub(lambda code: symbols.get(code.start(), code[0]), text)


def without_controls(text: str) -> str:
    """Text whose control characters are shown as such, so that it cannot steer a terminal; line breaks stay."""
    unsafe = ("Cc", "Cf", "Cs", "Co")
    return "".join("\ufffd" if c != "\n" and unicodedata.category(c) in unsafe else c for c in text)
