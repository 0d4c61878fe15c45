"""Rules over a sentence of any text: what it still says in other words, what it denies, what it leaves open.

Every rule takes a sentence and gives a changed one, or None where it does not apply. The rules are rough; what they
make is worth its errors by its number.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from adjudge.data.text import clean_text
from adjudge.training.material.text import format_thousands, spell_number
from adjudge.training.material.words import MONTHS, OPPOSITE, PHRASES, SYNONYM

Rule = Callable[[str, random.Random], str | None]

_MONTH = "|".join(MONTHS)
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}}) ({_MONTH}),? (\d{{4}})\b")
_MONTH_FIRST = re.compile(rf"\b({_MONTH}) (\d{{1,2}}), (\d{{4}})\b")
_COUNT = re.compile(r"(?<![\w.,:$£€#+–-])(?<!No\. )(\d{1,3}(?:,\d{3})+|\d{1,4})(?![\d.,:–%-]*\d)(?= [a-z])")
_NUMBER = re.compile(r"(?<![\w.,])\d{1,4}(?![\d.,]*\d)")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|could|will|would|has been|have been|had been|may|must|should|does|do|did) "
    r"(?!not\b|n't)(?=[a-z])"
)
_NEGATED = re.compile(r"\b(is|are|was|were|can|could|will|would|has|have|had|may|must|should) not (?=[a-z])")
_PASSIVE = re.compile(
    r"^(?P<object>[A-Z][^,;()]{3,60}?) (?:was|were) "
    r"(?P<verb>[a-z]+ed|written|built|made|won|sung|sold|led|bought) "
    r"by (?P<agent>(?:the )?[A-Z][\w' .-]{2,40}?)(?P<rest> (?:in|on|at|for|during) [^,;()]{1,40})?\.$"
)
_EITHER = re.compile(
    r"\b(is|are|was|were) (open|closed|legal|illegal|successful|unsuccessful|possible|impossible|safe|unsafe|"
    r"common|rare|alive|dead|public|private|active|inactive|large|small|strong|weak|popular|unpopular|married|unmarried|easy|"
    r"difficult|expensive|cheap|short|long|old|new|effective|ineffective|necessary|unnecessary|available|unavailable|"
    r"correct|incorrect|complete|incomplete)\b"
)
_BOUND = re.compile(r"(?:than|over|under|about|least|most|nearly|almost|approximately|around) $")
_SMALL = re.compile(r"(?<![\d.,:$£€-])\b([2-9]|[1-9]\d)\b(?![\d.,:%-]*\d)(?= [a-z])")
_NAMED_START = re.compile(r"[A-Z]\w+ [A-Z]|[A-Z]\w*[A-Z]")
_NAME = re.compile(r"(?<=[a-z,] )((?:[A-Z][a-z]+)(?: [A-Z][a-z]+){0,2})(?=[ ,.])")
_PAST = {
    "written": "wrote",
    "built": "built",
    "made": "made",
    "won": "won",
    "sung": "sang",
    "sold": "sold",
    "led": "led",
    "bought": "bought",
}


def restore_text(text: str) -> str:
    """A sentence of FEVER's pages as people write it: brackets and quotes restored, no space before a comma."""
    text = re.sub(r"\s+([,.;:)!?%])", r"\1", clean_text(text))
    return " ".join(text.split())


def _pick_match(pattern: re.Pattern[str], text: str, rng: random.Random) -> re.Match[str] | None:
    matches = list(pattern.finditer(text))
    return rng.choice(matches) if matches else None


def _replace_match(text: str, match: re.Match[str], new: str) -> str:
    return text[: match.start()] + new + text[match.end() :]


def _replace_word(text: str, table: dict[str, tuple[str, ...]], rng: random.Random) -> str | None:
    spots = [
        m
        for m in re.finditer(r"[A-Za-z]+", text)
        if m[0].lower() in table and (m.start() == 0 or m[0].islower())
    ]
    if not spots:
        return None
    spot = rng.choice(spots)
    word = rng.choice(table[spot[0].lower()])
    word = word.capitalize() if spot[0][0].isupper() else word
    start = text[: spot.start()]
    if re.search(r"\b[Aa]n? $", start):
        start = re.sub(r"\b([Aa])n? $", lambda m: m[1] + ("n " if word[0].lower() in "aeiou" else " "), start)
    return start + word + text[spot.end() :]


def replace_synonym(text: str, rng: random.Random) -> str | None:
    """One to three words replaced by words that mean the same."""
    changed = None
    for _ in range(rng.randint(1, 3)):
        changed = _replace_word(changed or text, SYNONYM, rng) or changed
    return changed


def replace_opposite(text: str, rng: random.Random) -> str | None:
    """A word replaced by its opposite."""
    return _replace_word(text, OPPOSITE, rng)


def shorten(text: str, rng: random.Random) -> str | None:
    """A part left out that the rest does not need: brackets, a relative clause, an opening, the last of two clauses."""
    cuts = [
        re.sub(r" ?\([^()]*\)", "", text),
        re.sub(r", (?:which|who|where|whose|while|although|whereas|but|so)\b[^.]*\.$", ".", text),
        re.sub(r", (?:which|who|where|whose) [^,]*, ", " ", text),
        re.sub(r", and (?:[a-z]+ )[^,.]*\.$", ".", text) if text.count(",") == 1 else text,
        re.sub(r"; .*$", ".", text),
        re.sub(r"^(?:In|On|At|During|Since|After) [^,]{3,30}, (?=[A-Za-z])", "", text),
        re.sub(r" (?:in|on|at|during|since|from|until|with|for) [^,.]{3,40}\.$", ".", text),
        re.sub(
            r", (?:including|such as|known as|based on|followed by|led by|located in)\b[^,.]*\.$", ".", text
        ),
    ]
    usable = [c for c in cuts if c != text and len(c.split()) >= 5]
    if not usable:
        return None
    cut = rng.choice(usable)
    return cut[:1].upper() + cut[1:]


def compare_rightly(text: str, rng: random.Random) -> str | None:
    """A count compared with a round number that it passes, or does not reach."""
    return _compare(text, rng, true=True)


def compare_wrongly(text: str, rng: random.Random) -> str | None:
    """A count compared with a round number, wrongly."""
    return _compare(text, rng, true=False)


def _compare(text: str, rng: random.Random, true: bool) -> str | None:
    match = _pick_match(_COUNT, text, rng)
    if match is None:
        return None
    value = int(match[1].replace(",", ""))
    if value < 4 or 1000 <= value < 2100 or _BOUND.search(text[: match.start()]):
        return None
    step = 10 ** max(0, len(str(value)) - 1)
    below, above = value // step * step, (value // step + 1) * step
    if below == value:
        below = value - max(1, step // 2)
    is_upper = (rng.random() < 0.5) != true
    words = ("fewer than ", "less than ", "under ") if is_upper else ("more than ", "over ", "at least ")
    bound = above if is_upper == true else below
    return _replace_match(text, match, rng.choice(words) + format_thousands(bound))


def spell_out_number(text: str, rng: random.Random) -> str | None:
    """A small number spelled out."""
    match = _pick_match(_SMALL, text, rng)
    return None if match is None else _replace_match(text, match, spell_number(int(match[1])))


def change_number(text: str, rng: random.Random) -> str | None:
    """Another number."""
    match = _pick_match(_NUMBER, text, rng)
    if match is None:
        return None
    value = int(match[0])
    reach = 20 if 1000 <= value < 2100 else max(3, value)
    choices = [n for n in range(max(1, value - reach), value + reach + 1) if n != value]
    return _replace_match(text, match, str(rng.choice(choices)))


def rewrite_date(text: str, rng: random.Random) -> str | None:
    """A date written in another order, or to the month or year only."""
    for pattern, order in ((_DAY_FIRST, (1, 2, 3)), (_MONTH_FIRST, (2, 1, 3))):
        match = pattern.search(text)
        if match:
            day, month, year = (match[k] for k in order)
            new = rng.choice([f"{month} {day}, {year}", f"{day} {month} {year}", f"{month} {year}", year])
            before = text[: match.start()]
            if new in (f"{month} {year}", year):
                before = re.sub(r"\b([Oo])n $", lambda m: "In " if m[1] == "O" else "in ", before)
                if not re.search(r"\b[Ii]n $", before):
                    new = f"{month} {day}, {year}"
            return before + new + text[match.end() :]
    return None


def change_month(text: str, rng: random.Random) -> str | None:
    """Another month in a date."""
    match = _pick_match(re.compile(rf"\b(?:{_MONTH})\b(?= \d)"), text, rng)
    return (
        None
        if match is None
        else _replace_match(text, match, rng.choice([m for m in MONTHS if m != match[0]]))
    )


def make_active(text: str, rng: random.Random) -> str | None:
    """A passive made active."""
    return _turn(text, swapped=False)


def swap_roles(text: str, rng: random.Random) -> str | None:
    """Who did it and what was done, the wrong way round."""
    return _turn(text, swapped=True)


def _turn(text: str, swapped: bool) -> str | None:
    match = _PASSIVE.match(text)
    if match is None:
        return None
    verb = _PAST.get(match["verb"], match["verb"])
    object_ = match["object"]
    object_ = (
        object_[0].lower() + object_[1:]
        if re.match(r"(The|A|An|It|His|Her|Its|Their) ", object_ + " ")
        else object_
    )
    agent = match["agent"][:1].upper() + match["agent"][1:]
    rest = (match["rest"] or "").rstrip()
    if swapped:
        return f"{match['object']} {verb} {match['agent']}{rest}."
    return f"{agent} {verb} {object_}{rest}."


def negate(text: str, rng: random.Random) -> str | None:
    """Polarity turned: a ``not`` put in or taken out."""
    match = _NEGATED.search(text)
    if match:
        return _replace_match(text, match, f"{match[1]} ")
    match = _AUXILIARY.search(text)
    if match is None:
        return None
    words = match[1].split()
    return _replace_match(text, match, f"{words[0]} not {' '.join(words[1:])} ".replace("  ", " "))


def deny(text: str, rng: random.Random) -> str | None:
    """The whole sentence denied."""
    opening = rng.choice(
        ["It is not true that ", "It is not the case that ", "It is false that ", "It is wrong to say that "]
    )
    start = text if _NAMED_START.match(text) else text[0].lower() + text[1:]
    return opening + start


_FRAMES = (
    "It is true that {}",
    "It is a fact that {}",
    "According to the text, {}",
    "It has been reported that {}",
    "We read that {}",
)


def frame(text: str, rng: random.Random) -> str | None:
    """The sentence with an opening such as ``it is true that``."""
    start = text if _NAMED_START.match(text) else text[0].lower() + text[1:]
    return rng.choice(_FRAMES).format(start)


def negate_opposite(text: str, rng: random.Random) -> str | None:
    """``was large`` → ``was not small``."""
    match = _pick_match(_EITHER, text, rng)
    if match is None:
        return None
    return _replace_match(text, match, f"{match[1]} not {OPPOSITE[match[2]][0]}")


def change_name(names: Sequence[str]) -> Rule:
    """A rule that puts another name in the place of one that is not the subject."""

    def rule(text: str, rng: random.Random) -> str | None:
        match = _pick_match(_NAME, text, rng)
        if match is None or match[1] in MONTHS:
            return None
        alike = [
            n
            for n in rng.sample(names, min(40, len(names)))
            if n not in text and len(n.split()) == len(match[1].split())
        ]
        return _replace_match(text, match, alike[0]) if alike else None

    return rule


def find_names(texts: Sequence[str]) -> list[str]:
    """Names that stand inside sentences."""
    return sorted({m[1] for text in texts for m in _NAME.finditer(text) if m[1] not in MONTHS})


def replace_phrase(text: str, rng: random.Random) -> str | None:
    """A phrase replaced by another that says the same."""
    matching = [(p, new) for p, new in PHRASES if re.search(p, text)]
    if not matching:
        return None
    pattern, new = rng.choice(matching)
    return re.sub(pattern, new, text, count=1).replace("  ", " ")


KEEPING: tuple[Rule, ...] = (
    replace_synonym,
    replace_synonym,
    shorten,
    shorten,
    compare_rightly,
    spell_out_number,
    rewrite_date,
    make_active,
    negate_opposite,
    replace_phrase,
    replace_phrase,
    frame,
)
"""Rules after which the sentence still supports what is said."""
BREAKING: tuple[Rule, ...] = (
    replace_opposite,
    replace_opposite,
    replace_opposite,
    change_number,
    compare_wrongly,
    change_month,
    swap_roles,
    negate,
    negate,
    deny,
)
"""Rules after which it denies it."""
