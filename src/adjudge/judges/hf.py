"""Any Hugging Face classifier of (premise, hypothesis) pairs as a judge.

The evidence is the premise, the claim the hypothesis. Classes are mapped to labels by their names in the model's
configuration, never by position. Sentences are judged one by one and mixed, each weighing as much as it says at all,

    P(y) = Σ_n w_n P(y | n),   w_n ∝ 1 − P(neutral | n),

or joined into one premise; a sentence's weight then is what the verdict loses without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from adjudge.data.text import clean_text, evidence_title
from adjudge.encoders.pair_model import PairModel
from adjudge.encoders.rows import Cut
from adjudge.errors import ConfigError
from adjudge.io.chunks import chunks
from adjudge.judges.verdicts import Answer, verdict_of
from adjudge.types import FEVER_LABELS, NOT_SUPPORTED, Evidence, Example, LabelSet, Verdict

SUPPORTS, REFUTES, NEI = FEVER_LABELS.names
TWO_LABELS = LabelSet((SUPPORTS, NOT_SUPPORTED))
"""What a classifier of entailment alone can say."""

CLASS_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("entailment", "entail", "entails", "supports", "support", "supported"), SUPPORTS),
    **dict.fromkeys(("contradiction", "contradict", "contradicts", "refutes", "refute", "refuted"), REFUTES),
    **dict.fromkeys(("neutral", "not enough info", "nei", "not enough information", "unknown"), NEI),
    **dict.fromkeys(
        ("not entailment", "non entailment", "no entailment", "not supported", "unsupported"), NOT_SUPPORTED
    ),
}
"""How classifiers call their classes, in lower case, with spaces for _ and -."""

WINDOW = 64


class ClassifierJudge:
    """A classifier of text pairs behind the contract of a judge.

    Args:
        model: the classifier.
        class_labels: the label of each class of the model, in the model's order.
        joined: one premise of all sentences, instead of one a sentence.
        temperature: what the model's logits are divided by.
    """

    max_evidence: int | None = None

    def __init__(
        self, model: PairModel, class_labels: Sequence[str], joined: bool = False, temperature: float = 1.0
    ) -> None:
        self.labels = TWO_LABELS if NOT_SUPPORTED in class_labels else FEVER_LABELS
        self._model = model
        self._order = [class_labels.index(label) for label in self.labels]
        self._joined = joined
        self._temperature = temperature

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides its answers."""
        return {
            "kind": "hf",
            "source": self._model.source,
            "revision": self._model.revision,
            "joined": self._joined,
            "temperature": self._temperature,
        }

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        """A verdict for each example, in order."""
        for window in chunks(examples, WINDOW):
            sentences = [[_sentence(evidence) for evidence in example.evidence] for example in window]
            premises = [self._premises(texts) for texts in sentences]
            pairs = [
                (premise, clean_text(example.claim))
                for example, texts in zip(window, premises, strict=True)
                for premise in texts
            ]
            logits = self._model.logits(pairs)[:, self._order]  # (P, K) in the order of the labels
            rows = torch.log_softmax(logits / self._temperature, dim=-1)
            first = 0
            for example, texts, parts in zip(window, premises, sentences, strict=True):
                cut = self._cut(parts, clean_text(example.claim))
                yield self._verdict(example, rows[first : first + len(texts)], cut)
                first += len(texts)

    def _cut(self, sentences: list[str], claim: str) -> Cut:
        if self._joined or not sentences:
            return self._model.cut(sentences, claim)
        cuts = [self._model.cut([sentence], claim) for sentence in sentences]
        missing = frozenset(position for position, cut in enumerate(cuts) if cut.sentences)
        return Cut(any(cut.claim for cut in cuts), missing)

    def _premises(self, sentences: list[str]) -> list[str]:
        """The texts that the classifier reads for the sentences of an example: at least one."""
        if not self._joined:
            return sentences or [""]
        whole = " ".join(sentences)
        if len(sentences) < 2:
            return [whole]
        without = [" ".join(sentences[:i] + sentences[i + 1 :]) for i in range(len(sentences))]
        return [whole, *without]

    def _verdict(self, example: Example, rows: Tensor, cut: Cut) -> Verdict:
        if self._joined:
            log_probs = rows[0]
            several = len(rows) > 1
            weights = _losses(rows, int(log_probs.argmax())) if several else torch.ones(len(example.evidence))
        else:
            weights = _informativeness(rows)
            log_probs = torch.logsumexp(rows + weights.log()[:, None], dim=0)
        answer = Answer(log_probs.exp().tolist(), weights.tolist())
        return verdict_of(example, answer, self.labels, self.max_evidence, cut)


def load_classifier(
    source: str, joined: bool = False, device: Any = "cpu", class_names: Mapping[str, str] | None = None
) -> ClassifierJudge:
    """The classifier of a hub id or a folder.

    Args:
        source: a Hugging Face id or a local folder.
        joined: one premise of all sentences, instead of one a sentence.
        device: where it computes.
        class_names: the label of classes whose names say nothing, such as ``{"LABEL_0": "REFUTES"}``.
    """
    model = PairModel(source, device)
    return ClassifierJudge(model, _class_labels(source, model.class_names, class_names or {}), joined)


load_joined_classifier = partial(load_classifier, joined=True)


def _class_labels(source: str, names: Sequence[str], class_names: Mapping[str, str]) -> list[str]:
    """The label of each class, by its name; every label of the resulting set exactly once."""
    known = {_normalise_name(name): label for name, label in class_names.items()}
    labels = [known.get(_normalise_name(name)) or CLASS_NAMES.get(_normalise_name(name)) for name in names]
    allowed = (set(FEVER_LABELS), set(TWO_LABELS))
    if None in labels or set(labels) not in allowed or len(labels) != len(set(labels)):
        raise ConfigError(
            f"hf:{source}: its classes are {', '.join(names)}, expected names for {', '.join(FEVER_LABELS)} "
            f"(or {' and '.join(TWO_LABELS)}), such as entailment, contradiction, neutral.\n"
            f"Say which is which: --label {names[0]}={SUPPORTS} and so on for each class."
        )
    return [label for label in labels if label is not None]


def _normalise_name(name: str) -> str:
    return name.strip().casefold().replace("_", " ").replace("-", " ")


def _sentence(evidence: Evidence) -> str:
    title, text = evidence_title(evidence), clean_text(evidence.text)
    return f"{title}. {text}" if title and title not in text else text


def _informativeness(rows: Tensor) -> Tensor:
    """(N,) shares: 1 − P(neutral | n) with the last label the neutral one, over their sum."""
    informative = (1 - rows[:, -1].exp()).clamp(min=1e-6)
    return informative / informative.sum()


def _losses(rows: Tensor, label: int) -> Tensor:
    """(N,) shares of what the verdict's probability loses without each sentence; equal where it loses nothing."""
    loss = (rows[0, label].exp() - rows[1:, label].exp()).clamp(min=0)
    return loss / loss.sum() if float(loss.sum()) > 0 else torch.full_like(loss, 1 / len(loss))
