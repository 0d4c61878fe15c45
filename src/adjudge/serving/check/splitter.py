"""Splitting sentences with a language model behind an OpenAI-compatible address that the user names."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field

from adjudge.errors import ConfigError, DataError

PROMPT = (
    "Split the sentence into the separate factual statements that it makes. Each statement is one short sentence "
    "that can "
    "be understood by itself. Use the sentence's own words; add nothing, leave nothing out. Answer with a JSON list of "
    "strings and nothing else.\n\nSentence: "
)
MAX_ANSWER = 1 << 20


@dataclass(frozen=True)
class ModelSplitter:
    """Asks a language model for the statements of a sentence.

    Attributes:
        url: the address up to ``/v1``.
        model: the model's name there.
        key: sent as a bearer token, where the address asks for one.
        timeout: seconds to wait for an answer.
    """

    url: str
    model: str = "default"
    key: str | None = field(default=None, repr=False)
    timeout: float = 60.0

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ConfigError(f"Splitter {self.url!r}: expected an address, http://HOST:PORT/v1.")

    def __call__(self, sentence: str) -> Sequence[str]:
        """The statements of a sentence."""
        question = {
            "model": self.model,
            "temperature": 0,
            "messages": [{"role": "user", "content": PROMPT + sentence}],
        }
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        address = f"{self.url.rstrip('/')}/chat/completions"
        request = urllib.request.Request(address, json.dumps(question).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                content = json.loads(answer.read(MAX_ANSWER))["choices"][0]["message"]["content"]
        except (urllib.error.URLError, TimeoutError, OSError) as error:
            raise DataError(f"{address}: no answer ({error}). Is the server running?") from None
        except (ValueError, LookupError, TypeError):
            raise DataError(f"{address}: the answer is not a chat completion.") from None
        return parse_statements(content, sentence)


def parse_statements(content: object, sentence: str) -> list[str]:
    """The statements of an answer; the sentence itself where the answer is no list of texts."""
    text = content if isinstance(content, str) else ""
    start, end = text.find("["), text.rfind("]")
    try:
        statements = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except ValueError:
        statements = None
    if not isinstance(statements, list) or not all(isinstance(one, str) for one in statements):
        return [sentence]
    return [one.strip() for one in statements if one.strip()] or [sentence]
