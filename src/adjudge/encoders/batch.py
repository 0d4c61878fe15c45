"""What goes into a verdict model and what comes out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Rows of tokens, and which row belongs to which claim.

    R rows of at most L tokens; B claims of at most N rows. Rows may be empty of text (``released``
    padding), and slots of a claim beyond its rows are absent.

    Attributes:
        input_ids: (R, L).
        lengths: (R,) tokens the encoder attends to, special tokens included.
        segment: (R,) tokens of the first segment, its closing separator included.
        has_text: (R,) false for an empty row, whose tokens are all padding.
        row_of: (B, N) the row in each slot; 0 where the slot is absent.
        present: (B, N) which slots take part.
        states: (R, L, d) outputs of the frozen lower layers, when they are cached.
        partner: (B,) the claim that each is mixed with in training (mixup), or None.
        share: what a claim keeps of itself when it is mixed.
    """

    input_ids: Tensor
    lengths: Tensor
    segment: Tensor
    has_text: Tensor
    row_of: Tensor
    present: Tensor
    states: Tensor | None = None
    partner: Tensor | None = None
    share: float = 1.0

    def __len__(self) -> int:
        return len(self.row_of)

    @property
    def text_mask(self) -> Tensor:
        """(R, L) real tokens without the first, [CLS]."""
        position = torch.arange(self.input_ids.shape[1], device=self.input_ids.device)
        inside = (position > 0) & (position < self.lengths[:, None])
        return inside & self.has_text[:, None]

    @property
    def second_segment(self) -> Tensor:
        """(R, L) tokens after the first separator."""
        position = torch.arange(self.input_ids.shape[1], device=self.input_ids.device)
        return (position >= self.segment[:, None]) & (position < self.lengths[:, None])

    def mix(self, states: Tensor) -> Tensor:
        """Mixup: (B, …) states of claims → share · own + (1 − share) · partner's, where claims are to be mixed.

        States of slots (B, N, d) are mixed where both claims have the slot.
        """
        if self.partner is None:
            return states
        mixed = self.share * states + (1 - self.share) * states[self.partner]
        if states.ndim == 2:
            return mixed
        both = (self.present & self.present[self.partner])[..., None]
        return torch.where(both, mixed, states)

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        moved: dict[str, Any] = {
            name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor)
        }
        return replace(self, **moved)


@dataclass(frozen=True)
class ModelOutput:
    """A distribution per claim, and where it came from.

    Attributes:
        log_probs: (B, K) log P(y).
        node_weights: (B, N) P(n), the share of each sentence; zero where absent. None for models
            that do not weigh sentences.
        edge_weights: (B, N, N) attention of sentence n over sentence m; zero where either is absent.
            None likewise.
    """

    log_probs: Tensor
    node_weights: Tensor | None = None
    edge_weights: Tensor | None = None
