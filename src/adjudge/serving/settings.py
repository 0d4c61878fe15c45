"""What makes a verifier, as one record: the same in Python, on the command line, in bulk jobs and on Ray."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator
from pydantic_core.core_schema import ValidationInfo

from adjudge.config import DEFAULT_EVIDENCE, problems_in
from adjudge.errors import ConfigError

Name = Annotated[str, BeforeValidator(lambda value: os.fspath(value) if isinstance(value, Path) else value)]
"""A name or a path, kept as text."""


class VerifierSettings(BaseModel):
    """Which model, corpus and selector a verifier uses, and how."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Name = Field(
        "small",
        description="small (the package's own), large (first: adjudge model fetch large), "
        "the folder of a run, a checkpoint or an exported model, or hf:ID",
    )
    corpus: Path | None = Field(
        None, description="an index, or a folder or file of documents (indexed on first use)"
    )
    selector: Name = Field(
        "fusion",
        description="what selects the sentences: lexical, fusion (MiniLM), hf:ID (cross-encoder), a ranker's folder",
    )
    k: int = Field(DEFAULT_EVIDENCE, ge=1, description="sentences that a verdict is based on")
    candidates: int = Field(30, ge=1, description="sentences that the selector reads")
    min_confidence: float = Field(
        0.0, ge=0, le=1, description="abstain from verdicts less probable than this"
    )
    device: Name = Field("auto", description="where to compute: auto, cpu or cuda")
    precision: Name = Field(
        "auto",
        description="what to compute in: fp32, int16 (faster on many CPUs), or auto: what suits the device",
    )
    runtime: Name = Field(
        "auto",
        description="what computes: light (starts at once; known encoders on a CPU), torch, or auto: light where it is "
        "as fast",
    )

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigError("; ".join(problems_in(error)) + ".") from None

    @field_validator("candidates")
    @classmethod
    def _at_least_k(cls, candidates: int, info: ValidationInfo) -> int:
        if candidates < info.data.get("k", 1):
            raise ValueError(f"{candidates} is fewer than k = {info.data['k']}")
        return candidates

    def with_(self, **changes: Any) -> VerifierSettings:
        """The same settings but for some."""
        return VerifierSettings(**{**dict(self), **changes})
