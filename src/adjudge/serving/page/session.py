"""A text checked for the page: events to stream, or the whole result."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from adjudge.data.segments import segment_text
from adjudge.serving.check.check import comparing
from adjudge.serving.check.records import Check, CheckedSentence, State
from adjudge.serving.page.explain import judge_alone
from adjudge.serving.page.render import ModelView, render
from adjudge.serving.page.store import CheckStore, PageCheck, key_of
from adjudge.serving.page.views import card_of, outline, row_of, summary_of, with_sentence

if TYPE_CHECKING:
    from adjudge.serving.server.corpus import Corpus
    from adjudge.serving.server.engine import Engine

MOST_LINK = 4000
"""Characters of a permalink; a longer text goes behind the ``#``, which no server sees."""

NOTHING = "No sentence was checked: none of them states something that documents could say."

Event = dict[str, Any]


def permalink(text: str, corpus: str) -> str:
    """The address that shows this result again."""
    link = f"/?{urlencode({'text': text, 'corpus': corpus})}"
    if len(link) <= MOST_LINK:
        return link
    return f"/?{urlencode({'corpus': corpus})}#text={quote(text)}"


class PageChecks:
    """Checks texts for the page with an engine, and keeps the last results."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.store = CheckStore()

    def key(self, text: str, corpus: Corpus) -> str:
        """What the result is kept by; another one once the corpus has changed."""
        index = corpus.index
        generation = "" if index is None else index.manifest.generation
        return key_of(text, corpus.name, generation)

    async def sentences(self, text: str, corpus: Corpus) -> AsyncIterator[tuple[int, CheckedSentence, Any]]:
        """Number, sentence and its evidence judged alone, as they come; the whole is kept at the end."""
        key = self.key(text, corpus)
        if (kept := self.store.get(key)) is not None:
            for number, (sentence, alone) in enumerate(zip(kept.check.sentences, kept.alone, strict=True)):
                yield number, sentence, alone
            return
        sentences: list[CheckedSentence] = []
        singles: list[Any] = []
        async for sentence in self.engine.check(text, corpus.name):
            alone = await judge_alone(self.engine, sentence)
            yield len(sentences), sentence, alone
            sentences.append(sentence)
            singles.append(alone)
        model = dict(comparing(self.engine.verifier.judge).identity)
        self.store.put(key, PageCheck(Check(text, tuple(sentences), "text", model), tuple(singles)))

    async def result(self, text: str, corpus: Corpus) -> PageCheck:
        """The whole result."""
        key = self.key(text, corpus)
        if (kept := self.store.get(key)) is not None:
            return kept
        pairs = [(sentence, alone) async for _, sentence, alone in self.sentences(text, corpus)]
        check = Check(text, tuple(sentence for sentence, _ in pairs))
        return self.store.get(key) or PageCheck(check, tuple(alone for _, alone in pairs))

    async def events(self, text: str, corpus: Corpus) -> AsyncIterator[Event]:
        """The outline of the text, then an event for each sentence: its row, its card and the counts, rendered."""
        check = pending_check(text)
        yield {"kind": "outline", "html": render("result.html", **self._outline(check, corpus.name))}
        model = ModelView(self.engine)
        checked = 0
        async for number, sentence, alone in self.sentences(text, corpus):
            check = with_sentence(check, number, sentence)
            checked += sentence.state is not State.NOT_CHECKED
            event: Event = {"kind": "sentence", "number": number, "checked": checked}
            if sentence.parts:
                card = card_of(check, number, alone, corpus.name)
                event["row"] = render("row.html", row=row_of(check, number))
                event["card"] = render("card.html", card=card, model=model, document=None)
            yield event | {"counts": _counts(check, number + 1)}
        yield {
            "kind": "end",
            "counts": _counts(check, len(check.sentences)),
            "summary": check.summary,
            "nothing": NOTHING,
        }

    def values(self, result: PageCheck, corpus: str) -> dict[str, Any]:
        """What ``result.html`` shows of a whole result."""
        check = result.check
        cards = [
            card_of(check, number, alone, corpus)
            for number, alone in enumerate(result.alone)
            if check.sentences[number].parts
        ]
        rows = [row_of(check, number) for number in range(len(check.sentences))]
        return self._shared(check, corpus) | {"rows": rows, "cards": cards, "pending": False, "total": 0}

    def _outline(self, check: Check, corpus: str) -> dict[str, Any]:
        rows = [row_of(check, number, pending=True) for number in range(len(check.sentences))]
        total = sum(sentence.reason is None for sentence in check.sentences)
        return self._shared(check, corpus) | {"rows": rows, "cards": (), "pending": True, "total": total}

    def _shared(self, check: Check, corpus: str) -> dict[str, Any]:
        return {
            "check": check,
            "blocks": outline(check),
            "states": summary_of(check),
            "corpus": corpus,
            "link": permalink(check.text, corpus),
            "model": ModelView(self.engine),
            "document": None,
            "nothing": NOTHING,
        }


def _counts(check: Check, end: int) -> str:
    """The counts of the sentences before ``end``, rendered."""
    return render("counts.html", states=summary_of(replace(check, sentences=check.sentences[:end])))


def pending_check(text: str) -> Check:
    """The text cut into its sentences, none of them checked yet."""
    return Check(
        text,
        tuple(
            CheckedSentence(
                segment.text, segment.start, segment.end, State.NOT_CHECKED, reason=segment.reason
            )
            for segment in segment_text(text)
        ),
    )
