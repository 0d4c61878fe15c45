"""The index: pages and sentences for BM25, kept in step with the documents they came from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from adjudge.errors import ConfigError
from adjudge.retrieval.analysis import PROSE, TITLE, analyzers, bracket_of, index_text, name_of
from adjudge.retrieval.context import contexts
from adjudge.retrieval.storage import IndexUnusable, Manifest, check_name, read_manifest, read_sources
from adjudge.retrieval.vectors import SentenceVectors
from adjudge.types import Evidence, Page, Sentence, SentenceRef

if TYPE_CHECKING:
    import tantivy

WRITER_MEMORY = 32 << 20
"""Bytes each writer gathers before it writes a segment; what bounds memory while indexing."""

_ATTEMPTS = 5


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

    @property
    def ref(self) -> SentenceRef:
        """Page and line."""
        return SentenceRef(self.page, self.line)

    def evidence(self, score: float) -> Evidence:
        """The sentence as it is offered for a claim."""
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
        )


class StoredPage(NamedTuple):
    """A page as the index returns it, without its sentences."""

    page: str
    title: str
    source: str | None


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
        """Open the current generation; ``DataError`` when the folder is no index of this version."""
        path = Path(path)
        check_name(path)
        for _ in range(_ATTEMPTS):
            manifest = read_manifest(path)
            folder = path / manifest.generation
            try:
                record = manifest.vectors
                vectors = None if record is None else SentenceVectors.open(folder, record)
                pages, sentences = (open_part(folder / name) for name in ("pages", "sentences"))
                return cls(path, manifest, pages, sentences, vectors)
            except (ValueError, OSError) as error:
                reason = error  # a build may have replaced the generation just now: look again
        raise IndexUnusable(f"{path}: damaged index ({reason}). Delete the folder and index again.")

    @classmethod
    def unpublished(cls, path: Path, folder: Path) -> Index:
        """A generation that no manifest names yet, its documents committed."""
        return cls(path, Manifest(), open_part(folder / "pages"), open_part(folder / "sentences"))

    def search_pages(self, query: tantivy.Query, limit: int) -> list[PageHit]:
        """The best pages for a query over the page schema."""
        return [PageHit(_decode_page(raw), score) for score, raw in _search(self.pages, query, limit)]

    def search_sentences(self, query: tantivy.Query, limit: int) -> list[Hit]:
        """The best sentences for a query over the sentence schema."""
        return [Hit(_decode_sentence(raw), score) for score, raw in _search(self.sentences, query, limit)]

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
        self._document = Document
        self._writers = {
            name: open_part(folder / name, create=True).writer(heap_size=WRITER_MEMORY, num_threads=1)
            for name in ("pages", "sentences")
        }

    def add(self, page: Page, source: str) -> None:
        """Add a page that came from ``source``."""
        title = index_text(page.title)
        body = []
        for sentence, context in zip(page.sentences, contexts(page.sentences), strict=True):
            text = index_text(sentence.text)
            body.append(text)
            stored = _stored(page, sentence, self.numbers, context)
            fields = {"source": source, "page": stored.page, "number": stored.number}
            record = {"title": title, "text": text, "stored": msgspec.msgpack.encode(stored)}
            self._add("sentences", fields | record)
            self.numbers += 1
        stored_page = StoredPage(_valid(page.id), _valid(page.title), page.source)
        self._add(
            "pages",
            {
                "source": source,
                "page": stored_page.page,
                "name": name_of(title),
                "bracket": bracket_of(title),
                "title": title,
                "body": "\n".join(body),
                "stored": msgspec.msgpack.encode(stored_page),
            },
        )

    def remove(self, source: str) -> None:
        """Remove all pages that came from ``source`` and were added before."""
        for writer in self._writers.values():
            writer.delete_documents_by_term("source", source)

    def commit(self) -> None:
        """Write everything out and end."""
        for writer in self._writers.values():
            writer.commit()
            writer.wait_merging_threads()
        self._writers = {}

    def abandon(self) -> None:
        """Stop without a commit; nothing to do after one."""
        for writer in self._writers.values():
            writer.rollback()
            writer.wait_merging_threads()

    def _add(self, part: str, fields: Mapping[str, Any]) -> None:
        self._writers[part].add_document(self._document(**fields))


def open_part(folder: Path, create: bool = False) -> tantivy.Index:
    """Open the pages or the sentences of a generation, with the analyzers its terms were made by."""
    from tantivy import Index as Tantivy

    exists = (folder / "meta.json").exists()
    if not exists and not create:
        raise OSError(f"{folder.name} is missing")
    part = Tantivy.open(str(folder)) if exists else Tantivy(_schema(folder.name), path=str(folder))
    for name, analyzer in analyzers().items():
        part.register_tokenizer(name, analyzer)
    part.config_reader(reload_policy="manual")
    part.reload()
    return part


def _schema(part: str) -> tantivy.Schema:
    """Terms to search by, and one stored record to answer with."""
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    for name in ("source", "page") if part == "sentences" else ("source", "page", "name"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name=TITLE, index_option="freq")
    if part == "pages":
        builder.add_text_field("bracket", tokenizer_name=PROSE, index_option="freq")
        builder.add_text_field("body", tokenizer_name=PROSE, index_option="freq")
    else:
        builder.add_integer_field("number", indexed=True)
        builder.add_text_field("text", tokenizer_name=PROSE, index_option="freq")
    builder.add_bytes_field("stored", stored=True, indexed=False)
    return builder.build()


def _stored(page: Page, sentence: Sentence, number: int, context: str) -> StoredSentence:
    return StoredSentence(
        _valid(page.id),
        sentence.line,
        _valid(sentence.text),
        sentence.start,
        sentence.end,
        page.source,
        tuple(map(_valid, sentence.links)),
        _valid(page.title),
        number,
        _valid(context),
        None if sentence.location is None else _valid(sentence.location),
    )


def _search(part: tantivy.Index, query: tantivy.Query, limit: int) -> list[tuple[float, bytes]]:
    searcher = part.searcher()
    limit = min(limit, searcher.num_docs)
    if limit <= 0:
        return []
    hits = searcher.search(query, limit, count=False).hits
    return [(score, bytes(searcher.doc(address)["stored"][0])) for score, address in hits]


def _valid(text: str) -> str:
    """Text without lone surrogates, which cannot be stored."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
