"""What a server is: its verifier, its corpora, where it listens, and how much it takes on."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from adjudge.config import problems_in
from adjudge.errors import ConfigError
from adjudge.serving.settings import VerifierSettings

MEBIBYTE = 1 << 20
MAX_CLAIM = 10_000
"""Characters that a search reads of a claim."""


class ServerSettings(BaseModel):
    """All settings of a server; each is also an option of ``adjudge serve``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verifier: VerifierSettings = Field(default_factory=VerifierSettings, description="model and evidence")
    corpora: tuple[Path, ...] = Field(
        (),
        description="where to look: an index, or a folder or file of documents; may be given several times",
    )
    data_dir: Path | None = Field(
        None, description="where uploaded corpora are kept; by default in the user's data folder"
    )
    runs: tuple[Path, ...] = Field(
        (Path("runs"),),
        description="a folder of experiments whose reports are shown; may be given several times",
    )
    host: str = Field("127.0.0.1", description="the address to listen on; any but loopback demands a token")
    port: int = Field(8080, ge=0, le=65535, description="the port to listen on; 0 takes a free one")
    token: str | None = Field(
        None, min_length=16, description="what programs must send; by default made anew at every start"
    )
    allow_hosts: tuple[str, ...] = Field(
        (),
        description="a host name under which the server is reached, as behind a proxy; may be given several times",
    )
    allow_origins: tuple[str, ...] = Field(
        (), description="another site whose pages may call the API (CORS); may be given several times"
    )
    batch_tokens: int = Field(8192, ge=1, description="tokens that are judged together, about")
    batch_wait: float = Field(
        0.006, ge=0, le=1, description="seconds that a request waits for others to join it"
    )
    queue_size: int = Field(256, ge=1, description="requests that may wait; those beyond get 429")
    timeout: float = Field(60.0, gt=0, description="seconds after which a request is given up with 504")
    max_claim: int = Field(MAX_CLAIM, ge=1, le=MAX_CLAIM, description="characters of a claim")
    max_text: int = Field(200_000, ge=1, description="characters of a text to check")
    max_body: int = Field(2 * MEBIBYTE, ge=1024, description="bytes of a request")
    max_batch: int = Field(10_000, ge=1, description="claims of a batch")
    max_upload: int = Field(64 * MEBIBYTE, ge=1024, description="bytes of an upload or a batch")
    read_timeout: float = Field(
        15.0, gt=0, description="seconds to wait for a request's headers, and for more of its body"
    )
    refresh: float = Field(2.0, gt=0, description="seconds between looks at whether a corpus changed on disk")
    log_texts: bool = Field(False, description="write claims and queries into the log")

    @field_validator("allow_hosts")
    @classmethod
    def _are_hosts(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not re.fullmatch(r"[\w.-]+|\[[0-9A-Fa-f:.]+\]", name):
                raise ValueError(f"{name!r}: expected a host name alone, such as facts.example.org")
        return names

    @field_validator("allow_origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if not re.fullmatch(r"https?://[^/?#@*\s]+/?", origin, re.IGNORECASE):
                raise ValueError(f"{origin!r}: expected scheme and host, such as https://app.example.org")
        return origins

    @field_validator("token")
    @classmethod
    def _is_sent(cls, token: str | None) -> str | None:
        if token is not None and not re.fullmatch(r"[!-~]+", token):
            raise ValueError("expected letters, digits and signs of ASCII without spaces")
        return token

    @field_validator("data_dir")
    @classmethod
    def _is_folder(cls, path: Path | None) -> Path | None:
        if path is not None and path.exists() and not path.is_dir():
            raise ValueError(f"{path} is a file, expected a folder")
        return path

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigError("; ".join(problems_in(error)) + ".") from None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches the server."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own and no other's."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
