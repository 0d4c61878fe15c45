from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

from adjudge.errors import AdjudgeError, ConfigError, DataError, MissingExtra
from adjudge.types import (
    FEVER_LABELS,
    NO_EVIDENCE,
    Claim,
    Evidence,
    Example,
    Label,
    LabelSet,
    Page,
    Sentence,
    SentenceRef,
    Verdict,
)


def test_labels_stand_in_fevers_order():
    assert FEVER_LABELS.names == ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
    assert [FEVER_LABELS.index(label.value) for label in Label] == [0, 1, 2]
    assert list(FEVER_LABELS) == list(FEVER_LABELS.names) and len(FEVER_LABELS) == 3
    assert str(Label.NOT_ENOUGH_INFO) == "NOT ENOUGH INFO"


@pytest.mark.parametrize("text", ["not enough info", " NOT ENOUGH INFO\n", "NEI", "nei", "Not_Enough_Info"])
def test_a_label_is_understood_in_any_case_and_by_its_aliases(text: str):
    assert FEVER_LABELS.parse(text) == "NOT ENOUGH INFO"
    assert FEVER_LABELS.index(text) == 2


def test_an_unknown_label_is_named_with_what_was_expected_and_what_to_do():
    with pytest.raises(DataError) as caught:
        FEVER_LABELS.parse("SUPPORTED")
    assert str(caught.value) == (
        "label 'SUPPORTED' is not one of SUPPORTS, REFUTES, NOT ENOUGH INFO.\n"
        "If your file names them differently, pass --label SUPPORTED=SUPPORTS."
    )


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("REFUTED", "REFUTED=REFUTES"),
        ("Support", "Support=SUPPORTS"),
        ("Not Enough Evidence", "'Not Enough Evidence=LABEL'"),
        # Advice that is taken as it stands must not turn a label into another.
        ("Neutral", "Neutral=LABEL"),
        ("NOT SUPPORTED", "'NOT SUPPORTED=LABEL'"),
        ("UNSUPPORTED", "UNSUPPORTED=LABEL"),
        ("not entailed", "'not entailed=LABEL'"),
        ("S", "S=LABEL"),
        ("", "=LABEL"),
    ],
)
def test_no_label_is_proposed_for_one_that_does_not_begin_like_it(text: str, option: str):
    with pytest.raises(DataError) as caught:
        FEVER_LABELS.parse(text)
    which = " with one of them for LABEL" if "LABEL" in option else ""
    assert str(caught.value).endswith(f", pass --label {option}{which}.")


def test_aliases_are_added_without_losing_the_old_ones():
    labels = FEVER_LABELS.with_aliases({"supported": "SUPPORTS"})
    assert labels.parse("SUPPORTED") == "SUPPORTS"
    assert labels.parse("NEI") == "NOT ENOUGH INFO"
    with pytest.raises(DataError):
        FEVER_LABELS.parse("SUPPORTED")  # the original does not change


def test_label_sets_are_equal_by_their_names_and_order():
    assert LabelSet(("A", "B")) == LabelSet(("A", "B"), {"x": "A"})
    assert hash(LabelSet(("A", "B"))) == hash(LabelSet(("A", "B"), {"x": "A"}))
    assert LabelSet(("A", "B")) != LabelSet(("B", "A"))


@pytest.mark.parametrize("names", [(), ("A",), ("A", "A")])
def test_a_label_set_needs_two_different_names(names: tuple[str, ...]):
    with pytest.raises(ConfigError, match="two or more names"):
        LabelSet(names)


def test_an_alias_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="alias x=C: 'C' is not one of A, B"):
        LabelSet(("A", "B"), {"x": "C"})


@pytest.mark.parametrize(
    "record",
    [
        Sentence("s", 0),
        Page("p", "P", ()),
        Claim(1, "c"),
        Evidence("e"),
        Example(1, "c"),
        Verdict(1, "c", "SUPPORTS", {"SUPPORTS": 1.0}),
    ],
)
def test_records_cannot_be_changed(record: object):
    [first, *_] = dataclasses.fields(record)  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, first.name, "other")
    assert dataclasses.replace(record) == record  # type: ignore[type-var]


def test_evidence_of_an_unknown_place_says_so():
    assert Evidence("e").ref == SentenceRef("", -1)
    assert Evidence("e", "Page", 3).ref == SentenceRef(page="Page", line=3)


def test_confidence_is_the_probability_of_the_given_label():
    assert Verdict(1, "c", "B", {"A": 0.6, "B": 0.4}).confidence == 0.4


def test_a_verdict_on_nothing_has_no_label_and_no_confidence():
    verdict = Verdict(1, "c", None, {}, reason="the corpus is empty")
    assert (verdict.answer, verdict.confidence) == (NO_EVIDENCE, 0.0)


def test_the_neutral_label_is_fevers_or_the_one_named():
    assert FEVER_LABELS.neutral == "NOT ENOUGH INFO"
    assert LabelSet(("A", "NEI"), {"not enough info": "NEI"}).with_aliases({"x": "A"}).neutral == "NEI"
    assert LabelSet(("A", "B")).neutral is None
    assert LabelSet(("yes", "no", "unsure"), neutral="unsure").with_aliases({"ja": "yes"}).neutral == "unsure"
    with pytest.raises(ConfigError, match="Neutral label 'C' is not one of A, B"):
        LabelSet(("A", "B"), neutral="C")


def test_every_error_is_one_of_ours_and_a_missing_extra_says_how_to_install():
    assert issubclass(DataError, AdjudgeError) and issubclass(ConfigError, ValueError)
    assert str(MissingExtra("The server needs FastAPI", "serve")) == (
        'The server needs FastAPI: pip install "adjudge[serve]".'
    )


def test_types_and_settings_import_without_torch():
    script = "import sys, adjudge.types, adjudge.config; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0


def test_a_label_cannot_steer_a_terminal() -> None:
    with pytest.raises(ConfigError, match="without control characters"):
        LabelSet(("yes", "no\x1b[2J"))
    with pytest.raises(DataError) as raised:
        FEVER_LABELS.parse("\x1b]0;owned\x07")
    assert "\x1b" not in str(raised.value)
