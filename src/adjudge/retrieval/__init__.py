"""From a claim to the sentences that may decide it."""

from adjudge.retrieval.build import IndexReport, Progress, build_index, index_pages
from adjudge.retrieval.evaluate import RetrievalFigures, RetrievalScores, evaluate_retrieval
from adjudge.retrieval.index import Index
from adjudge.retrieval.pipeline import EvidencePipeline
from adjudge.retrieval.protocol import Retriever
from adjudge.retrieval.search import IndexRetriever, RetrievalSettings
from adjudge.retrieval.select import LexicalSelector, ScoredSelector, Selector

__all__ = [
    "EvidencePipeline",
    "Index",
    "IndexReport",
    "IndexRetriever",
    "LexicalSelector",
    "Progress",
    "RetrievalFigures",
    "RetrievalScores",
    "RetrievalSettings",
    "Retriever",
    "ScoredSelector",
    "Selector",
    "build_index",
    "evaluate_retrieval",
    "index_pages",
]
