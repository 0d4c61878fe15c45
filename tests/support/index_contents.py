"""What an index is made of, and what it holds."""

from __future__ import annotations

from pathlib import Path

from adjudge.retrieval.index import Index
from adjudge.retrieval.retriever import IndexRetriever


def texts_for(index: Path, claim: str) -> list[str]:
    """What an index has on a claim, best first."""
    return [evidence.text for evidence in IndexRetriever(Index.open(index)).retrieve(claim, 50)]


def write(folder: Path, **files: str) -> Path:
    """A folder of plain texts, with these added or changed."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def everything(index: Path) -> list[tuple[str, int, str]]:
    """All sentences by the pages they are filed under."""
    opened = Index.open(index)
    pages = opened.search_pages(_all(), 10_000)
    return sorted(
        (sentence.page, sentence.line, sentence.text)
        for page in {hit.page.page for hit in pages}
        for sentence in opened.page_sentences(page)
    )


def _all() -> object:
    import tantivy

    return tantivy.Query.all_query()
