from __future__ import annotations

import pytest

from adjudge.training.entities import is_held_out, lead_title, leading_entity, title_of, titles_by_sentence


@pytest.mark.parametrize(
    ("claim", "entity"),
    [
        ("Tilda Swinton is a vegan.", "Tilda Swinton"),
        ("The Breakfast Club was released in 1985.", "The Breakfast Club"),
        ("Snow White and the Seven Dwarfs is a film.", "Snow White and the Seven Dwarfs"),
        ("Daddy Yankee's song was a hit.", "Daddy Yankee"),
        ("30 Seconds to Mars toured.", "30 Seconds to Mars"),
        ("Fiji.", "Fiji"),
        ("Paris in the spring is fair.", "Paris"),  # small words only between capitals
        ("nothing is capital here.", "nothing"),
    ],
)
def test_a_claim_is_about_the_capitals_it_begins_with(claim: str, entity: str):
    assert leading_entity(claim) == entity


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        ("Fargo is an American series .", "Fargo"),
        ("Sarah Michelle Prinze ( born April 14 , 1977 ) is an actress .", "Sarah Michelle Prinze"),
        ("`` Dirty Diana '' is a song by Michael Jackson .", "Dirty Diana"),
        ("Bleecker Street , Inc. is a company .", "Bleecker Street"),
        ("born in Rome , he was a poet .", ""),
        ("Nothing that anybody ever wrote about the long war is true .", ""),  # too long for a name
        ("No verb here", ""),
    ],
)
def test_a_page_is_called_what_its_first_sentence_opens_with(sentence: str, title: str):
    assert lead_title(sentence) == title


def test_a_sentence_has_its_pages_title_or_the_name_it_opens_with():
    page = ("Fargo is a series .", "It premiered in 2014 .", "The show is long .")
    titles = titles_by_sentence([page, ()])
    assert [title_of(sentence, titles) for sentence in page] == ["Fargo"] * 3
    assert title_of("Anne Rice was born in New Orleans .", titles) == "Anne Rice"
    for untold in ("He was born in Texas .", "The company is based in Flushing .", "Big plans were made ."):
        assert title_of(untold, titles) == ""


def test_an_entity_is_held_out_whole_and_about_the_share_asked_for():
    names = [f"{a}{b} {c}on" for a in "BCDFGHKLMN" for b in "aeiou" for c in "RSTVWXYZ"]
    held = {name for name in names if is_held_out(f"{name} is a poet.", 0.25)}
    assert 0.18 < len(held) / len(names) < 0.32
    for name in names:
        assert is_held_out(f"{name}'s house burnt down in 1901.", 0.25) == (name in held)
    assert not any(is_held_out(f"{name} is a poet.", 0) for name in names)
