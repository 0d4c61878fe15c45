"""The graph of a verdict's sentences: where each node stands, and the arrows between them, as numbers of a drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

SIZE = 220
RING = 78
LEAST_NODE, MOST_NODE = 13.0, 22.0
LEAST_LINE, MOST_LINE = 1.0, 6.0
BEND = 0.16
"""How far an arrow bends aside, as a share of its length, so that the two between a pair do not coincide."""


@dataclass(frozen=True)
class Node:
    """A sentence: its position in the evidence, its centre and radius; the radius grows with its weight."""

    sentence: int
    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Arrow:
    """``target`` took ``share`` of what it read from ``origin``; ``path`` draws it."""

    origin: int
    target: int
    share: float
    path: str
    width: float


@dataclass(frozen=True)
class Graph:
    """What the page draws."""

    size: int
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]


def graph_of(edges: Sequence[Sequence[float]], weights: Sequence[float | None]) -> Graph | None:
    """The drawing of edge weights: ``edges[i][j]`` is how much sentence i took from sentence j.

    Arrows that carry less than an even share are left out, since every sentence takes a little from every other. None
    where there are fewer than two sentences.
    """
    count = len(edges)
    if count < 2:
        return None
    top = max((weight or 0.0 for weight in weights), default=0.0) or 1.0
    nodes = tuple(_node(number, count, (weights[number] or 0.0) / top) for number in range(count))
    even = 1 / count
    arrows = [
        _arrow(nodes[origin], nodes[target], edges[target][origin])
        for target in range(count)
        for origin in range(count)
        if origin != target and edges[target][origin] >= even
    ]
    return Graph(SIZE, nodes, tuple(sorted(arrows, key=lambda arrow: arrow.share)))


def _node(number: int, count: int, share: float) -> Node:
    angle = 2 * math.pi * number / count - math.pi / 2
    x, y = SIZE / 2 + RING * math.cos(angle), SIZE / 2 + RING * math.sin(angle)
    return Node(number, round(x, 1), round(y, 1), round(LEAST_NODE + (MOST_NODE - LEAST_NODE) * share, 1))


def _arrow(origin: Node, target: Node, share: float) -> Arrow:
    """A curve from rim to rim."""
    dx, dy = target.x - origin.x, target.y - origin.y
    length = math.hypot(dx, dy) or 1.0
    ux, uy = dx / length, dy / length
    middle = (origin.x + dx / 2 - uy * BEND * length, origin.y + dy / 2 + ux * BEND * length)
    start = origin.x + ux * origin.radius, origin.y + uy * origin.radius
    gap = target.radius + 5
    end = target.x - ux * gap, target.y - uy * gap
    path = f"M{start[0]:.1f} {start[1]:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
    width = round(LEAST_LINE + (MOST_LINE - LEAST_LINE) * min(1.0, max(0.0, share)), 2)
    return Arrow(origin.sentence, target.sentence, share, path, width)
