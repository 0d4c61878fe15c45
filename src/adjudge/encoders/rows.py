"""Text becomes token rows here, the same way in training and in prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from adjudge.data.text import clean_text, evidence_title, title_with_context
from adjudge.errors import ConfigError
from adjudge.types import Evidence, Example

TITLE_SHARE = 3
"""A title may take a third of a row; the rest of it is cut."""


@dataclass(frozen=True)
class Layout:
    """How a claim and its evidence are laid out in rows.

    Attributes:
        max_length: tokens per row, special tokens included.
        one_row: claim and all evidence in one row, rather than a row for each sentence.
        titles: whether the page's title stands before the sentence.
        context: whether the sentence before stands there too, where a sentence does not name its subject.
        max_evidence: sentences read of a claim, the first ones.
        joined_row: after the rows of the sentences, one that holds all of them.
        empty_rows: pad every claim to this many rows with empty rows (the published code does).
    """

    max_length: int = 130
    one_row: bool = False
    titles: bool = True
    context: bool = False
    empty_rows: int = 0
    joined_row: bool = False
    max_evidence: int | None = None


class TokenRow(NamedTuple):
    """Token ids; how many of them make the first segment; whether the row holds text at all.

    ``claim_cut`` where the end of the claim did not fit; ``cut`` is how many of the row's sentences, the last ones,
    are not there whole.
    """

    ids: list[int]
    segment: int
    has_text: bool = True
    claim_cut: bool = False
    cut: int = 0


class Cut(NamedTuple):
    """What of an example its rows do not hold whole: the claim, and sentences by position."""

    claim: bool = False
    sentences: frozenset[int] = frozenset()


WHOLE = Cut()


def cut_of(example: Example, rows: Sequence[TokenRow], layout: Layout) -> Cut:
    """What the rows of an example do not hold whole; a sentence with a row of its own counts by that."""
    if not any(row.claim_cut or row.cut for row in rows):
        return WHOLE
    sentences = len(example.evidence[: layout.max_evidence])
    if layout.one_row:
        positions = frozenset(range(sentences - rows[0].cut, sentences))
    else:
        positions = frozenset(position for position in range(sentences) if rows[position].cut)
    return Cut(any(row.claim_cut for row in rows[: sentences or 1]), positions)


class RowWriter:
    """Writes the rows of claims.

    A row is ``[CLS] claim [SEP] title [SEP] sentence [SEP]``; for tokenizers that separate a pair with
    two separators (RoBERTa's) ``<s> claim </s></s> title </s> sentence </s>``. The longer of claim and
    sentence is cut first. A claim without evidence is ``[CLS] claim [SEP]``.
    """

    def __init__(self, tokenizer: Any, layout: Layout) -> None:
        self.tokenizer = tokenizer
        self.layout = layout
        self.pad = _special_token(tokenizer, "pad")
        self._start = _special_token(tokenizer, "cls")
        self._end = _special_token(tokenizer, "sep")
        doubled = tokenizer.num_special_tokens_to_add(pair=True) == 4
        self._divide = [self._end] * (2 if doubled else 1)

    def write(self, examples: Sequence[Example]) -> list[list[TokenRow]]:
        """The rows of each example."""
        texts: list[str] = []
        read = [example.evidence[: self.layout.max_evidence] for example in examples]
        for example, sentences in zip(examples, read, strict=True):
            texts.append(clean_text(example.claim))
            for evidence in sentences:
                texts += [self._title(evidence), clean_text(evidence.text)]
        pieces = iter(self._tokenize(texts))
        written = []
        for sentences in read:
            claim = next(pieces)
            evidence_pieces = [(next(pieces), next(pieces)) for _ in sentences]
            written.append(self._rows(claim, evidence_pieces))
        return written

    def _title(self, evidence: Evidence) -> str:
        title = evidence_title(evidence) if self.layout.titles else ""
        return title_with_context(title, clean_text(evidence.context)) if self.layout.context else title

    def _tokenize(self, texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        encoded = self.tokenizer(
            texts,
            add_special_tokens=False,
            split_special_tokens=True,  # "[SEP]" in somebody's text is text, not a separator
            return_attention_mask=False,
            verbose=False,  # rows are cut below, so a warning about long texts would only mislead
        )
        ids: list[list[int]] = encoded["input_ids"]
        return ids

    def _rows(self, claim: list[int], evidence: list[tuple[list[int], list[int]]]) -> list[TokenRow]:
        if not evidence:
            rows = [self._alone(claim)]
        elif self.layout.one_row:
            rows = [self._joined(claim, evidence)]
        else:
            rows = [self._row(claim, title, sentence) for title, sentence in evidence]
            rows += [self._joined(claim, evidence)] if self.layout.joined_row else []
        missing = max(0, self.layout.empty_rows - len(rows))
        return rows + [TokenRow([self.pad] * self.layout.max_length, self.layout.max_length, False)] * missing

    def _alone(self, claim: list[int]) -> TokenRow:
        ids = [self._start, *claim[: self.layout.max_length - 2], self._end]
        return TokenRow(ids, len(ids), claim_cut=len(ids) < len(claim) + 2)

    def _row(self, claim: list[int], title: list[int], sentence: list[int]) -> TokenRow:
        title = title[: self.layout.max_length // TITLE_SHARE]
        head = [*title, self._end] if title else []
        budget = self.layout.max_length - 2 - len(self._divide) - len(head)
        claim_length, sentence_length = share_budget(len(claim), len(sentence), budget)
        first = [self._start, *claim[:claim_length], self._end]
        ids = [*first, *self._divide[1:], *head, *sentence[:sentence_length], self._end]
        return TokenRow(
            ids, len(first), claim_cut=claim_length < len(claim), cut=int(sentence_length < len(sentence))
        )

    def _joined(self, claim: list[int], evidence: list[tuple[list[int], list[int]]]) -> TokenRow:
        tail: list[int] = []
        ends: list[int] = []
        for title, sentence in evidence:
            tail += [*title[: self.layout.max_length // TITLE_SHARE], self._end] if title else []
            tail += [*sentence, self._end]
            ends.append(len(tail) - 1)
        budget = self.layout.max_length - 2 - len(self._divide)
        claim_length, tail_length = share_budget(len(claim), len(tail) - 1, budget)
        first = [self._start, *claim[:claim_length], self._end]
        ids = [*first, *self._divide[1:], *tail[:tail_length], self._end]
        cut = sum(end > tail_length for end in ends)
        return TokenRow(ids, len(first), claim_cut=claim_length < len(claim), cut=cut)


def _special_token(tokenizer: Any, name: str) -> int:
    token: int | None = getattr(tokenizer, f"{name}_token_id")
    if token is None:
        raise ConfigError(
            f"The backbone's tokenizer has no {name} token, which every row needs; "
            "use an encoder such as BERT or RoBERTa."
        )
    return int(token)


def share_budget(a: int, b: int, budget: int) -> tuple[int, int]:
    """The lengths left of ``a`` and ``b`` when the longer is cut first until both fit the budget."""
    if a + b <= budget:
        return a, b
    half = budget // 2
    if a <= half:
        return a, budget - a
    if b <= half:
        return budget - b, b
    return budget - half, half
