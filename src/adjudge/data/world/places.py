"""The language of people, towns and rivers: how pages state a fact and how claims put it."""

from __future__ import annotations

from adjudge.data.world.schema import Kind, Relation

PERSON = Kind(
    name="person",
    short=(),  # by pronoun and surname, which belong to the person
    leads=(
        (("occupation",), "{s} is {occupation}."),
        (("occupation", "birth_year"), "{s}, born in {birth_year}, is {occupation}."),
        (("occupation", "birthplace"), "{s} is {occupation} from {birthplace}."),
        ((), "{s} is a well-known figure in the country."),
    ),
    joint=(
        ("birth_year", "birthplace", "{s} was born in {birthplace} in {birth_year}."),
        ("birthplace", "home", "{s} was born in {birthplace} and later settled in {home}."),
    ),
    relations=(
        Relation(
            "occupation",
            "occupation",
            ("{s} is best known as {v}.", "{s} made a living as {v}.", "{s} became {v} at an early age."),
            (
                "{s} is [|not ]{v}.",
                "By profession, {s} is [|not ]{v}.",
                "{s} [earns|does not earn] a living as {v}.",
            ),
        ),
        Relation(
            "birth_year",
            "birth_year",
            ("{s} was born in {v}.", "{s} was born in {v} as the youngest of four children."),
            ("{s} was [|not ]born in {v}.", "The birth of {s} [took|did not take] place in {v}."),
        ),
        Relation(
            "birthplace",
            "town",
            ("{s} was born in {v}.", "{s} was born and raised in {v}.", "{s} is a native of {v}."),
            (
                "{s} was [|not ]born in {v}.",
                "The birthplace of {s} is [|not ]{v}.",
                "{s} was born in [|a town other than ]{v}.",
            ),
        ),
        Relation(
            "home",
            "town",
            ("{s} lives in {v}.", "{s} later settled in {v}.", "{s} has kept a house in {v} for decades."),
            ("The home of {s} is [|not ]in {v}.", "{s} [resides|does not reside] in {v}."),
        ),
        Relation(
            "medal",
            "recent_year",
            ("{s} received the state medal in {v}.", "{s} was honoured with the state medal in {v}."),
            ("{s} [won|did not win] the state medal in {v}.", "{s} was [|not ]given the state medal in {v}."),
        ),
    ),
    fillers=(
        "{s} speaks three languages.",
        "{s} has two children.",
        "{s} rarely gives interviews.",
        "{s} has written a short memoir.",
    ),
)

TOWN = Kind(
    name="town",
    short=("The town", "It"),
    leads=(
        (("region",), "{s} is a town in the region of {region}."),
        (("region", "river"), "{s} is a town in {region}, on the river {river}."),
        (("river",), "{s} is a town on the river {river}."),
        ((), "{s} is a small town."),
    ),
    joint=(
        (
            "hall",
            "station",
            "{s} has a market hall built in {hall} and a railway station opened in {station}.",
        ),
    ),
    relations=(
        Relation(
            "region",
            "region",
            ("{s} lies in the region of {v}.", "{s} belongs to the region of {v}."),
            ("{s} is [|not ]part of {v}.", "{s} is located in [|a region other than ]{v}."),
        ),
        Relation(
            "river",
            "river",
            ("{s} stands on the river {v}.", "{s} grew up around a crossing of the river {v}."),
            ("{s} [lies|does not lie] on the river {v}.", "The river at {s} is [|not ]the {v}."),
            mirror=("{s} flows past the town of {v}.",),
        ),
        Relation(
            "population",
            "population",
            ("{s} has a population of {v}.", "{s} had {v} inhabitants at the last census."),
            ("{s} [has|does not have] {v} inhabitants.", "The population of {s} is [|not ]{v}."),
        ),
        Relation(
            "hall",
            "old_year",
            ("{s} has a market hall built in {v}.", "The market hall of {s} dates from {v}."),
            (
                "The market hall in {s} was [|not ]built in {v}.",
                "{s} [got|did not get] its market hall in {v}.",
            ),
        ),
        Relation(
            "station",
            "old_year",
            ("The railway reached {s} in {v}.", "{s} got its railway station in {v}."),
            (
                "The railway station in {s} was [|not ]opened in {v}.",
                "{s} was [|not ]connected to the railway in {v}.",
            ),
        ),
    ),
    fillers=(
        "{s} holds a fair every autumn.",
        "{s} has a museum of local history.",
        "{s} is surrounded by orchards.",
        "{s} is known for its narrow streets.",
    ),
)

RIVER = Kind(
    name="river",
    short=("The river", "It"),
    leads=(
        (("length",), "{s} is a river {length} kilometres long."),
        (("source",), "{s} is a river that rises in the {source} Hills."),
        (("mouth",), "{s} is a river that flows into Lake {mouth}."),
        ((), "{s} is a river."),
    ),
    joint=(("source", "mouth", "{s} rises in the {source} Hills and empties into Lake {mouth}."),),
    relations=(
        Relation(
            "source",
            "hills",
            ("{s} rises in the {v} Hills.", "{s} springs from the slopes of the {v} Hills."),
            (
                "{s} [begins|does not begin] in the {v} Hills.",
                "The source of {s} is [|not ]in the {v} Hills.",
            ),
        ),
        Relation(
            "mouth",
            "lake",
            ("{s} empties into Lake {v}.", "{s} ends in a delta on Lake {v}."),
            ("{s} [flows|does not flow] into Lake {v}.", "The mouth of {s} is [|not ]at Lake {v}."),
        ),
        Relation(
            "length",
            "length",
            ("{s} runs for {v} kilometres.", "{s} covers a distance of {v} kilometres."),
            ("The length of {s} is [|not ]{v} kilometres.", "{s} is [|not ]{v} kilometres long."),
        ),
        Relation(
            "bridge",
            "old_year",
            (
                "The first bridge over {s} was completed in {v}.",
                "{s} was crossed by its first bridge in {v}.",
            ),
            (
                "{s} was [|not ]first bridged in {v}.",
                "The first bridge across {s} was [|not ]finished in {v}.",
            ),
        ),
        Relation(
            "flood",
            "old_year",
            ("{s} caused a great flood in {v}.", "The great flood of {s} was recorded in {v}."),
            (
                "The great flood of {s} [happened|did not happen] in {v}.",
                "{s} [had|did not have] its great flood in {v}.",
            ),
        ),
    ),
    fillers=(
        "{s} is popular with anglers.",
        "{s} freezes over in cold winters.",
        "{s} is lined with willows.",
        "{s} has a slow current.",
    ),
)
