"""From a claim to the sentences that may decide it. Names are loaded when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.retrieval.build import build_index, index_pages
    from adjudge.retrieval.evaluate import RetrievalFigures, RetrievalScores, evaluate_retrieval
    from adjudge.retrieval.index import Index
    from adjudge.retrieval.lexical import RetrievalSettings
    from adjudge.retrieval.pipeline import EvidencePipeline
    from adjudge.retrieval.progress import IndexProgress, IndexReport
    from adjudge.retrieval.protocol import Retriever, Selector, as_retriever, as_selector, retrieve, select
    from adjudge.retrieval.retriever import IndexRetriever, open_retriever
    from adjudge.retrieval.selectors import LexicalSelector, ScoredSelector, load_selector

_HOMES = {
    "adjudge.retrieval.build": (
        "build_index",
        "index_pages",
    ),
    "adjudge.retrieval.evaluate": (
        "RetrievalFigures",
        "RetrievalScores",
        "evaluate_retrieval",
    ),
    "adjudge.retrieval.index": ("Index",),
    "adjudge.retrieval.lexical": ("RetrievalSettings",),
    "adjudge.retrieval.pipeline": ("EvidencePipeline",),
    "adjudge.retrieval.progress": (
        "IndexProgress",
        "IndexReport",
    ),
    "adjudge.retrieval.protocol": (
        "Retriever",
        "Selector",
        "as_retriever",
        "as_selector",
        "retrieve",
        "select",
    ),
    "adjudge.retrieval.retriever": (
        "IndexRetriever",
        "open_retriever",
    ),
    "adjudge.retrieval.selectors": (
        "LexicalSelector",
        "ScoredSelector",
        "load_selector",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "EvidencePipeline",
    "Index",
    "IndexReport",
    "IndexRetriever",
    "LexicalSelector",
    "IndexProgress",
    "RetrievalFigures",
    "RetrievalScores",
    "RetrievalSettings",
    "Retriever",
    "ScoredSelector",
    "Selector",
    "as_retriever",
    "as_selector",
    "build_index",
    "evaluate_retrieval",
    "index_pages",
    "load_selector",
    "open_retriever",
    "retrieve",
    "select",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'adjudge.retrieval' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
