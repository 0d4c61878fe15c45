"""The index: pages and sentences for BM25, kept in step with the documents they came from."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from adjudge.errors import ConfigError, DiskFull
from adjudge.io.system import is_disk_full, system_reason
from adjudge.retrieval.analysis import bracket_of, index_text, name_of
from adjudge.retrieval.context import contexts
from adjudge.retrieval.parts import PARTS, open_part, open_to_readers
from adjudge.retrieval.storage import (
    IndexUnusable,
    Manifest,
    check_name,
    damage_message,
    read_manifest,
    read_sources,
    report_damage,
)
from adjudge.retrieval.vectors import SentenceVectors
from adjudge.types import Evidence, Page, Sentence, SentenceRef

if TYPE_CHECKING:
    import tantivy

WRITER_MEMORY = 32 << 20
"""Bytes each writer gathers before it writes a segment; what bounds memory while indexing."""

_ATTEMPTS = 5

PAGES_TOGETHER = 4_096
"""Numbers of sentences whose pages are read together when all are."""
TIES = 64
"""Documents beyond those asked for that are looked at where scores are equal."""

Record = TypeVar("Record")


class StoredSentence(NamedTuple):
    """A sentence as the index returns it."""

    page: str
    line: int
    text: str
    start: int | None
    end: int | None
    source: str | None
    links: tuple[str, ...]
    title: str
    number: int
    """Unique in the index; what the sentence's vector is found by."""
    context: str = ""
    """The sentence before, where this one does not name its subject."""
    location: str | None = None
    section: str = ""
    """The title with the headings above; empty where there are none."""

    @property
    def ref(self) -> SentenceRef:
        """Page and line."""
        return SentenceRef(self.page, self.line)

    def evidence(self, score: float, similarity: float | None = None) -> Evidence:
        """The sentence as it is offered for a claim, with its score by words and its cosine."""
        return Evidence(
            self.text,
            self.page,
            self.line,
            score=score,
            source=self.source,
            start=self.start,
            end=self.end,
            title=self.title,
            context=self.context,
            location=self.location,
            links=self.links,
            similarity=similarity,
            section=self.section,
        )


class StoredPage(NamedTuple):
    """A page as the index returns it, without its sentences."""

    page: str
    title: str
    source: str | None
    origin: str
    """What its sentences are removed by: the file that it was read from."""
    first: int
    """The number of its first sentence; the others follow it."""
    sentences: int


_decode_sentence = msgspec.msgpack.Decoder(StoredSentence).decode
_decode_page = msgspec.msgpack.Decoder(StoredPage).decode


class Hit(NamedTuple):
    """A sentence with its BM25 score."""

    sentence: StoredSentence
    score: float


class PageHit(NamedTuple):
    """A page with its BM25 score."""

    page: StoredPage
    score: float


@dataclass(frozen=True)
class Index:
    """An index opened for searching; it goes on showing the state in which it was opened."""

    path: Path
    manifest: Manifest
    pages: tantivy.Index
    sentences: tantivy.Index
    vectors: SentenceVectors | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Index:
        """Open the current generation; ``DataError`` when the folder is not an index of this version."""
        path = Path(path)
        check_name(path)
        for _ in range(_ATTEMPTS):
            manifest = read_manifest(path)
            folder = path / manifest.generation
            try:
                record = manifest.vectors
                vectors = None if record is None else SentenceVectors.open(folder, record)
                pages, sentences = (open_part(folder / name) for name in PARTS)
                return cls(path, manifest, pages, sentences, vectors)
            except (ValueError, OSError) as error:
                reason = error  # a build may have replaced the generation just now: look again
        raise IndexUnusable(damage_message(path, reason))

    @classmethod
    def unpublished(cls, path: Path, folder: Path) -> Index:
        """A generation that no manifest names yet, its documents committed."""
        with report_damage(path):
            return cls(path, Manifest(), open_part(folder / "pages"), open_part(folder / "sentences"))

    def search_pages(self, query: tantivy.Query, limit: int) -> list[PageHit]:
        """The best pages for a query over the page schema."""
        with report_damage(self.path):
            hits = _search(
                self.pages, query, limit, _decode_page, lambda page: (page.page, page.source or "")
            )
        return [PageHit(page, score) for score, page in hits]

    def search_sentences(self, query: tantivy.Query, limit: int) -> list[Hit]:
        """The best sentences for a query over the sentence schema."""
        with report_damage(self.path):
            hits = _search(self.sentences, query, limit, _decode_sentence, lambda s: (*s.ref, s.source or ""))
        return [Hit(sentence, score) for score, sentence in hits]

    def page_sentences(self, page: str) -> list[StoredSentence]:
        """All sentences of a page, by line."""
        from tantivy import Query

        query = Query.term_query(self.sentences.schema, "page", page)
        hits = self.search_sentences(query, self.sentences.searcher().doc_freq("page", page))
        return sorted((hit.sentence for hit in hits), key=lambda sentence: sentence.line)

    def numbered_sentences(self, first: int, end: int) -> list[StoredSentence]:
        """The sentences with numbers from ``first`` to below ``end``, by number."""
        from tantivy import FieldType, Query

        query = Query.range_query(self.sentences.schema, "number", FieldType.Integer, first, end - 1)
        hits = self.search_sentences(query, end - first)
        return sorted((hit.sentence for hit in hits), key=lambda sentence: sentence.number)

    def all_pages(self, chunk: int = PAGES_TOGETHER) -> Iterator[tuple[StoredPage, list[StoredSentence]]]:
        """Every page with its sentences, by number, a few of them in memory."""
        from tantivy import FieldType, Query

        searcher: Any = self.pages.searcher()  # tantivy's types do not know that a result has a count
        first, remaining = 0, searcher.num_docs
        while remaining:
            query = Query.range_query(
                self.pages.schema, "number", FieldType.Integer, first, first + chunk - 1
            )
            count = int(searcher.search(query, 1, count=True).count)
            pages = sorted(
                (hit.page for hit in self.search_pages(query, count)),
                key=lambda page: (page.first, page.page),
            )
            end = max((page.first + page.sentences for page in pages), default=first)
            sentences = {s.number: s for s in self.numbered_sentences(first, end)} if end > first else {}
            for page in pages:
                numbers = range(page.first, page.first + page.sentences)
                yield page, [sentences[number] for number in numbers]
            first, remaining = first + chunk, remaining - count

    def holds(self, refs: Iterable[SentenceRef]) -> bool:
        """Whether every one of these sentences is in the index."""
        lines: dict[str, set[int]] = {}
        for page, line in refs:
            lines.setdefault(page, set()).add(line)
        return all(
            wanted <= {sentence.line for sentence in self.page_sentences(page)}
            for page, wanted in lines.items()
        )


def fingerprint(index: Index) -> str:
    """A hash of what an index holds: the same documents, the same hash, whenever they were indexed.

    To be asked for when the index is opened: a build may remove the list of documents later.
    """
    try:
        sources = read_sources(index.path / index.manifest.generation)
    except IndexUnusable:
        if read_manifest(index.path).generation == index.manifest.generation:
            raise
        raise ConfigError(f"{index.path}: another process has just changed the index. Try again.") from None
    digest = hashlib.sha256(f"{index.manifest.pages} {index.manifest.sentences}".encode())
    for name in sorted(sources):
        digest.update(f"\n{name}\0{sources[name].sha256}".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


class Writer:
    """Adds and removes pages of one generation; nothing is visible before ``commit``."""

    def __init__(self, folder: Path, numbers: int = 0) -> None:
        from tantivy import Document

        self.numbers = numbers
        """The number of the next sentence."""
        self.has_removed = False
        """Whether pages were removed, whose words still count in the statistics (:func:`compact`)."""
        self._folder = folder
        self._document = Document
        self._writers = {
            name: open_part(folder / name, create=True).writer(heap_size=WRITER_MEMORY, num_threads=1)
            for name in PARTS
        }

    def add(self, page: Page, source: str) -> None:
        """Add a page that came from ``source``."""
        sentences = [
            _stored(page, sentence, self.numbers + offset, context)
            for offset, (sentence, context) in enumerate(
                zip(page.sentences, contexts(page.sentences), strict=True)
            )
        ]
        title = _valid(page.title)
        count = len(sentences)
        self.write(StoredPage(_valid(page.id), title, page.source, source, self.numbers, count), sentences)
        self.numbers += count

    def write(self, page: StoredPage, sentences: Sequence[StoredSentence]) -> None:
        """Write a page whose sentences have their numbers."""
        title, texts = index_text(page.title), [index_text(sentence.text) for sentence in sentences]
        for sentence, text in zip(sentences, texts, strict=True):
            fields = {"source": page.origin, "page": sentence.page, "number": sentence.number}
            above = index_text(sentence.section) or title
            record = {"title": above, "text": text, "stored": msgspec.msgpack.encode(sentence)}
            self._add("sentences", fields | record)
        sections = dict.fromkeys(index_text(sentence.section) for sentence in sentences if sentence.section)
        self._add(
            "pages",
            {
                "source": page.origin,
                "page": page.page,
                "number": page.first,
                "name": name_of(title),
                "bracket": bracket_of(title),
                "title": title,
                "body": "\n".join([*texts, *sections]),
                "stored": msgspec.msgpack.encode(page),
            },
        )

    def remove(self, source: str) -> None:
        """Remove all pages that came from ``source`` and were added before."""
        self.has_removed = True
        with self._report_failure():
            for writer in self._writers.values():
                writer.delete_documents_by_term("source", source)

    def commit(self) -> None:
        """Write everything out and end."""
        with self._report_failure():
            for writer in self._writers.values():
                writer.commit()
                writer.wait_merging_threads()
        for name in self._writers:
            open_to_readers(self._folder / name)
        self._writers = {}

    def abandon(self) -> None:
        """Stop without a commit; nothing to do after one."""
        for writer in self._writers.values():
            with suppress(ValueError, RuntimeError):  # which it raises once it has failed to write
                writer.rollback()
                writer.wait_merging_threads()

    def _add(self, part: str, fields: Mapping[str, Any]) -> None:
        with self._report_failure():
            self._writers[part].add_document(self._document(**fields))

    @contextmanager
    def _report_failure(self) -> Iterator[None]:
        """Say why nothing more is written: tantivy's thread that writes ends with its reason untold."""
        try:
            yield
        except ValueError as error:
            free, reason = shutil.disk_usage(self._folder).free, system_reason(error)
            if free < 2 * WRITER_MEMORY or is_disk_full(error):
                raise DiskFull(self._folder.parent, reason or f"{free / 1e6:,.1f} MB free") from None
            raise IndexUnusable(
                f"{self._folder.parent}: cannot be written ({reason or error}). It is as it was before. "
                "See whether the disk is in order and no limit is reached (ulimit -a), and index again."
            ) from None


def compact(folder: Path) -> None:
    """Write the pages of an unpublished generation anew, so that no trace of removed ones is left.

    BM25 counts removed documents until their segment is written anew: equal documents would be scored differently,
    depending on what the index held before.
    """
    fresh = folder / "compact"
    for part in PARTS:
        (fresh / part).mkdir(parents=True)
    with report_damage(folder.parent):
        writer = Writer(fresh)
        for page, sentences in Index.unpublished(folder.parent, folder).all_pages():
            writer.write(page, sentences)
    writer.commit()
    for part in PARTS:
        shutil.rmtree(folder / part)
        (fresh / part).rename(folder / part)
    fresh.rmdir()


def _stored(page: Page, sentence: Sentence, sentence_number: int, context: str) -> StoredSentence:
    return StoredSentence(
        _valid(page.id),
        sentence.line,
        _valid(sentence.text),
        sentence.start,
        sentence.end,
        page.source,
        tuple(map(_valid, sentence.links)),
        _valid(page.title),
        sentence_number,
        _valid(context),
        None if sentence.location is None else _valid(sentence.location),
        _valid(sentence.section),
    )


def _search(
    part: tantivy.Index,
    query: tantivy.Query,
    limit: int,
    decode: Callable[[bytes], Record],
    order: Callable[[Record], Any],
) -> list[tuple[float, Record]]:
    """(score, record) of the best; of those that score as much as the last, the first in ``order``.

    Tantivy takes the first by the time they were indexed. More than :data:`TIES` beyond the limit are not looked at.
    """
    searcher = part.searcher()
    limit = min(limit, searcher.num_docs)
    if limit <= 0:
        return []

    def read(address: Any) -> Record:
        return decode(bytes(searcher.doc(address)["stored"][0]))

    hits = searcher.search(query, min(limit + TIES, searcher.num_docs), count=False).hits
    if len(hits) <= limit or hits[limit][0] < hits[limit - 1][0]:
        return [(score, read(address)) for score, address in hits[:limit]]
    last = hits[limit - 1][0]
    better = [(score, read(address)) for score, address in hits if score > last]
    equal = sorted((read(address) for score, address in hits if score == last), key=order)
    return better + [(last, record) for record in equal[: limit - len(better)]]


def _valid(text: str) -> str:
    """Text without lone surrogates, which cannot be stored."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
