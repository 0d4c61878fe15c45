"""Trees as tensors against scikit-learn's own predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from adjudge.errors import DataError
from adjudge.judges.trees import FOLDS, Trees

pytest.importorskip("sklearn")
from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: E402


def claims(count: int, classes: int, seed: int = 0) -> tuple[Any, Any]:
    """Six features with holes; which of the first ones is largest tells most labels."""
    rng = np.random.default_rng(seed)
    features = rng.random((count, 6))
    gold = features[:, :classes].argmax(axis=1)
    gold[rng.random(count) < 0.1] = 0
    features[rng.random(features.shape) < 0.2] = np.nan
    return features, gold


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("depth", [2, 6])
def test_they_compute_what_scikit_learn_computes(classes: int, depth: int):
    features, gold = claims(300, classes)
    classifier = HistGradientBoostingClassifier(max_depth=depth, max_iter=30, max_leaf_nodes=None)
    classifier.fit(features, gold)
    trees = Trees(classes)
    trees._take(classifier, np.arange(6))
    fresh, _ = claims(200, classes, seed=1)
    ours = trees(torch.tensor(fresh)).softmax(dim=-1)
    torch.testing.assert_close(
        ours.double(), torch.tensor(classifier.predict_proba(fresh)), atol=1e-5, rtol=0
    )


def test_missing_features_go_their_own_way():
    # Whether the feature is there at all is the label.
    features = np.array([[0.3], [0.4], [np.nan], [np.nan]] * 20)
    trees = Trees(2)
    trees.fit(features, np.array([0, 0, 1, 1] * 20))
    assert trees(torch.tensor([[0.9], [torch.nan], [0.1]])).argmax(dim=-1).tolist() == [0, 1, 0]


def test_columns_without_values_are_passed_over():
    features, gold = claims(240, 3)
    holes = np.full((240, 2), np.nan)
    trees, plain = Trees(3), Trees(3)
    plain.fit(features, gold)
    trees.fit(np.concatenate([holes, features, np.ones((240, 1))], axis=1), gold)
    fresh = torch.tensor(claims(50, 3, seed=2)[0])
    wider = torch.cat([torch.full((50, 2), torch.nan), fresh, torch.full((50, 1), 7.0)], dim=1)
    torch.testing.assert_close(trees(wider), plain(fresh))
    with pytest.raises(DataError, match="look the same"):
        Trees(3).fit(np.full((240, 2), np.nan), gold)


def test_the_search_selects_by_folds_and_the_fit_is_kept_in_the_state():
    features, gold = claims(240, 3)
    trees = Trees(3)
    assert not trees.fitted
    shape = trees.fit(features, gold)
    assert trees.fitted and 0.6 < shape.accuracy < 1
    again = Trees(3)
    again.load_state_dict(trees.state_dict())
    fresh = torch.tensor(claims(50, 3, seed=2)[0])
    assert torch.equal(again(fresh), trees(fresh))
    # Rounds beyond those selected are empty trees.
    assert not trees.value[shape.rounds :].any() and trees.value[shape.rounds - 1].any()


def test_a_second_fit_leaves_nothing_of_the_first():
    trees, once = Trees(3), Trees(3)
    trees.fit(*claims(240, 3))
    trees.fit(*claims(90, 3, seed=5))
    once.fit(*claims(90, 3, seed=5))
    for name, tensor in once.state_dict().items():
        assert torch.equal(tensor, trees.state_dict()[name]), name


def test_too_few_claims_of_a_label_are_refused():
    features, gold = claims(60, 2)
    with pytest.raises(DataError, match=rf"at least {FOLDS} held-out claims of each label.*held_out"):
        Trees(3).fit(features, gold)
