"""Training examples drawn from claims: fewer sentences, no titles, no gold, as a verifier meets them.

A training file shows every claim with its gold sentences, all five slots full. What a verifier reads is
different: some sentences or none, with titles or without, often related to the claim and yet not enough.
Each draw gives a claim one of these views:

    gold        gold sentences among others                               → the claim's label
    retrieved   what the retriever found, gold or as telling among it     → the claim's label
    contrast    near misses: of the gold's own page, or retrieved         → NOT ENOUGH INFO
    irrelevant  sentences of other claims                                 → NOT ENOUGH INFO
    nothing     no sentence at all                                        → NOT ENOUGH INFO
    altered     a fact of claim and gold changed in one of the two        SUPPORTS → REFUTES

A draw depends on the seed, the pass and the claim's id alone. Claims of a made-up world may be added: plain ones,
where nothing but the sentences can tell.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from adjudge.config import DEFAULT_EVIDENCE, AugmentSettings
from adjudge.data import world
from adjudge.data.kgat import TrainingClaim
from adjudge.data.text import drop_title, evidence_title
from adjudge.training.alter import Names, alter, collect_names
from adjudge.training.entities import is_held_out, leading_entity, title_of, titles_by_sentence
from adjudge.types import Evidence, Example, Label

NEI = Label.NOT_ENOUGH_INFO.value
GOLD_SHOWN = 3
MANY_GOLD = 3
"""A claim with more gold sentences than this is supported in many sentences: other sentences may still decide it."""
SAME_SENTENCE = 0.5
"""Two sentences that share at least this part of their words say the same."""

_WORD = re.compile(r"[A-Za-z]{4,}|\d+")


@dataclass(frozen=True)
class ClaimPool:
    """What examples are drawn from: claims, the pages of their gold by number, and names; sentences with titles."""

    claims: Sequence[TrainingClaim]
    pages: Mapping[int, tuple[Evidence, ...]]
    names: Names


def build_claim_pool(claims: Sequence[TrainingClaim], pages: Mapping[int, tuple[str, ...]]) -> ClaimPool:
    """Claims with their pages; a sentence without a title gets the one that can be read off the text."""
    titles = titles_by_sentence(pages.values())

    def titled(sentences: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        return tuple(
            s if evidence_title(s) else replace(s, title=title_of(s.text, titles)) for s in sentences
        )

    return ClaimPool(
        [replace(claim, gold=titled(claim.gold), retrieved=titled(claim.retrieved)) for claim in claims],
        {page_number: titled(tuple(map(Evidence, page))) for page_number, page in pages.items()},
        collect_names(claim.text for claim in claims),
    )


def hold_out(
    claims: Sequence[TrainingClaim], share: float
) -> tuple[list[TrainingClaim], list[TrainingClaim]]:
    """(training, held-out) claims; no entity and no page has claims in both, though a few are in neither."""
    held_out = [claim for claim in claims if is_held_out(claim.text, share)]
    pages = {claim.page for claim in held_out if claim.page is not None}
    training = [claim for claim in claims if not is_held_out(claim.text, share) and claim.page not in pages]
    return training, held_out


def gold_and_retrieved_views(data: ClaimPool, sentences: int) -> Iterator[Example]:
    """Every claim twice, as it is judged: with gold sentences (if it has any), and as retrieved."""
    for claim in data.claims:
        retrieved = claim.retrieved[:sentences]
        for kind, evidence in (
            ("gold", claim.gold[:DEFAULT_EVIDENCE] or retrieved),
            ("retrieved", retrieved),
        ):
            yield Example(f"{claim.id}/{kind}", claim.text, evidence, claim.label)


def draw_examples(data: ClaimPool, settings: AugmentSettings, seed: int) -> Iterator[Example]:
    """``settings.passes`` examples of every claim, each drawn anew."""
    for pass_index in range(settings.passes):
        for claim in data.claims:
            rng = random.Random(f"{seed} {pass_index} {claim.id}")
            text, evidence, label = _draw(data, claim, settings, rng)
            if rng.random() < settings.title_dropout:
                evidence = list(map(drop_title, evidence))
            rng.shuffle(evidence)
            yield Example(f"{claim.id}/{pass_index}", text, tuple(evidence), label)
        if settings.invented:
            yield from _draw_invented(settings, f"{seed} {pass_index}", pass_index)


def _draw_invented(settings: AugmentSettings, seed: str, pass_index: int) -> Iterator[Example]:
    """Claims of a made-up world, as many of each label, with gold among near misses."""
    world_seed = random.Random(seed).randrange(2**31)
    made_up = world.generate(settings.invented, world_seed, (1 / 3, 1 / 3, 1 / 3))
    for example in world.examples(made_up, "gold", world_seed, settings.sentences):
        yield replace(example, id=f"invented-{example.id}/{pass_index}")


DrawnExample = tuple[str, list[Evidence], str]
"""A claim's text, the sentences shown with it, and the label the two make."""


def _draw(
    data: ClaimPool, claim: TrainingClaim, settings: AugmentSettings, rng: random.Random
) -> DrawnExample:
    room = rng.randint(1, settings.sentences)
    chance = rng.random()
    for share, view in (
        (settings.nothing, _show_nothing),
        (settings.irrelevant, _show_irrelevant),
        (settings.contrast, _show_contrast),
        (settings.altered, _show_altered),
        (settings.retrieved, _show_retrieved),
    ):
        if chance < share:
            example = view(data, claim, room, rng)
            if example is not None:
                return example
            break  # this view cannot be made of the claim
        chance -= share
    return _show_gold(claim, settings.sentences, rng)


def _show_gold(claim: TrainingClaim, sentences: int, rng: random.Random) -> DrawnExample:
    """Gold sentences and up to as many others as there is room for, oftener few; without gold, others only."""
    gold = list(claim.gold[: min(GOLD_SHOWN, sentences)])
    others = _other_retrieved(claim)
    if not gold:
        return claim.text, others[: rng.randint(1, sentences)], claim.label
    return claim.text, gold + others[: rng.randint(0, rng.randint(0, sentences - len(gold)))], claim.label


def _show_retrieved(
    data: ClaimPool, claim: TrainingClaim, room: int, rng: random.Random
) -> DrawnExample | None:
    evidence = list(claim.retrieved[: max(2, room)])
    gold = {sentence.text for sentence in claim.gold}
    if gold and not any(sentence.text in gold or _is_as_telling(sentence, claim) for sentence in evidence):
        return None
    return claim.text, evidence, claim.label


def _is_as_telling(sentence: Evidence, claim: TrainingClaim) -> bool:
    """Whether a sentence names the claim's subject and has as many of its words as gold: FEVER's gold is not all."""
    about, subject = _words(claim.text), leading_entity(claim.text).split()
    text, *gold_texts = (f"{evidence_title(s)} {s.text}" for s in (sentence, *claim.gold))
    if not subject or subject[-1] not in text:
        return False
    return len(_words(text) & about) >= max(1, *(len(_words(gold) & about) for gold in gold_texts))


def _show_nothing(
    data: ClaimPool, claim: TrainingClaim, room: int, rng: random.Random
) -> DrawnExample | None:
    return claim.text, [], NEI


def _show_irrelevant(
    data: ClaimPool, claim: TrainingClaim, room: int, rng: random.Random
) -> DrawnExample | None:
    other_claim = data.claims[rng.randrange(len(data.claims))]
    about = _words(claim.text)
    evidence = [s for s in (*other_claim.gold, *_other_retrieved(other_claim)) if not _words(s.text) & about]
    return (claim.text, evidence[:room], NEI) if evidence else None


def _show_contrast(
    data: ClaimPool, claim: TrainingClaim, room: int, rng: random.Random
) -> DrawnExample | None:
    """Near misses, none of which tells more of the claim than its gold does."""
    if not 0 < len(claim.gold) <= MANY_GOLD:
        return None
    of_page = [] if claim.page is None else list(data.pages.get(claim.page, ()))
    rng.shuffle(of_page)
    candidates = [s for s in of_page if _is_near_miss(s, claim)]
    candidates += [s for s in _other_retrieved(claim) if _is_near_miss(s, claim)]
    return (claim.text, candidates[:room], NEI) if candidates else None


def _is_near_miss(sentence: Evidence, claim: TrainingClaim) -> bool:
    words, about = _words(sentence.text), _words(claim.text)
    for gold in claim.gold:
        gold_words = _words(gold.text)
        if sentence.text == gold.text or len(words & gold_words) >= SAME_SENTENCE * len(words | gold_words):
            return False
    return len(words & about) < max(len(_words(gold.text) & about) for gold in claim.gold)


def _show_altered(
    data: ClaimPool, claim: TrainingClaim, room: int, rng: random.Random
) -> DrawnExample | None:
    """A claim that one gold sentence supports, with a fact of the two changed: mostly in one of them."""
    if claim.label != Label.SUPPORTS.value or len(claim.gold) != 1:
        return None
    changed = alter(claim.text, claim.gold[0].text, data.names, rng)
    if changed is None:
        return None
    gold = replace(claim.gold[0], text=changed.sentence)
    near = [s for s in _other_retrieved(claim) if changed.fact not in s.text]
    label = Label.REFUTES.value if changed.contradicts else claim.label
    return changed.claim, [gold, *near[: room - 1]], label


def _other_retrieved(claim: TrainingClaim) -> list[Evidence]:
    """What was retrieved beside the gold."""
    gold = {sentence.text for sentence in claim.gold}
    return [sentence for sentence in claim.retrieved if sentence.text not in gold]


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}
