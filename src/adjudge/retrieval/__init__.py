"""From a claim to the sentences that may decide it."""

from adjudge.retrieval.build import build_index, index_pages
from adjudge.retrieval.evaluate import RetrievalFigures, RetrievalScores, evaluate_retrieval
from adjudge.retrieval.index import Index
from adjudge.retrieval.lexical import RetrievalSettings
from adjudge.retrieval.pipeline import EvidencePipeline
from adjudge.retrieval.progress import IndexProgress, IndexReport
from adjudge.retrieval.protocol import Retriever, Selector, as_retriever, as_selector, retrieve, select
from adjudge.retrieval.retriever import IndexRetriever, open_retriever
from adjudge.retrieval.selectors import LexicalSelector, ScoredSelector, load_selector

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
