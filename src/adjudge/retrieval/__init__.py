"""From a claim to the sentences that may decide it."""

from adjudge.retrieval.build import IndexReport, Progress, build_index, index_pages
from adjudge.retrieval.evaluate import RetrievalFigures, RetrievalScores, evaluate_retrieval
from adjudge.retrieval.index import Index
from adjudge.retrieval.protocol import Retriever
from adjudge.retrieval.search import IndexRetriever, RetrievalSettings

__all__ = [
    "Index",
    "IndexReport",
    "IndexRetriever",
    "Progress",
    "RetrievalFigures",
    "RetrievalScores",
    "RetrievalSettings",
    "Retriever",
    "build_index",
    "evaluate_retrieval",
    "index_pages",
]
