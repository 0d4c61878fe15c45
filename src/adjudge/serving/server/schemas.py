"""What requests and answers look like, with an example of each; the OpenAPI description is made of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict

from adjudge.serving.server.settings import MAX_CLAIM
from adjudge.types import Evidence


def check_characters(text: str) -> str:
    """Half of a surrogate pair, which JSON can escape, is no character; pydantic refuses it in bounded texts only."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("expected Unicode text, found half of a surrogate pair") from None
    return text


NOT_BLANK = r"\S"
Text = Annotated[str, AfterValidator(check_characters)]
SentenceText = Annotated[str, Field(max_length=20_000)]
ShortText = Annotated[str, Field(max_length=1000)]
ClaimText = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_CLAIM,
        pattern=NOT_BLANK,
        description="one statement that can be true or false",
    ),
]
CorpusName = Annotated[
    ShortText | None, Field(description="where to look; the server's first corpus if left out")
]
Identity = Annotated[Annotated[int, Strict()] | Text, Field(description="given back with the answer")]
_CLAIM = "The Ellery Bridge was opened in 1932."
_SENTENCE = "The Ellery Bridge was opened on 4 May 1931."


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class GivenEvidence(_Request):
    """A sentence with what is known about it."""

    text: SentenceText
    title: ShortText = ""
    page: ShortText = ""
    line: int = Field(-1, ge=-1, le=2**31 - 1)
    context: SentenceText = ""
    section: ShortText = ""

    def record(self) -> Evidence:
        """The sentence as a judge reads it."""
        return Evidence(**self.model_dump())


class VerifyRequest(_Request):
    """A claim to verify against a corpus."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"claim": _CLAIM}]})

    claim: ClaimText
    corpus: CorpusName = None
    id: Identity = 0


class ClassifyRequest(_Request):
    """A claim to judge by the evidence that comes with it."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"claim": _CLAIM, "evidence": [_SENTENCE]}]}
    )

    claim: ClaimText
    evidence: Annotated[
        list[SentenceText | GivenEvidence],
        Field(max_length=100, description="sentences: texts, or objects that say where they stand"),
    ]
    id: Identity = 0
    leave_one_out: bool = Field(False, description="also say what the verdict were without each sentence")


class CheckRequest(_Request):
    """A text to check sentence by sentence."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"text": f"{_CLAIM} It carries trams."}]}
    )

    text: Text
    corpus: CorpusName = None
    markdown: bool = Field(True, description="whether the text is Markdown")
    marks: bool = Field(True, description="whether the words are marked that the evidence does not back")
    parts: bool = Field(
        True, description="whether sentences are divided into the parts that can be true or false"
    )
    max_sentences: int = Field(
        1000, ge=1, le=100_000, description="sentences that are checked; the others are listed"
    )
    min_confidence: float | None = Field(
        None,
        ge=0,
        le=1,
        description="verdicts less probable are NOT ENOUGH INFO; by default as the server's setting",
    )
    stream: bool = Field(True, description="one event per sentence; false: one JSON document at the end")


class SearchRequest(_Request):
    """A claim, or words, to find sentences for."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"claim": _CLAIM, "k": 3}]})

    claim: ClaimText
    corpus: CorpusName = None
    k: int = Field(10, ge=1, le=100, description="sentences to give")


class CorpusRequest(_Request):
    """A corpus to create."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "contracts"}]})

    name: str = Field(min_length=1, max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9_-]*$")


class EvidenceRecord(BaseModel):
    """A sentence of the evidence; what is unknown is left out."""

    model_config = ConfigDict(extra="allow")

    text: str
    page: str = Field(description="the document's id in its corpus")
    line: int = Field(description="the sentence's number in the document, from 0; -1 where unknown")
    score: float = Field(description="the retriever's or selector's")
    weight: float | None = Field(None, description="share of the verdict that the judge laid on it")
    title: str = ""
    source: str | None = Field(None, description="the file, from the corpus's folder")
    start: int | None = Field(None, description="first character in the document")
    end: int | None = None
    location: str | None = None
    context: str = ""
    similarity: float | None = None
    cut: bool = Field(False, description="whether the model read only the beginning: longer than its row")
    section: str = Field("", description="the title with the headings that the sentence stands under")


class VerdictRecord(BaseModel):
    """A verdict. Without evidence there is no label, and ``reason`` says why."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "id": 0,
                    "claim": _CLAIM,
                    "label": "REFUTES",
                    "probabilities": {"SUPPORTS": 0.02, "REFUTES": 0.95, "NOT ENOUGH INFO": 0.03},
                    "evidence": [
                        {
                            "text": _SENTENCE,
                            "page": "documents/bridge.txt",
                            "line": 0,
                            "score": 0.93,
                            "weight": 0.81,
                        }
                    ],
                }
            ]
        },
    )

    id: int | str
    claim: str
    label: str | None
    probabilities: dict[str, float]
    evidence: list[EvidenceRecord]
    reason: str | None = None
    abstained: bool = False
    claim_cut: bool = Field(False, description="whether the model read only the claim's beginning")
    explanation: dict[str, Any] | None = Field(
        None, description="edges: what each sentence took from the others; proof: facts compared"
    )
    without: list[dict[str, Any]] | None = Field(
        None, description="label and probabilities without each sentence, where leave_one_out was asked for"
    )


class SearchRecord(BaseModel):
    """Sentences that may decide the claim, best first."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "claim": _CLAIM,
                    "corpus": "documents",
                    "evidence": [
                        {"text": _SENTENCE, "page": "documents/bridge.txt", "line": 0, "score": 0.93}
                    ],
                }
            ]
        }
    )

    claim: str
    corpus: str
    evidence: list[EvidenceRecord]


class CheckRecord(BaseModel):
    """A checked text: counts by state, and every sentence."""

    name: str
    summary: str
    counts: dict[str, int]
    sentences: list[dict[str, Any]]


class ProgressRecord(BaseModel):
    """How far indexing has come; totals are 0 where they are not known."""

    files: int
    files_total: int
    sentences: int
    embedded: int
    to_embed: int
    seconds: float


class CorpusRecord(BaseModel):
    """A corpus of the server."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "documents", "state": "ready", "uploaded": False, "documents": 13, "sentences": 251}
            ]
        }
    )

    name: str
    state: Literal["loading", "ready", "indexing", "failed"]
    uploaded: bool = Field(description="whether documents can be added and removed here")
    documents: int
    sentences: int
    progress: ProgressRecord | None = None
    problem: str | None = None
    problems: list[str] = Field(default_factory=list, description="documents that could not be read")


class CorporaRecord(BaseModel):
    """All corpora, the default one first."""

    corpora: list[CorpusRecord]


class DocumentRecord(BaseModel):
    """A file of a corpus."""

    name: str
    bytes: int
    pages: int
    sentences: int


class DocumentsRecord(BaseModel):
    """The files of a corpus, some of them where they are many."""

    corpus: str
    total: int
    documents: list[DocumentRecord]


class SentenceRecord(BaseModel):
    """A sentence of a document."""

    line: int
    text: str
    start: int | None = None
    end: int | None = None
    location: str | None = None


class PageRecord(BaseModel):
    """A document, sentence by sentence."""

    corpus: str
    page: str
    title: str
    sentences: list[SentenceRecord]


class ErrorDetail(BaseModel):
    """What went wrong: a code for programs, a message for people."""

    code: str
    message: str


class ErrorRecord(BaseModel):
    """Every error looks like this."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "error": {
                        "code": "overloaded",
                        "message": "256 requests are waiting already. Try again in a moment.",
                    }
                }
            ]
        }
    )

    error: ErrorDetail


class BatchLine(BaseModel):
    """A line of a batch; other fields, such as a label, are not looked at."""

    model_config = ConfigDict(extra="ignore")

    claim: ClaimText
    id: Annotated[int, Strict()] | Text | None = None
    corpus: CorpusName = None
    evidence: list[SentenceText | GivenEvidence] | None = Field(None, max_length=100)


class ExperimentRecord(BaseModel):
    """A folder of runs."""

    name: str
    runs: int
    finished: int
    changed: str = Field(description="when the folder last changed, UTC")
    report: bool = Field(description="whether /runs/report?name=… shows one")


class ExperimentsRecord(BaseModel):
    """The experiments of the server's folders."""

    experiments: list[ExperimentRecord]
