"""The worked examples of the Yandex paper: figures 2 and 3, and the work that a descent takes."""

from __future__ import annotations

import numpy as np
import pytest

from tamis import Index
from tamis.engines.filtertree.names import choose_names
from tamis.engines.filtertree.paths import Paths
from tamis.engines.filtertree.tree import Tree, merge
from tamis.engines.units import Statistics
from tamis.language.query_string import from_query_string
from tamis.space.space import ABSENT_OK, NEGATIVE
from tests.kernels.arrays import Literal, as_clauses

pytestmark = pytest.mark.kernels
WHOLE = {"names": 100, "leaf": 0}  # the paper's tree: all names, divided to the end

FIGURE_2 = {
    "A1": "n1 = 'A' AND n2 = 'D'",
    "A2": "n1 = 'A' AND n2 = 'E'",
    "A3": "n1 = 'A' AND n3 = 'F'",
    "A4": "n1 = 'B' AND n3 = 'F'",
    "A5": "n1 = 'A'",
    "A6": "n1 = 'C'",
}


def test_figure_2_is_merged_into_one_tree() -> None:
    index = Index.build(FIGURE_2, engine="filtertree", parameters=WHOLE)
    (layer,) = index._writer.current.layers
    arrays = layer.segment.arena.group("engine.")
    # the root; A, B, C; D and E, F (each under A), F (under B)
    assert len(arrays["node_lo"]) == 1 + 3 + 3 + 1
    # groups: n1 under the root, n2 and n3 under A, n3 under B
    assert len(arrays["group_dimension"]) == 4
    assert len(arrays["filters"]) == 6


def test_the_event_of_section_2_4_descends_through_a_d_and_f() -> None:
    found = Index.build(FIGURE_2, engine="filtertree", parameters=WHOLE).match(
        {"n1": "A", "n2": "D", "n3": "F"}
    )
    assert found == ["A1", "A3", "A5"]
    assert found.work.visited == 4  # the root, A, D, F
    assert found.work.verified == 0  # the tree decides


CARS = {
    "F1": from_query_string("mark=FORD&model=FOCUS&model=MONDEO&year=2016"),
    "F2": from_query_string("year_from=2014&year_to=2016"),
    "F3": from_query_string("mark=FORD&model=MONDEO"),
}
AD_1 = {"region": "Moscow", "mark": "FORD", "model": "MONDEO", "year": 2016}
AD_2 = {"region": "Saint-Petersburg", "mark": "BMW", "model": "3ER", "year": 2015}


def test_the_cars_of_section_2_7() -> None:
    index = Index.build(CARS, engine="filtertree", parameters=WHOLE)
    assert index.match(AD_1) == ["F1", "F2", "F3"]
    second = index.match(AD_2)
    assert second == ["F2"]
    assert second.work.visited == 2  # the root and the range of years
    assert index.match(AD_1 | {"year": 2013}) == ["F3"]


def test_the_two_models_of_f1_are_two_paths() -> None:
    index = Index.build(CARS, engine="filtertree", parameters=WHOLE)
    (layer,) = index._writer.current.layers
    assert len(layer.segment.arena.group("engine.")["filters"]) == 4
    hulled = Index.build(CARS, engine="filtertree", parameters=WHOLE | {"most_values": 0})
    assert hulled.match(AD_1) == ["F1", "F2", "F3"]
    assert hulled.match(AD_1).work.verified == 1  # F1, whose set is one step over its hull


def test_steps_too_wide_for_one_number_are_sorted_all_the_same() -> None:
    """Cells of 31 bits and many names: name, kind and both ends do not fit into 63 bits."""
    chance = np.random.default_rng(3)
    ends = np.sort(chance.integers(1, 1 << 31, (2, 400)), axis=0)
    ends[1, ::3] = ends[0, ::3]
    clause = np.arange(400)
    dimension = chance.integers(0, 6, 400)

    def tree_of(shift: int) -> Tree:
        every = np.ones(400, np.bool_)
        paths = Paths(clause, np.arange(401), dimension, ends[0] >> shift, ends[1] >> shift, every)
        return merge(paths, 0)

    for tree, shift in ((tree_of(0), 0), (tree_of(8), 8)):
        step = list(zip(tree.node_dimension, tree.node_lo < tree.node_hi, tree.node_lo, strict=True))[1:]
        assert step == sorted(step)
        assert np.array_equal(tree.node_lo[tree.path_node], ends[0] >> shift)
        assert np.array_equal(tree.node_hi[tree.path_node], ends[1] >> shift)
        assert np.array_equal(tree.node_dimension[tree.path_node], dimension)


def searches(count: int) -> dict[str, str]:
    """Region and mark are asked for by all, the text of each search is its own."""
    return {f"s{n}": f"region = 'r{n % 20}' AND mark = 'm{n % 7}' AND note = 'n{n}'" for n in range(count)}


def test_unique_terms_are_left_to_the_revision() -> None:
    event = {"region": "r3", "mark": "m3", "note": "n3"}
    few = Index.build(searches(1400), engine="filtertree", parameters={"names": 2, "leaf": 0})
    found = few.match(event)
    assert found == ["s3"]
    assert found.work.visited == 3  # the root, the region, the mark
    assert found.work.candidates == found.work.verified == 10  # 1400 / (20 * 7)


def test_without_names_everything_is_revised() -> None:
    found = Index.build(searches(50), engine="filtertree", parameters={"names": 0}).match({})
    assert found.work.verified == 50


def test_names_that_divide_are_chosen() -> None:
    """One name asked for by all, with many values; another, asked for by few."""
    book = [[Literal(0, 0, [(n % 50 + 1, n % 50 + 1)])] for n in range(400)]
    book += [[Literal(0, 0, [(n + 1, n + 1)]), Literal(1, 0, [(1, 1)])] for n in range(5)]
    clauses = as_clauses(book, [50, 2])
    assert choose_names(clauses, Statistics(clauses), 8, 4) >= 1
    # Wide ranges, each its own, and a NOT that must be revised all the same: nothing to gain.
    denied = Literal(1, NEGATIVE | ABSENT_OK, [(1, 1)])
    wide = as_clauses([[Literal(0, 0, [(1, 49 - n)]), denied] for n in range(40)], [50, 2])
    assert choose_names(wide, Statistics(wide), 8, 4) == 0
