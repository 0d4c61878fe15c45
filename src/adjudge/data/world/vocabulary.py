"""Words for names and for values. No name is taken from anywhere."""

from __future__ import annotations

from functools import cache
from math import gcd

FIRST = tuple(
    """Amber Apple Arrow Ash Autumn Badger Barley Bear Beech Bell Berry Birch Brass Bronze Butter
    Candle Cedar Chalk Cherry Clay Cloud Clover Coal Copper Coral Cotton Crane Crow Crystal Daisy Dawn Deer
    Diamond Dove Dragon Dust Eagle Echo Elder Elm Falcon Feather Fern Fiddle Fire Flint Fog Fox Frost
    Ginger Glass Gold Grape Hammer Harp Harvest Hawk Hazel Heather Heron Honey Horse Ice Iron Ivory Ivy Jade
    Juniper Lamb Lantern Lark Laurel Lemon Lily Lime Lion Maple Marble Mint Mist Moon Moss Oak Olive
    Orange Otter Owl Pearl Pepper Pigeon Pine Plum Poppy Quarry Rabbit Rain Raven Reed Robin Rose Rust Sage
    Salmon Salt Sand Scarlet Shadow Shell Silver Sky Snow Star Storm Summer Sun Swan Thistle Thorn Thunder Tiger
    Timber Velvet Violet Walnut Wheat Willow Wind Winter Wolf Yellow""".split()
)
"""English words, so that a reader who knows English meets pieces it knows; their compounds are made up."""
MIDDLE = tuple("ab ad al an ar av ed el en er et id il in ir is iv od ol on or ov ul un ur us".split())
ENDINGS = {
    "town": tuple("wick haven stead worth gate den cliff crest hurst combe".split()),
    "river": tuple("brook stream flow run bourne rill beck race wash wave".split()),
    "region": tuple("shire mark vale moor down side ria gard ora lea".split()),
    "hills": tuple("hill fell ridge tor edge horn top mount head back".split()),
    "lake": tuple("mere pool lake bay water eye ness ane ell more".split()),
    "surname": tuple("lock dell croft wright well ley worth ward by ner".split()),
    "film": tuple("gate hall court house tower way cross park end row".split()),
    "novel": tuple("wood grove field tree leaf root path yard nest bank".split()),
    "company": tuple("tech line craft works ix ware star corp form lab".split()),
    "band": tuple("beat tone drum note box bird fish hand ball bell".split()),
}
"""Each kind of name has endings of its own; ten each keeps the kinds alike in number."""

FIRST_NAMES = {
    "She": tuple(
        """Alira Brenna Carla Delva Elsin Farra Gelda Hanra Ilva Jenra Kassa Lenda Mirva Nolla Oriel Pella
        Rinna Selka Tamra Ulla Vessa Wilma Yella Zora""".split()
    ),
    "He": tuple(
        """Aldo Brend Calvo Dario Elmo Farlan Garo Halvor Ivar Joren Kaspar Lendo Marlo Nils Orlan Pavo
        Ruben Stellan Torvo Ulrik Varro Willem Yoran Zeno""".split()
    ),
}

FILM_TITLES = ("The Road to {}", "Return to {}", "The Last Train from {}", "A Night in {}", "Shadows over {}")
NOVEL_TITLES = (
    "The House of {}",
    "The Lanterns of {}",
    "A Letter from {}",
    "The Gardens of {}",
    "{} in Winter",
)
COMPANY_TITLES = ("{} Works", "{} Brothers", "{} Group", "{} Mills", "{} Company")
BAND_TITLES = ("The {} Four", "The {} Brothers", "{} Parade", "The {} Foxes", "{} Orchestra")

OCCUPATIONS = {
    "an artist": ("a painter", "a sculptor", "a photographer", "a potter"),
    "a scientist": ("a chemist", "a physicist", "a biologist", "an astronomer"),
    "an athlete": ("a swimmer", "a footballer", "a runner", "a boxer"),
    "a politician": ("a senator", "a governor", "a minister", "an ambassador"),
}
PRODUCTS = {
    "vehicles": ("bicycles", "trucks", "buses", "motorcycles"),
    "food": ("cheese", "bread", "chocolate", "noodles"),
    "clothing": ("coats", "gloves", "shirts", "hats"),
    "furniture": ("chairs", "tables", "beds", "desks"),
}


def spell(kind: str, index: int, shift: int) -> str:
    """The ``index``-th name of a kind, a different one for every index.

    A name is a word and an ending, numbered in mixed radix; ``shift`` (from the seed) and a
    multiplier without a common factor permute them, so neighbours do not rhyme. When these names
    run out the following ones grow by a syllable in the middle.
    """
    endings = ENDINGS[kind]
    size = len(FIRST) * len(endings)
    level, rest = divmod(index, size)
    first, last = divmod((rest * _multiplier(size) + shift) % size, len(endings))
    middle = ""
    while level:
        level, extra = divmod(level - 1, len(MIDDLE))
        middle += MIDDLE[extra]
    return FIRST[first] + middle + endings[last]


@cache
def _multiplier(size: int) -> int:
    return next(m for m in range(size * 3 // 5, size) if gcd(m, size) == 1)
