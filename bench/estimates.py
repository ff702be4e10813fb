"""Measure how well ``presearch`` estimates from its training documents: sections 6.2 and 6.3 of its paper.

``python -m bench.estimates`` prints the mean squared error of the probability of partial queries, for
independent terms and with the co-occurrence matrix, and the share of query terms that frequent ones cover.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bench import parts
from bench.workloads.w3 import W3
from tamis import Index
from tamis.engines.presearch.layout.build import Sorted, sorted_terms
from tamis.engines.presearch.layout.terms import Terms, terms_of
from tamis.engines.presearch.layout.training import frequent_threshold, pair_probabilities
from tamis.engines.units import Statistics, units_of
from tamis.space.located import Located
from tamis.space.space import Clauses

Floats = npt.NDArray[np.float64]
FREQUENT, PAIR_DOCUMENTS = 0.0067, 200  # the paper's, as in the engine


class Estimates(NamedTuple):
    """Mean squared errors over partial queries, pairs in the matrix, and the share of terms covered."""

    independent: float
    matrix: float
    partial_queries: int
    pairs: int
    coverage: float


def estimates(
    book: pa.Table, training: pa.Table, test: pa.Table, pair_documents: int = PAIR_DOCUMENTS
) -> Estimates:
    """Estimate partial queries from ``training``, and compare with their share of the ``test`` documents.

    Each may have as many documents as one batch. Queries whose representative term is in no test document do
    not count, because the first layer drops them.
    """
    index = Index.build(book, engine="scan")  # its clauses are in the order in which engines receive them
    arena = index._writer.current.layers[0].segment.arena
    clauses = Clauses(*(arena[f"clauses.{name}"] for name in Clauses._fields))
    learned, tested = parts.locate_whole(index, training), parts.locate_whole(index, test)
    statistics = Statistics(clauses, learned)
    units = units_of(clauses, statistics)
    terms = terms_of(clauses, units, statistics)
    queries = sorted_terms(units, terms)
    before, after = queries.unit[:-1], queries.unit[1:]
    together = np.zeros(len(queries.unit))
    together[1:], pairs = pair_probabilities(terms, before, after, learned, pair_documents)
    share = np.minimum(terms.share[queries.unit], 1.0)
    truth, counted = _truth(queries, units.dimension[queries.unit], tested)
    independent, matrix = (
        float(np.mean((_partial(queries, chance) - truth)[counted] ** 2))
        for chance in (share, np.where(together > 0.0, together, share))
    )
    coverage = _coverage(clauses, queries, terms, share)
    return Estimates(independent, matrix, int(counted.sum()), pairs, coverage)


def _partial(queries: Sorted, chance: Floats) -> Floats:
    """Return the probability of every query up to each of its terms, given its first term."""
    partial = chance.copy()
    for begin, end in zip(queries.start[:-1], queries.start[1:], strict=True):
        partial[begin] = 1.0
        partial[begin:end] = np.cumprod(partial[begin:end])
    return partial


def _truth(
    queries: Sorted, word: npt.NDArray[np.int64], documents: Located
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the share of documents with all terms up to each, and which partial queries count."""
    holders: dict[int, int] = {}
    owner = np.repeat(np.arange(documents.count), np.diff(documents.start))
    for document, dimension in zip(owner.tolist(), documents.dimension.tolist(), strict=True):
        holders[dimension] = holders.get(dimension, 0) | 1 << document
    truth, counted = np.zeros(len(word)), np.zeros(len(word), np.bool_)
    for begin, end in zip(queries.start[:-1].tolist(), queries.start[1:].tolist(), strict=True):
        left = holders.get(int(word[begin]), 0)
        counted[begin + 1 : end] = left > 0
        for at in range(begin + 1, end):
            left &= holders.get(int(word[at]), 0)
            truth[at] = left.bit_count() / documents.count
    return truth, counted


def _coverage(clauses: Clauses, queries: Sorted, terms: Terms, share: Floats) -> float:
    """Return the share of the terms of all queries, duplicates included, that are frequent."""
    owners = np.diff(clauses.owner_start.astype(np.int64))
    copies = np.repeat(owners, queries.size)
    frequent = share > frequent_threshold(share, terms.place[queries.unit], FREQUENT)
    return float(copies[frequent].sum() / copies.sum())


def main() -> None:
    """Print the estimates for 100,000 queries and 4,000 documents."""
    texts = W3()
    found = estimates(texts.subscriptions(100_000, 1), texts.events(4_000, 2), texts.events(4_000, 3))
    print(f"partial queries          {found.partial_queries:>10,}")
    print(f"error, independent terms {found.independent:>10.6f}   paper 0.0064")
    print(f"error, with the matrix   {found.matrix:>10.6f}   paper 0.0054")
    print(f"pairs in the matrix      {found.pairs:>10,}")
    print(f"terms covered            {found.coverage:>10.1%}   paper 65 %")


if __name__ == "__main__":
    main()
