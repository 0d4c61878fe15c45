from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from adjudge.encoders.rows import Layout, RowWriter, TokenRow, cut_of, share_budget
from adjudge.errors import ConfigError
from adjudge.types import Evidence, Example
from hf_tiny import load_tiny

PAD, CLS, SEP = 0, 2, 3
A, B, C, D, E, F, G = range(5, 12)  # the tiny tokenizer's pieces for single letters


@pytest.fixture(scope="module")
def bert() -> Any:
    return load_tiny()[1]


@pytest.fixture(scope="module")
def roberta() -> Any:
    """Words a to g, written as RoBERTa writes pairs: <s> … </s></s> … </s>."""
    words = ["<s>", "<pad>", "</s>", "<unk>", *"abcdefg"]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", cls_token="<s>", sep_token="</s>", unk_token="<unk>"
    )


def write(tokenizer: Any, claim: str, *evidence: Evidence, **layout: Any) -> list[TokenRow]:
    [rows] = RowWriter(tokenizer, Layout(**layout)).write([Example(1, claim, evidence)])
    return rows


def test_a_row_is_claim_title_sentence(bert: Any):
    rows = write(bert, "a b", Evidence("e f g", page="c_d"), Evidence("g", page=""))
    assert rows == [
        TokenRow([CLS, A, B, SEP, C, D, SEP, E, F, G, SEP], 4),
        TokenRow([CLS, A, B, SEP, G, SEP], 4),  # no page, no title
    ]


def test_roberta_divides_with_two_separators(roberta: Any):
    # <s> 0, </s> 2, a b c d e f g = 4 … 10
    rows = write(roberta, "a b", Evidence("e f g", page="c_d"), Evidence("g", page=""))
    assert rows == [
        TokenRow([0, 4, 5, 2, 2, 6, 7, 2, 8, 9, 10, 2], 4),
        TokenRow([0, 4, 5, 2, 2, 10, 2], 4),
    ]
    assert write(roberta, "a b") == [TokenRow([0, 4, 5, 2], 4)]


def test_a_claim_without_evidence_stands_alone(bert: Any):
    assert write(bert, "a b c") == [TokenRow([CLS, A, B, C, SEP], 5)]


def test_a_title_of_its_own_goes_before_the_name_of_the_page(bert: Any):
    evidence = Evidence("e", page="a/b.txt", title="c -LRB- d -RRB-")
    assert write(bert, "a", evidence) == write(bert, "a", Evidence("e", page="c_-LRB-d-RRB-"))


def test_titles_can_be_left_out(bert: Any):
    assert write(bert, "a", Evidence("e", page="c"), titles=False) == [TokenRow([CLS, A, SEP, E, SEP], 3)]


def test_the_sentence_before_stands_with_the_title_where_a_layout_shows_it(bert: Any):
    sentence = Evidence("e", page="c", context="f g")
    assert write(bert, "a", sentence) == [TokenRow([CLS, A, SEP, C, SEP, E, SEP], 3)]
    [row] = write(bert, "a", sentence, context=True)
    colon = bert.convert_tokens_to_ids(bert.tokenize(":"))
    assert row == TokenRow([CLS, A, SEP, C, *colon, F, G, SEP, E, SEP], 3)
    [row] = write(bert, "a", sentence, context=True, titles=False)
    assert row == TokenRow([CLS, A, SEP, F, G, SEP, E, SEP], 3)


def test_the_concat_row_holds_all_sentences_in_their_order(bert: Any, roberta: Any):
    evidence = Evidence("e f", page="c"), Evidence("g", page=""), Evidence("d", page="b")
    assert write(bert, "a b", *evidence, one_row=True) == [
        TokenRow([CLS, A, B, SEP, C, SEP, E, F, SEP, G, SEP, B, SEP, D, SEP], 4)
    ]
    assert write(roberta, "a b", *evidence, one_row=True) == [
        TokenRow([0, 4, 5, 2, 2, 6, 2, 8, 9, 2, 10, 2, 5, 2, 7, 2], 4)
    ]
    assert write(bert, "a", one_row=True) == [TokenRow([CLS, A, SEP], 3)]


def test_the_concat_row_is_cut_at_its_end(bert: Any):
    [row] = write(bert, "a b", Evidence("c " * 8), Evidence("d " * 8), one_row=True, max_length=16)
    # 16 − [CLS] [SEP] [SEP] − 2 claim words leave 11: eight c, a separator, two d.
    assert row == TokenRow([CLS, A, B, SEP, *[C] * 8, SEP, D, D, SEP], 4, cut=1)


@pytest.mark.parametrize(
    ("claim", "sentences", "expected"),
    [
        (2, (8, 3), (False, [])),  # 2 + 8 + [CLS] [SEP] [SEP] = 13 ≤ 16
        (2, (12, 3), (False, [0])),  # 17: a row of its own cuts the first sentence alone
        (9, (9, 3), (True, [0])),  # 21: both lose; with the second sentence, 15, none does
        (12, (3,), (True, [])),  # 18: the longer loses
        (15, (), (True, [])),  # 15 + [CLS] [SEP]
        (14, (), (False, [])),
    ],
)
def test_rows_say_what_they_do_not_hold_whole(
    bert: Any, claim: int, sentences: tuple[int, ...], expected: tuple[bool, list[int]]
):
    example = Example(1, "a " * claim, tuple(Evidence("c " * count) for count in sentences))
    layout = Layout(max_length=16)
    [rows] = RowWriter(bert, layout).write([example])
    assert cut_of(example, rows, layout) == (expected[0], set(expected[1]))
    joined = replace(layout, joined_row=True)  # what has a row of its own counts by that
    [rows] = RowWriter(bert, joined).write([example])
    assert cut_of(example, rows, joined).sentences == set(expected[1])


def test_in_one_row_the_last_sentences_are_cut(bert: Any):
    example = Example(1, "a b", tuple(Evidence("c " * 5) for _ in range(4)))
    for most, expected in ((None, {2, 3}), (2, set()), (3, {2})):
        # 16 − [CLS] [SEP] [SEP] − 2 claim words leave 11: five c, a separator, five c; nothing of the others.
        layout = Layout(max_length=16, one_row=True, max_evidence=most)
        [rows] = RowWriter(bert, layout).write([example])
        assert cut_of(example, rows, layout) == (False, expected)


def test_missing_sentences_become_rows_of_padding_in_the_released_layout(bert: Any):
    rows = write(bert, "a", Evidence("e"), max_length=16, empty_rows=5)
    assert rows == [TokenRow([CLS, A, SEP, E, SEP], 3)] + [TokenRow([PAD] * 16, 16, has_text=False)] * 4
    assert len(write(bert, "a", *[Evidence("e")] * 5, empty_rows=5)) == 5


@pytest.mark.parametrize("style", ["bert", "roberta"])
@pytest.mark.parametrize("claim_words", [1, 40, 200])
@pytest.mark.parametrize("title_words", [0, 2, 300])
@pytest.mark.parametrize("sentence_words", [0, 1, 60, 10_000])
def test_no_row_is_longer_than_the_limit(
    style: str, claim_words: int, title_words: int, sentence_words: int, request: pytest.FixtureRequest
):
    tokenizer = request.getfixturevalue(style)
    evidence = Evidence("b " * sentence_words, page="c_" * title_words)
    for one_row in (False, True):
        for limit in (16, 130):
            [row] = write(tokenizer, "a " * claim_words, evidence, max_length=limit, one_row=one_row)
            assert len(row.ids) <= limit
            assert row.ids[0] == tokenizer.cls_token_id and row.ids[-1] == tokenizer.sep_token_id
            assert row.ids[row.segment - 1] == tokenizer.sep_token_id
            [a, b] = tokenizer("a b", add_special_tokens=False)["input_ids"]
            assert a in row.ids[: row.segment] and b not in row.ids[: row.segment]
            if (one_row, limit) != (True, 16):
                assert (b in row.ids) == (sentence_words > 0)  # a long title leaves room for the sentence
            whole = claim_words + title_words + sentence_words + 6 <= limit
            if whole:
                assert row.ids.count(a) == claim_words and row.ids.count(b) == sentence_words
            elif max(claim_words, sentence_words) > limit:
                assert len(row.ids) == limit  # nothing is cut that would have fitted


def pop_longest(a: int, b: int, budget: int) -> tuple[int, int]:
    """Take tokens off the longer one, one at a time."""
    first, second = ["a"] * a, ["b"] * b
    while len(first) + len(second) > budget:
        (first if len(first) > len(second) else second).pop()
    return len(first), len(second)


@given(st.integers(0, 80), st.integers(0, 80), st.integers(0, 60))
@example(3, 3, 5)
@example(10, 3, 5)
@example(3, 10, 5)
def test_the_longer_is_cut_first_token_by_token(a: int, b: int, budget: int):
    assert share_budget(a, b, budget) == pop_longest(a, b, budget)


@given(st.integers(1, 40), st.integers(0, 20), st.integers(1, 40), st.integers(16, 40))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_cut_row_keeps_the_beginnings(bert: Any, claim: int, title: int, sentence: int, limit: int):
    letters = "abcdefg" * 6
    text = {"claim": " ".join(letters[:claim]), "sentence": " ".join(letters[:sentence])}
    [row] = write(bert, text["claim"], Evidence(text["sentence"], page="z_" * title), max_length=limit)
    title = min(title, limit // 3)
    kept_claim, kept_sentence = pop_longest(claim, sentence, limit - 3 - (title + 1 if title else 0))
    pieces = [A + "abcdefg".index(letter) for letter in letters]
    z = 30
    middle = [*[z] * title, SEP] if title else []
    assert row.ids == [CLS, *pieces[:kept_claim], SEP, *middle, *pieces[:kept_sentence], SEP]
    assert row.segment == kept_claim + 2


def test_bracket_codes_and_brackets_are_written_alike(bert: Any):
    coded = write(bert, "a -LRB- b -RRB-", Evidence("c -LSB- d -RSB- .", page="e_-LRB-f-RRB-"))
    plain = write(bert, "a (b)", Evidence("c [d].", page="e (f)"))
    assert coded == plain


def test_titles_are_composed_like_the_text():
    """The wiki dump writes é as two characters; a tokenizer that keeps accents must not see both."""
    words = Tokenizer(
        models.WordLevel(
            {w: i for i, w in enumerate(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "é"])}, unk_token="[UNK]"
        )
    )
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]"
    )
    assert write(tokenizer, "e\u0301", Evidence("\u00e9", page="e\u0301")) == [
        TokenRow([1, 4, 2, 4, 2, 4, 2], 3)
    ]


def test_special_tokens_in_somebodys_text_are_only_text(bert: Any):
    [row] = write(bert, "a [SEP] b [PAD]", Evidence("[CLS] c [SEP]"))
    assert row.ids.count(SEP) == 2 and row.ids.count(CLS) == 1 and PAD not in row.ids
    assert row.ids[row.segment - 1] == SEP and row.ids.index(SEP) == row.segment - 1


def test_an_empty_sentence_is_a_row_without_words(bert: Any):
    assert write(bert, "a", Evidence("", page="")) == [TokenRow([CLS, A, SEP, SEP], 3)]


def test_many_examples_are_written_as_one_by_one(bert: Any):
    examples = [
        Example(1, "a", (Evidence("b", page="c"),)),
        Example(2, "d e"),
        Example(3, "f", (Evidence("g"), Evidence("a b", page="d"))),
    ]
    writer = RowWriter(bert, Layout())
    assert writer.write(examples) == [writer.write([one])[0] for one in examples]
    assert writer.write([]) == []


def test_a_tokenizer_without_separators_is_refused(bert: Any):
    bare = PreTrainedTokenizerFast(tokenizer_object=bert._tokenizer, pad_token="[PAD]", cls_token="[CLS]")
    with pytest.raises(ConfigError, match="has no sep token"):
        RowWriter(bare, Layout())
