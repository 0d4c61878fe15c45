"""The drawing of edge weights."""

from __future__ import annotations

import math
import re

import pytest

from adjudge.serving.page.graph import LEAST_LINE, MOST_LINE, MOST_NODE, RING, SIZE, graph_of


def test_nodes_stand_on_a_ring_and_grow_with_their_weight() -> None:
    graph = graph_of([[0.5, 0.5], [0.5, 0.5]], [0.9, 0.3])
    assert graph is not None
    for node in graph.nodes:
        assert math.dist((node.x, node.y), (SIZE / 2, SIZE / 2)) == pytest.approx(RING, abs=0.1)
    first, second = graph.nodes
    assert first.radius == MOST_NODE > second.radius
    assert (first.x, first.y) == (SIZE / 2, SIZE / 2 - RING)  # the first at the top


def test_only_arrows_of_an_even_share_are_drawn_from_giver_to_taker() -> None:
    # Sentence 0 takes 0.8 from 1; 1 takes 0.1 from 0; an even share of two is 0.5.
    graph = graph_of([[0.2, 0.8], [0.1, 0.9]], [0.5, 0.5])
    assert graph is not None
    [arrow] = graph.arrows
    assert (arrow.origin, arrow.target, arrow.share) == (1, 0, 0.8)
    assert arrow.width == pytest.approx(LEAST_LINE + 0.8 * (MOST_LINE - LEAST_LINE))
    start_y, end_y = (float(y) for y in re.match(r"M\S+ (\S+)Q\S+ \S+ \S+ (\S+)$", arrow.path).groups())
    assert start_y > SIZE / 2 > end_y  # from the lower node to the upper


def test_arrows_are_drawn_weakest_first_so_that_the_strongest_lies_on_top() -> None:
    edges = [[0.1, 0.5, 0.4], [0.6, 0.2, 0.2], [0.35, 0.35, 0.3]]
    graph = graph_of(edges, [None, None, None])
    assert graph is not None
    shares = [arrow.share for arrow in graph.arrows]
    assert shares == sorted(shares) == [0.35, 0.35, 0.4, 0.5, 0.6]


@pytest.mark.parametrize("edges", [[], [[1.0]]])
def test_fewer_than_two_sentences_make_no_graph(edges: list[list[float]]) -> None:
    assert graph_of(edges, [1.0] * len(edges)) is None
