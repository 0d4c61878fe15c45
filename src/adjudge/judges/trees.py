"""Gradient-boosted trees as tensors: fitted by scikit-learn, kept with a model's weights, computed by torch alone.

A tree is a heap: the children of node i are 2i + 1 and 2i + 2. Node i asks whether feature f is at most a threshold; a
missing feature (NaN) goes the way it went in training. The score of class k is base_k + Σ over rounds of the value of
the leaf reached in the round's tree of k; P = softmax(scores).
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from adjudge.errors import DataError, MissingExtra

DEPTHS = (2, 4, 6)
ROUNDS = (20, 50, 100)
RATES = (0.1, 0.3)
FOLDS = 3
LEAF = -1.0

Floats = npt.NDArray[np.float64]


class TreeShape(NamedTuple):
    """What a search over depth, learning rate and rounds selected, and its accuracy over the folds."""

    depth: int
    rate: float
    rounds: int
    accuracy: float


class Trees(nn.Module):
    """Trees of at most ``max(DEPTHS)`` levels in at most ``max(ROUNDS)`` rounds, one a class and round."""

    fitted: Tensor
    base: Tensor
    feature: Tensor
    threshold: Tensor
    missing_left: Tensor
    value: Tensor

    def __init__(self, classes: int) -> None:
        super().__init__()
        shape = (max(ROUNDS), classes, 2 ** (max(DEPTHS) + 1) - 1)  # (T, K, nodes)
        self.register_buffer("fitted", torch.zeros(()))
        self.register_buffer("base", torch.zeros(classes))
        self.register_buffer("feature", torch.full(shape, LEAF))
        for name in ("threshold", "missing_left", "value"):
            self.register_buffer(name, torch.zeros(shape))

    def forward(self, features: Tensor) -> Tensor:
        """Class scores: (B, F) → (B, K). NaN is a missing feature."""
        rounds, classes, nodes = self.value.shape
        trees = torch.arange(rounds * classes, device=features.device) * nodes
        node = torch.zeros(len(features), rounds * classes, dtype=torch.long, device=features.device)
        for _ in range(max(DEPTHS)):
            at = trees + node  # (B, T·K)
            feature = self.feature.flatten()[at]
            value = features.gather(1, feature.clamp(min=0).long())
            left = torch.where(
                value.isnan(), self.missing_left.flatten()[at] > 0, value <= self.threshold.flatten()[at]
            )
            node = torch.where(feature == LEAF, node, 2 * node + 2 - left.long())
        leaves = self.value.flatten()[trees + node].view(-1, rounds, classes)
        return self.base + leaves.sum(dim=1)

    def fit(self, features: Floats, gold: npt.NDArray[np.int64], seed: int = 0) -> TreeShape:
        """Search depth, rate and rounds by cross-validation, then fit all claims: (C, F) and (C,).

        Raises:
            DataError: a class has too few claims.
            MissingExtra: scikit-learn is not installed.
        """
        counts = np.bincount(gold, minlength=len(self.base))
        if counts.min() < FOLDS:
            raise DataError(
                f"Trees need at least {FOLDS} held-out claims of each label, found {counts.tolist()}; "
                "train on more claims, or raise model.options.held_out."
            )
        shape = _search(features, gold, seed)
        columns = _varying(features)
        classifier = _classifier(shape.depth, shape.rate, shape.rounds, seed)
        self._take(classifier.fit(features[:, columns], gold), columns)
        return shape

    def _take(self, classifier: Any, columns: npt.NDArray[np.int64]) -> None:
        """Copy a classifier that was fitted on some columns of the features into the tensors."""
        base = np.ravel(classifier._baseline_prediction)
        two = len(self.base) == 2  # scikit-learn then has one tree a round, of the second class
        self.base.copy_(torch.tensor([0.0, *base] if two else base))
        self.feature.fill_(LEAF)
        for tensor in (self.threshold, self.missing_left, self.value):
            tensor.zero_()
        for number, trees in enumerate(classifier._predictors):
            for k, tree in enumerate(trees):
                nodes = tree.nodes.copy()
                nodes["feature_idx"] = columns[nodes["feature_idx"]]
                self._take_node(nodes, 0, (number, k + two), 0)
        self.fitted.fill_(1.0)

    def _take_node(self, nodes: Any, source: int, tree: tuple[int, int], target: int) -> None:
        node = nodes[source]
        if node["is_leaf"]:
            self.value[(*tree, target)] = float(node["value"])
            return
        self.feature[(*tree, target)] = float(node["feature_idx"])
        self.threshold[(*tree, target)] = float(node["num_threshold"])
        self.missing_left[(*tree, target)] = float(node["missing_go_to_left"])
        self._take_node(nodes, int(node["left"]), tree, 2 * target + 1)
        self._take_node(nodes, int(node["right"]), tree, 2 * target + 2)


def _varying(features: Floats) -> npt.NDArray[np.int64]:
    """The columns that hold at least two values; scikit-learn takes no others."""
    low = np.where(np.isnan(features), np.inf, features).min(axis=0)
    high = np.where(np.isnan(features), -np.inf, features).max(axis=0)
    columns: npt.NDArray[np.int64] = np.flatnonzero(low < high)
    if not len(columns):
        raise DataError("Trees cannot be fitted: all held-out claims look the same to them.")
    return columns


def _classifier(depth: int, rate: float, rounds: int, seed: int) -> Any:
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError:
        raise MissingExtra("BEVERS' trees are fitted by scikit-learn", "systems") from None
    return HistGradientBoostingClassifier(
        max_depth=depth,
        learning_rate=rate,
        max_iter=rounds,
        max_leaf_nodes=None,
        early_stopping=False,
        random_state=seed,
    )


def _search(features: Floats, gold: npt.NDArray[np.int64], seed: int) -> TreeShape:
    """The best of all shapes by accuracy over the folds; of equals the smallest."""
    order = np.random.default_rng(seed).permutation(len(gold))
    fold = np.empty(len(gold), dtype=np.int64)
    # Claims of a class are dealt out in turn, so that every fold has some of each.
    fold[order[np.argsort(gold[order], kind="stable")]] = np.arange(len(gold)) % FOLDS
    shapes = []
    for depth, rate in product(DEPTHS, RATES):
        right = dict.fromkeys(ROUNDS, 0)
        for k in range(FOLDS):
            train, test = fold != k, fold == k
            columns = _varying(features[train])
            classifier = _classifier(depth, rate, max(ROUNDS), seed)
            classifier.fit(features[train][:, columns], gold[train])
            for rounds, answers in enumerate(classifier.staged_predict(features[test][:, columns]), start=1):
                if rounds in right:
                    right[rounds] += int((answers == gold[test]).sum())
        shapes += [TreeShape(depth, rate, rounds, count / len(gold)) for rounds, count in right.items()]
    return max(shapes, key=lambda shape: (shape.accuracy, -shape.depth, -shape.rounds))
