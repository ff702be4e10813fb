"""Build the layout: arranged clauses and the arrays of the engine."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.postings.layout.lists import check_order
from tamis.engines.presearch.layers._kernels import CLAUSE, DEPTH, END, NODE, TERM, TOP
from tamis.engines.presearch.layout._kernels import decide_terms, grow_nodes, sort_terms
from tamis.engines.presearch.layout.calibrate import times
from tamis.engines.presearch.layout.terms import HEAD, Ints, Terms, terms_of
from tamis.engines.presearch.layout.training import frequent_threshold, pair_probabilities
from tamis.engines.units import Statistics, Units, arrange, joined_dimensions, units_of
from tamis.space.space import Clauses

Arrays = dict[str, npt.NDArray[Any]]
Mask = npt.NDArray[np.bool_]

LUWAK, DUPLICATES, PRESEARCH, FULLY_INDEXED = range(4)


class Sorted(NamedTuple):
    """The usable conditions of all clauses, least likely first; clause ``c`` owns start[c]:start[c + 1]."""

    start: Ints
    unit: Ints
    decidable: Mask  # whether the terms alone decide the clause for a plain document

    @property
    def size(self) -> Ints:
        """The number of usable conditions of each clause."""
        return np.diff(self.start)


def build(clauses: Clauses, statistics: Statistics, chosen: dict[str, Any]) -> tuple[Clauses, Arrays]:
    """Return the arranged clauses and the arrays of the engine."""
    if clauses.count == 0 or len(clauses.literal) == 0:
        return clauses, _empty(clauses, chosen)
    units = units_of(clauses, statistics)
    terms = terms_of(clauses, units, statistics)
    queries = sorted_terms(units, terms)
    extra = collected(queries, terms, statistics, chosen)
    posted = np.flatnonzero(queries.size > 0)
    length = (extra + 1)[posted]
    first, place = queries.start[posted], terms.place[queries.unit]
    by_path = posted[path_order(first, length, place, terms.places)]
    order = np.concatenate([by_path, np.flatnonzero(queries.size == 0)])
    node = _nodes(by_path, queries.start, extra + 1, place)
    arrays = {
        "heads": terms.heads,
        "levels": terms.levels,
        "hull": joined_dimensions(units, np.flatnonzero(units.usable), clauses.dimensions),
        **first_layers(node, terms.places),
        "node": node,
        "decided": (queries.decidable & (extra + 1 == queries.size))[order].astype(np.uint8),
        "layout": np.array([chosen["batch"], chosen["way"], chosen["leapfrog"]], np.uint32),
    }
    return arrange(clauses, order, _check_order(clauses, units, terms, queries, extra, order)), arrays


def sorted_terms(units: Units, terms: Terms) -> Sorted:
    """Sort the terms of every clause by weight: the first is its representative term."""
    clauses = len(units.start) - 1
    owner = np.repeat(np.arange(clauses), np.diff(units.start))
    start = np.zeros(clauses + 1, np.int64)
    np.cumsum(np.bincount(owner[units.usable], minlength=clauses), out=start[1:])
    unit = np.empty(start[-1], np.int64)
    sort_terms(units.start, units.usable, terms.share, terms.place, start, unit)
    undecided = np.bincount(owner[~terms.decides], minlength=clauses)
    return Sorted(start, unit, undecided == 0)


def collected(queries: Sorted, terms: Terms, statistics: Statistics, chosen: dict[str, Any]) -> Ints:
    """Return the number of terms indexed beside the representative, in the chosen way."""
    size = queries.size
    extra = np.zeros(len(size), np.int64)
    if chosen["way"] == FULLY_INDEXED:
        return np.maximum(size - 1, 0)
    if chosen["way"] != PRESEARCH or not len(queries.unit):
        return extra
    unit = queries.unit
    together = np.zeros(len(unit))
    together[1:], _ = pair_probabilities(
        terms, unit[:-1], unit[1:], statistics.sample, chosen["pair_documents"]
    )
    measured = times(chosen["time_check"], chosen["time_and"], chosen["time_avoid"], chosen["batch"])
    share = np.minimum(terms.share[unit], 1.0)
    # A candidate is evaluated for the documents of a batch that have its representative term.
    documents = np.zeros(len(size))
    documents[size > 0] = np.maximum(chosen["batch"] * share[queries.start[:-1][size > 0]], 1.0)
    decide_terms(
        queries.start,
        share,
        together,
        queries.decidable,
        documents,
        np.array(measured),
        chosen["batch"],
        frequent_threshold(share, terms.place[unit], chosen["frequent"]),
        bool(chosen["greedy"]),
        extra,
    )
    return extra


def path_order(first: Ints, length: Ints, terms: Ints, places: int) -> Ints:
    """Return the paths terms[first:first + length] in lexicographic order.

    The function sorts by first term, then by second and so on; it leaves paths without equals where they are.
    """
    order = np.argsort(terms[first], kind="stable")
    active, key, depth = np.arange(len(order)), terms[first][order] + 1, 0
    letter = key
    while True:
        head, others = _runs(key)
        keep = others & (letter > 0)
        if not keep.any():
            return order
        group, active = active[head][keep], active[keep]
        depth += 1
        member = order[active]
        more = length[member] > depth
        letter = np.where(more, terms[first[member] + np.where(more, depth, 0)] + 1, 0)
        key = group * (places + 1) + letter
        moved = np.argsort(key, kind="stable")
        order[active], key, letter = member[moved], key[moved], letter[moved]


def _runs(key: Ints) -> tuple[Ints, Mask]:
    """Return for every element of a sorted list the begin of its run of equals, and whether it has others."""
    fresh = np.ones(len(key), np.bool_)
    fresh[1:] = key[1:] != key[:-1]
    head = np.flatnonzero(fresh)
    size = np.diff(np.append(head, len(key)))
    return np.repeat(head, size), np.repeat(size > 1, size)


def _nodes(order: Ints, first: Ints, length: Ints, place: Ints) -> npt.NDArray[np.uint32]:
    node = np.zeros((int(length[order].sum()) + 1, NODE), np.uint32)
    open_at = np.zeros(int(length.max(initial=1)), np.int64)
    return node[: grow_nodes(order, first, length, place, node, open_at) + 1]


def first_layers(node: npt.NDArray[Any], places: int) -> Arrays:
    """Return per place the fields of its root (see ``TOP``), and the children (term, node) of all roots."""
    depth, clause = node[:-1, DEPTH], node[:, CLAUSE]
    roots, children = np.flatnonzero(depth == 0), np.flatnonzero(depth == 1)
    end = node[roots, END]
    bounds = np.searchsorted(children, np.append(roots, len(depth)))
    top = np.zeros((places, TOP), np.uint32)
    top[node[roots, TERM]] = np.stack(
        [bounds[:-1], bounds[1:], clause[roots], clause[roots + 1], clause[end]], axis=1
    )
    return {"top": top, "child": np.stack([node[children, TERM], children], axis=1).astype(np.uint32)}


def _check_order(
    clauses: Clauses, units: Units, terms: Terms, queries: Sorted, extra: Ints, clause_order: Ints
) -> npt.NDArray[np.uint32]:
    """Return all literals in their new order: those that the search has used are checked last."""
    owner = np.repeat(np.arange(clauses.count), queries.size)
    rank = np.arange(len(owner)) - queries.start[owner]
    late = np.zeros(len(units.share), np.bool_)
    late[queries.unit[rank <= extra[owner]]] = True
    return check_order(clauses, units, late, clause_order, terms.share)


def _empty(clauses: Clauses, chosen: dict[str, Any]) -> Arrays:
    """Return the arrays of an engine without literals: every clause is residual."""
    return {
        "heads": np.zeros((clauses.dimensions, HEAD), np.uint32),
        "levels": np.zeros((0, 2), np.uint32),
        "hull": np.zeros(clauses.dimensions, np.uint32),
        **first_layers(np.zeros((1, NODE), np.uint32), 0),
        "node": np.zeros((1, NODE), np.uint32),
        "decided": np.zeros(clauses.count, np.uint8),
        "layout": np.array([chosen["batch"], chosen["way"], chosen["leapfrog"]], np.uint32),
    }
