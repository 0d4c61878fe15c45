from __future__ import annotations

from collections import Counter

from behaviour_suite import EXPECTED, KINDS, cases, pages


def test_there_are_some_hundred_claims_and_several_of_each_phenomenon():
    suite = list(cases())
    assert 300 <= len(suite) <= 400
    assert Counter(case.phenomenon for case in suite).keys() == EXPECTED.keys()
    assert min(Counter(case.phenomenon for case in suite).values()) >= 20
    assert len({case.claim.text for case in suite}) == len({case.claim.id for case in suite}) == len(suite)
    assert all(case.claim.label == EXPECTED[case.phenomenon] for case in suite)
    assert [case.claim for case in suite] == [case.claim for case in cases()]


def test_the_deciding_sentence_is_among_the_evidence():
    for case in cases():
        evidence = case.evidence()
        assert len(evidence) == 3
        if case.gold is None:
            assert case.claim.gold == ()
        else:
            assert case.claim.gold == (((case.page.id, case.gold),),)
            assert case.gold in [sentence.line for sentence in evidence]
            assert (
                evidence[[s.line for s in evidence].index(case.gold)].text
                == case.page.sentences[case.gold].text
            )


def test_what_is_altered_is_not_on_the_page():
    """A number, year or name that a refuted claim puts in is another than the page's."""
    for kind in KINDS:
        for place, row in enumerate(kind.rows):
            following = kind.rows[(place + 1) % len(kind.rows)]
            assert all(a != b for a, b in zip(row, following, strict=True))
    for case in cases():
        if case.phenomenon in ("number", "date"):
            text = " ".join(sentence.text for sentence in case.page.sentences)
            told = {word.strip(".,") for word in case.claim.text.split() if any(c.isdigit() for c in word)}
            assert told and not any(number in text for number in told)


def test_pages_have_unique_ids_and_no_unfilled_slots():
    made = pages()
    assert len({page.id for page in made}) == len(made) == 25
    for text in [s.text for page in made for s in page.sentences] + [case.claim.text for case in cases()]:
        assert "{" not in text and "}" not in text
