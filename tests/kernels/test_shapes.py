"""Test verdicts on shapes against the shapes themselves: right, or left in doubt."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from tamis.space.shapes._kernels import BOX, CIRCLE, DOUBT, OTHER, POLYGON, YES, judge_points
from tamis.values.shape import Box, Circle, Polygon, covers
from tamis.values.value import Point

pytestmark = pytest.mark.kernels
SQUARE = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (0.0, 0.0))
HOLE = ((1.0, 1.0), (1.0, 3.0), (3.0, 3.0), (3.0, 1.0), (1.0, 1.0))
STAR = ((6.0, 0.0), (9.0, 1.0), (7.0, 2.0), (9.5, 4.0), (6.0, 3.0), (6.0, 0.0))


def test_shapes_are_judged_or_left_in_doubt() -> None:
    shapes = [
        Box(0, 0, 2, 2),
        Box(170, -5, -170, 5),
        Circle(Point(3, 3), 200_000.0),
        Polygon(((SQUARE, HOLE), (STAR,))),
    ]
    kind = np.array([BOX, BOX, CIRCLE, POLYGON, OTHER])
    numbers = np.array([[0, 0, 2, 2], [170, -5, -170, 5], [3, 3, 200_000.0, 0], [0] * 4, [0] * 4], np.float64)
    rings = (SQUARE, HOLE, STAR)
    edges = np.array([(*one, *two) for ring in rings for one, two in pairwise(ring)])
    start = np.array([0, 0, 0, 0, len(edges), len(edges)])
    chance = random.Random(2)
    places = [(x / 2, y / 2) for x in range(-2, 21) for y in range(-2, 10)] + [(175.0, 0.0), (-175.0, 5.0)]
    places += [(chance.uniform(-1, 10), chance.uniform(-1, 5)) for _ in range(400)]
    lon, lat = (np.array([place[i] for place in places]) for i in (0, 1))
    which, shape = (a.ravel() for a in np.meshgrid(np.arange(len(places)), np.arange(5)))
    verdict = np.empty(len(which), np.uint8)
    judge_points(which, shape, lon, lat, kind, numbers, start, edges, verdict)
    doubts = 0
    for at, s, judged in zip(which.tolist(), shape.tolist(), verdict.tolist(), strict=True):
        if s == 4:
            assert judged == DOUBT
        elif judged == DOUBT:
            doubts += 1
        else:
            assert (judged == YES) == covers(shapes[s], Point(*places[at])), (shapes[s], places[at])
    assert doubts < len(which) * 0.1
