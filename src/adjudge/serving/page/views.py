"""What the templates show, made of a check: rows of the text at the left, a card for each sentence at the right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import msgspec

from adjudge.serving.check.export import line_and_column
from adjudge.serving.check.html import Block, blocks_of, marked_sentence, slug_of, with_marks
from adjudge.serving.check.records import WORDS, Check, CheckedPart, CheckedSentence, State
from adjudge.serving.page.graph import Graph, graph_of
from adjudge.types import NOT_SUPPORTED, Evidence, Label, Span, Verdict

if TYPE_CHECKING:
    from markupsafe import Markup

PENDING = "checking"
"""What a row says before its verdict has come."""

SENT_BACK = ("text", "page", "line", "title", "context", "section")
"""What a judge reads of a sentence, and where it stands."""

LABEL_STATES = {
    Label.SUPPORTS.value: State.SUPPORTS,
    Label.REFUTES.value: State.REFUTES,
    Label.NOT_ENOUGH_INFO.value: State.NOT_ENOUGH_INFO,
    NOT_SUPPORTED: State.NOT_ENOUGH_INFO,
}


@dataclass(frozen=True)
class Badge:
    """A state as the page shows it: the name of its style and icon, and a word."""

    slug: str
    word: str


@dataclass(frozen=True)
class Share:
    """A label's probability: a whole percentage to read, the exact one to draw."""

    badge: Badge
    percent: str
    start: float
    width: float


@dataclass(frozen=True)
class EvidenceView:
    """A sentence of the evidence: ``sentence`` is its position in the verdict, ``rank`` its place by weight, from 1."""

    sentence: int
    rank: int
    marked: Markup
    title: str
    location: str
    href: str
    weight: int | None
    alone: Badge | None
    """What the judge says of the claim by this sentence alone."""
    alone_percent: str


@dataclass(frozen=True)
class Tally:
    """How many sentences of the evidence support the claim, each judged alone, and how many were considered."""

    support: int
    refute: int
    considered: int

    @property
    def words(self) -> str:
        """One line: "3 support · 1 refutes · 5 considered"."""
        return (
            f"{self.support} support{'s' if self.support == 1 else ''} · "
            f"{self.refute} refute{'s' if self.refute == 1 else ''} · {self.considered} considered"
        )


@dataclass(frozen=True)
class PartView:
    """A statement with all that its card shows."""

    part: CheckedPart
    badge: Badge
    tally: Tally | None
    shares: tuple[Share, ...]
    evidence: tuple[EvidenceView, ...]
    graph: Graph | None

    @property
    def note(self) -> str:
        """Why the statement has no verdict, or another than the likeliest."""
        verdict = self.part.verdict
        if verdict is None or not verdict.abstained or verdict.label is None:
            return self.part.reason or ""
        state = LABEL_STATES.get(verdict.label)
        word = WORDS[state] if state else verdict.label.lower()
        return f"too unsure to decide: “{word}” is likeliest, at {percent(verdict.confidence)}"

    @property
    def sources(self) -> list[tuple[str, list[EvidenceView]]]:
        """The evidence by the title of its document, in the order of the weightiest sentence of each."""
        groups: dict[str, list[EvidenceView]] = {}
        for item in self.evidence:
            groups.setdefault(item.title, []).append(item)
        return list(groups.items())

    def rank_of(self, sentence: int) -> int:
        """The rank of the sentence at a position of the verdict's evidence."""
        return next(item.rank for item in self.evidence if item.sentence == sentence)

    @property
    def evidence_json(self) -> str:
        """The evidence by rank, as the form of "what if" sends it back."""
        sentences = [self.part.evidence[item.sentence] for item in self.evidence]
        return msgspec.json.encode([{key: getattr(s, key) for key in SENT_BACK} for s in sentences]).decode()


@dataclass(frozen=True)
class RowView:
    """A sentence of the text in the left column."""

    sentence_number: int
    marked: Markup
    text: str
    badge: Badge
    reason: str
    has_card: bool


@dataclass(frozen=True)
class CardView:
    """A sentence of the text in the right column."""

    sentence_number: int
    line: int
    badge: Badge
    marked: Markup
    parts: tuple[PartView, ...]


def badge_of(state: State) -> Badge:
    """The badge of a state."""
    return Badge(slug_of(state), WORDS[state])


def row_of(check: Check, number: int, pending: bool = False) -> RowView:
    """The row of a sentence; ``pending`` before its verdict has come."""
    sentence = check.sentences[number]
    wait = pending and sentence.reason is None
    badge = Badge(PENDING, PENDING) if wait else badge_of(sentence.state)
    marked = marked_sentence(check, sentence)
    return RowView(number, marked, sentence.text, badge, sentence.reason or "", bool(sentence.parts))


def outline(check: Check) -> list[Block]:
    """The text in blocks, as the left column shows it; code and comments between sentences are left out."""
    return [block for block in blocks_of(check) if block.items]


def card_of(
    check: Check, number: int, alone: Sequence[Sequence[Verdict]], corpus: str, line: int | None = None
) -> CardView:
    """The card of a sentence.

    Args:
        check: of the text.
        number: which of its sentences.
        alone: for each part a verdict for each sentence of its evidence, read alone; empty where that was not asked.
        corpus: the name of the corpus, for links into its documents.
        line: of the text; counted where it is not given.
    """
    sentence = check.sentences[number]
    singles = [*alone, *([()] * (len(sentence.parts) - len(alone)))]
    parts = tuple(
        part_view(part, verdicts, corpus) for part, verdicts in zip(sentence.parts, singles, strict=True)
    )
    line = line or line_and_column(check.text, sentence.start)[0]
    return CardView(number, line, badge_of(sentence.state), marked_sentence(check, sentence), parts)


def part_view(part: CheckedPart, alone: Sequence[Verdict], corpus: str) -> PartView:
    """All that a card shows of a statement."""
    return PartView(
        part,
        badge_of(part.state),
        tally_of(alone) if alone else None,
        shares_of(part.verdict.probabilities if part.verdict else {}),
        tuple(_evidence(part, alone, corpus)),
        _graph(part),
    )


def tally_of(alone: Sequence[Verdict]) -> Tally:
    """The count of the sentences by what each says alone."""
    labels = [verdict.label for verdict in alone if not verdict.abstained]
    support, refute = labels.count(Label.SUPPORTS.value), labels.count(Label.REFUTES.value)
    return Tally(support, refute, len(alone))


def shares_of(probabilities: Mapping[str, float]) -> tuple[Share, ...]:
    """The probabilities side by side on a bar of 100 units."""
    shares, start = [], 0.0
    for label, probability in probabilities.items():
        state = LABEL_STATES.get(label)
        badge = badge_of(state) if state else Badge("not-checked", label.lower())
        width = 100 * probability
        shares.append(Share(badge, percent(probability), round(start, 2), round(width, 2)))
        start += width
    return tuple(shares)


def percent(probability: float) -> str:
    """A probability to read; one that rounds to 0 or 100 without being so is written as a bound."""
    if 0 < probability < 0.005:
        return "<1%"
    if 0.995 <= probability < 1:
        return ">99%"
    return f"{probability:.0%}"


def document_href(corpus: str, sentence: Evidence, others: Sequence[Evidence], marks: Sequence[Span]) -> str:
    """The address of a document, with the sentences of the evidence lit and this one first."""
    query = [("corpus", corpus), ("page", sentence.page), ("line", str(sentence.line))]
    lines = {other.line for other in others if other.page == sentence.page} - {sentence.line}
    query += [("also", str(line)) for line in sorted(lines)]
    query += [("mark", f"{span.start}-{span.end}") for span in marks]
    return f"/document?{urlencode(query)}"


def _evidence(part: CheckedPart, alone: Sequence[Verdict], corpus: str) -> Iterator[EvidenceView]:
    """By weight, the sentence whose words speak against the statement first."""
    against = {mark.sentence for mark in part.evidence_marks}
    order = sorted(
        range(len(part.evidence)), key=lambda n: (n not in against, -(part.evidence[n].weight or 0.0), n)
    )
    for rank, number in enumerate(order, start=1):
        sentence = part.evidence[number]
        spans = sorted(mark.span for mark in part.evidence_marks if mark.sentence == number)
        verdict = alone[number] if number < len(alone) else None
        state = LABEL_STATES.get(verdict.label or "") if verdict else None
        known = bool(sentence.page) and sentence.line >= 0
        yield EvidenceView(
            number,
            rank,
            with_marks(sentence.text, spans, "against"),
            sentence.section or sentence.title or sentence.page or "evidence",
            _location(sentence),
            document_href(corpus, sentence, part.evidence, spans) if known else "",
            None if sentence.weight is None else round(100 * sentence.weight),
            badge_of(state) if state else None,
            percent(verdict.confidence) if verdict else "",
        )


def _location(sentence: Evidence) -> str:
    if sentence.line < 0:
        return ""
    return sentence.location or f"sentence {sentence.line + 1}"


def _graph(part: CheckedPart) -> Graph | None:
    explanation = part.verdict.explanation if part.verdict else None
    if explanation is None or not explanation.edges:
        return None
    return graph_of(explanation.edges, [sentence.weight for sentence in part.evidence])


def summary_of(check: Check) -> list[tuple[Badge, int]]:
    """The states that occur, with how many sentences are in each."""
    return [(badge_of(state), count) for state, count in check.counts.items() if count]


def with_sentence(check: Check, number: int, sentence: CheckedSentence) -> Check:
    """The check with one sentence replaced."""
    sentences = (*check.sentences[:number], sentence, *check.sentences[number + 1 :])
    return Check(check.text, sentences, check.name, check.model, check.passages)
