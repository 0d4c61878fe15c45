"""The language of films, novels, companies and bands, and of claims that need two pages."""

from __future__ import annotations

from adjudge.data.world.places import PERSON, RIVER, TOWN
from adjudge.data.world.schema import Kind, Path, Relation

FILM = Kind(
    name="film",
    short=("The film", "It"),
    leads=(
        (("year", "genre"), "{s} is a {year} {genre} film."),
        (("genre",), "{s} is a {genre} film."),
        (("genre", "director"), "{s} is a {genre} film directed by {director}."),
        (("year",), "{s} is a {year} film."),
        ((), "{s} is a feature film."),
    ),
    joint=(("director", "composer", "{s} was directed by {director} with music by {composer}."),),
    relations=(
        Relation(
            "year",
            "recent_year",
            ("{s} was released in {v}.", "{s} reached the cinemas in {v}."),
            ("{s} [came|did not come] out in {v}.", "{s} was [|not ]released in {v}."),
        ),
        Relation(
            "genre",
            "film_genre",
            ("{s} is usually described as a {v} film.", "{s} counts as a {v} film."),
            ("{s} is [|not ]a {v} film.", "{s} [belongs|does not belong] to the {v} genre."),
        ),
        Relation(
            "director",
            "person",
            ("{s} was directed by {v}.", "The director of {s} was {v}.", "{s} was made by director {v}."),
            ("{v} [directed|did not direct] {s}.", "{s} is a film by [|a director other than ]{v}."),
            mirror=("{s} directed the film {v}.",),
        ),
        Relation(
            "composer",
            "person",
            ("The music of {s} was written by {v}.", "{s} has a score by {v}."),
            ("{v} [composed|did not compose] the music for {s}.", "The composer of {s} was [|not ]{v}."),
            mirror=("{s} wrote the music for the film {v}.",),
        ),
        Relation(
            "shot",
            "town",
            ("{s} was filmed in {v}.", "{s} was shot on location in {v}."),
            ("{s} was [|not ]filmed in {v}.", "The shooting of {s} [took|did not take] place in {v}."),
        ),
    ),
    fillers=(
        "{s} received mixed reviews.",
        "{s} was a modest success.",
        "{s} runs for two hours.",
        "{s} has no sequel.",
    ),
)

NOVEL = Kind(
    name="novel",
    short=("The novel", "The book"),
    leads=(
        (("author",), "{s} is a novel by {author}."),
        (("year",), "{s} is a novel published in {year}."),
        (("year", "author"), "{s} is a {year} novel by {author}."),
        ((), "{s} is a novel in three parts."),
    ),
    joint=(("author", "illustrator", "{s} was written by {author} and illustrated by {illustrator}."),),
    relations=(
        Relation(
            "year",
            "recent_year",
            ("{s} was published in {v}.", "{s} first appeared in {v}."),
            ("{s} [came|did not come] out in {v}.", "{s} was [|not ]published in {v}."),
        ),
        Relation(
            "author",
            "person",
            ("{s} was written by {v}.", "The author of {s} is {v}."),
            ("{v} [wrote|did not write] {s}.", "{s} is a book by [|an author other than ]{v}."),
            mirror=("{s} wrote the novel {v}.",),
        ),
        Relation(
            "illustrator",
            "person",
            ("{s} was illustrated by {v}.", "{s} contains drawings by {v}."),
            ("{v} [illustrated|did not illustrate] {s}.", "The pictures in {s} are [|not ]by {v}."),
            mirror=("{s} drew the pictures for the novel {v}.",),
        ),
        Relation(
            "setting",
            "town",
            ("{s} is set in {v}.", "The story of {s} takes place in {v}."),
            ("The plot of {s} [unfolds|does not unfold] in {v}.", "The setting of {s} is [|not ]{v}."),
        ),
    ),
    fillers=(
        "{s} has been translated many times.",
        "{s} sold slowly at first.",
        "{s} is taught in schools.",
        "{s} was reissued in paperback.",
    ),
)

COMPANY = Kind(
    name="company",
    short=("The company", "The firm"),
    leads=(
        (("product",), "{s} is a maker of {product}."),
        (("hq",), "{s} is a company based in {hq}."),
        (("product", "hq"), "{s} is a maker of {product} based in {hq}."),
        ((), "{s} is a family company."),
    ),
    joint=(
        ("founded", "founder", "{s} was founded in {founded} by {founder}."),
        ("founder", "chief", "{s} was founded by {founder} and is run by {chief}."),
    ),
    relations=(
        Relation(
            "founded",
            "recent_year",
            ("{s} was founded in {v}.", "{s} opened for business in {v}."),
            ("{s} was [|not ]established in {v}.", "{s} was [|not ]founded in {v}."),
        ),
        Relation(
            "founder",
            "person",
            ("{s} was founded by {v}.", "{s} was started by {v}."),
            ("The founder of {s} is [|not ]{v}.", "{v} [set|did not set] up {s}."),
            mirror=("{s} founded the company {v}.",),
        ),
        Relation(
            "chief",
            "person",
            ("{s} is run by {v}.", "The chief executive of {s} is {v}."),
            ("{v} is [|not ]the chief executive of {s}.", "{s} is [|not ]headed by {v}."),
            mirror=("{s} is chief executive of {v}.",),
        ),
        Relation(
            "hq",
            "town",
            ("{s} has its head office in {v}.", "{s} is based in {v}."),
            ("{s} is [|not ]headquartered in {v}.", "The main office of {s} is [|not ]in {v}."),
        ),
        Relation(
            "product",
            "product",
            ("{s} mainly makes {v}.", "{s} is known for its {v}."),
            ("{s} [produces|does not produce] {v}.", "The main product of {s} is [|not ]{v}."),
        ),
    ),
    fillers=(
        "{s} survived two strikes.",
        "{s} is not listed on any exchange.",
        "{s} sponsors a cycling team.",
        "{s} has changed its logo twice.",
    ),
)

BAND = Kind(
    name="band",
    short=("The band", "The group"),
    leads=(
        (("genre",), "{s} is a {genre} band."),
        (("genre", "hometown"), "{s} is a {genre} band from {hometown}."),
        (("hometown",), "{s} is a band from {hometown}."),
        ((), "{s} is a band with five members."),
    ),
    joint=(("formed", "hometown", "{s} was formed in {hometown} in {formed}."),),
    relations=(
        Relation(
            "formed",
            "recent_year",
            ("{s} was formed in {v}.", "{s} played its first concert in {v}."),
            ("{s} was [|not ]started in {v}.", "{s} [came|did not come] together in {v}."),
        ),
        Relation(
            "hometown",
            "town",
            ("{s} was formed in {v}.", "{s} comes from {v}."),
            ("The home town of {s} is [|not ]{v}.", "{s} is [|not ]a band from {v}."),
        ),
        Relation(
            "singer",
            "person",
            ("The singer of {s} is {v}.", "{s} is fronted by singer {v}."),
            ("{v} is [|not ]the vocalist of {s}.", "{s} [has|does not have] {v} as its singer."),
            mirror=("{s} sings in the band {v}.",),
        ),
        Relation(
            "genre",
            "band_genre",
            ("{s} plays {v} music.", "{s} is counted among the {v} bands."),
            ("{s} is [|not ]a {v} group.", "The music of {s} is [|not ]{v}."),
        ),
    ),
    fillers=(
        "{s} tours every summer.",
        "{s} has released four albums.",
        "{s} once broke up for a year.",
        "{s} performs without a manager.",
    ),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in (PERSON, TOWN, RIVER, FILM, NOVEL, COMPANY, BAND)}

PATHS: tuple[Path, ...] = (
    Path(
        "person",
        "birthplace",
        "town",
        "region",
        ("{s} was [|not ]born in the region of {v}.", "The birthplace of {s} is [|not ]in {v}."),
    ),
    Path(
        "person",
        "home",
        "town",
        "river",
        (
            "{s} [lives|does not live] in a town on the river {v}.",
            "The home of {s} is [|not ]in a town on the {v}.",
        ),
    ),
    Path(
        "film",
        "director",
        "person",
        "birthplace",
        (
            "The director of {s} was [|not ]born in {v}.",
            "{s} was directed by a native of [|a town other than ]{v}.",
        ),
    ),
    Path(
        "novel",
        "author",
        "person",
        "occupation",
        ("The author of {s} is [|not ]{v}.", "{s} was [|not ]written by {v}."),
    ),
    Path(
        "company",
        "founder",
        "person",
        "home",
        (
            "The founder of {s} [lives|does not live] in {v}.",
            "{s} was founded by a resident of [|a town other than ]{v}.",
        ),
    ),
    Path(
        "company",
        "hq",
        "town",
        "region",
        (
            "{s} has its head office in [|a region other than ]{v}.",
            "{s} is [|not ]based in the region of {v}.",
        ),
    ),
    Path(
        "band",
        "hometown",
        "town",
        "river",
        (
            "{s} comes from a town that [lies|does not lie] on the {v}.",
            "The home town of {s} is [|not ]on the {v}.",
        ),
    ),
)
