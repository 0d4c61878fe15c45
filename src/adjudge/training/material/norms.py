"""Facts of rules and states: what is allowed, what is required, what things are fit for, and on what condition."""

from __future__ import annotations

import random
from collections.abc import Sequence

from adjudge.training.material.text import Fact, fill, pick_other
from adjudge.training.material.wordings import read_wordings

_STATE_OPENINGS = (
    *(
        "",
        "",
        "",
        "since Monday, ",
        "according to the notice, ",
        "at the moment, ",
        "as the inspector noted, ",
    ),
    *("the manager said that ", "please note that ", "the leaflet says that "),
)
_STATE_ENDS = (
    *("", "", "", " this week", " until further notice", ", as the report says"),
    ", according to the supplier",
)


def permission(rng: random.Random) -> Fact:
    """What somebody may or must not do."""
    texts = read_wordings("norms")["permission"]
    allowed = rng.random() < 0.45
    world = rng.choice(texts["world"])
    who, location, actions = world["who"], world["where"], world["actions"]
    action = rng.choice(actions)
    evidence_location = location if rng.random() < 0.6 else ""
    claim_location = evidence_location if rng.random() < 0.6 else ""
    slots = {"who": who, **_action(action), **_verbs(who)}
    same, turned = texts["allowed"], texts["forbidden"]
    if not allowed:
        same, turned = turned, same
    opening = rng.choice(texts["openings"]).format(n=rng.randint(2, 19))
    unrelated = slots | _action(pick_other(rng, actions, action))

    def claims(templates: Sequence[str], slots: dict[str, str]) -> list[str]:
        return fill(_drop_placed(templates, claim_location), where=claim_location, **slots)

    return Fact(
        fill(
            [opening + text for text in _drop_placed(same, evidence_location)],
            where=evidence_location,
            **slots,
        ),
        claims(same, slots),
        claims(turned, slots),
        claims(rng.choice([texts["allowed"], texts["forbidden"]]), unrelated),
    )


def duty(rng: random.Random) -> Fact:
    """What somebody has to do, or need not do."""
    texts = read_wordings("norms")["duty"]
    world = rng.choice(texts["world"])
    who, actions = world["who"], world["actions"]
    action = rng.choice(actions)
    same, turned = texts["required"], texts["optional"]
    if rng.random() >= 0.6:
        same, turned = turned, same
    verbs = _verbs(who)
    slots = {
        "who": who,
        **_action(action if verbs["are"] == "are" else action.replace("their", "its")),
        **verbs,
    }
    unrelated = slots | _action(pick_other(rng, actions, action))
    openings = read_wordings("norms")["permission"]["openings"]
    opening = rng.choice(openings).format(n=rng.randint(2, 19))
    return Fact(
        fill([opening + text for text in same], **slots),
        fill(same, **slots),
        fill(turned, **slots),
        fill(rng.choice([texts["required"], texts["optional"]]), **unrelated),
    )


def state(rng: random.Random) -> Fact:
    """What a thing is, or is the opposite of."""
    kind = rng.choice(read_wordings("norms")["state"]["kind"])
    subjects, yes, no = kind["things"], kind["yes"], kind["no"]
    subject = rng.choice(subjects)
    same, turned = (yes, no) if rng.random() < 0.5 else (no, yes)
    opening, end = rng.choice(_STATE_OPENINGS), rng.choice(_STATE_ENDS)
    if same is yes and "still" in " ".join(yes):
        end = ""
    return Fact(
        [_extend(text, opening, end) for text in _fill_subject(subject, same)],
        _fill_subject(subject, same),
        _fill_subject(subject, turned),
        _fill_subject(pick_other(rng, subjects, subject), rng.choice([yes, no])),
    )


def condition(rng: random.Random) -> Fact:
    """What is given on one condition only."""
    texts = read_wordings("norms")["condition"]
    benefit, needed = rng.choice(texts["benefits"]), rng.choice(texts["conditions"])
    slots = {
        "gift": benefit,
        "cond": needed,
        "other": pick_other(rng, texts["conditions"], needed),
        "gift2": pick_other(rng, texts["benefits"], benefit),
    }
    return Fact(*(fill(texts[part], **slots) for part in ("evidence", "supports", "refutes", "open")))


def form_gerund(action: str) -> str:
    """``keep dogs`` → ``keeping dogs``."""
    verb, _, rest = action.partition(" ")
    irregular: dict[str, str] = read_wordings("norms")["gerunds"]
    if verb in irregular:
        form = irregular[verb]
    elif verb.endswith("e") and not verb.endswith("ee"):
        form = verb[:-1] + "ing"
    else:
        form = verb + "ing"
    return f"{form} {rest}".strip()


def _action(action: str) -> dict[str, str]:
    return {"act": action, "doing": form_gerund(action)}


def _verbs(who: str) -> dict[str, str]:
    if who.startswith("the "):
        return {"are": "is", "have": "has", "do": "does"}
    return {"are": "are", "have": "have", "do": "do"}


def _drop_placed(templates: Sequence[str], location: str) -> list[str]:
    """Without a place, no template that begins with one."""
    return [text for text in templates if location or not text.startswith("{where}")]


def _fill_subject(subject: str, wordings_of_state: Sequence[str]) -> list[str]:
    return fill(
        [
            wording.format(it=subject) if "{it}" in wording else f"{subject} {_agree_with(subject, wording)}"
            for wording in wordings_of_state
        ]
    )


def _agree_with(subject: str, wording: str) -> str:
    if not subject.startswith("the boots"):
        return wording
    for singular, plural in (
        ("is ", "are "),
        ("has ", "have "),
        ("keeps", "keep"),
        ("withstands", "withstand"),
        ("lets", "let"),
    ):
        if wording.startswith(singular):
            return plural + wording[len(singular) :]
    return wording


def _extend(text: str, opening: str, end: str) -> str:
    body = text[:-1]
    if opening:
        body = opening + body[0].lower() + body[1:]
    return fill([body + end])[0]


FRAMES = {"permission": permission, "duty": duty, "state": state, "condition": condition}
