"""Generate W3, text queries against documents, after the Luwak pre-search paper.

The workload keeps the paper's numbers of queries with two, three, … terms (Table 5) and of documents by
number of words (Table 2, at most 5,000). The paper takes the rest from AOL queries and ClueWeb09 pages; our
choices:

* Words follow Zipf's law, in queries (where "the" is rarer) shifted by some ranks. There are topics, each
  with some thousands of words of its own, common ones and rare ones, so that terms co-occur; topics are the
  same for every seed, as those of training and test documents are.
* A document has one topic; a share ``topical`` of its words comes from there, the rest from the language.
  So do the terms of a query, all of them different.
* A share ``repeated`` of the queries was asked before: people ask for the same few things.
* ``least_terms`` and ``most_terms`` (lS and uS), ``longest`` (a document's words) and ``batch`` (sizeEb: how
  many documents come at a time) are the bounds of the paper's workload specification. ``shortest`` makes
  shorter documents longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from bench.workloads.base import HAS_ALL, Ints, Operands, Rows, bulk_table, numbered
from bench.workloads.draw import BLOCK, EVENT_BLOCK, Floats, blocks, distinct, generator, pick, ranks, zipf
from bench.workloads.synthetic import Matrices, Synthetic, check_bounds, gather, used_cells
from bench.workloads.texts import joined
from bench.workloads.words import vocabulary
from tamis.columns.rows import starts

PAPER_QUERIES = 1_099_925
_QUERY_SIZES = (410_943, 301_249, 181_609, 98_999, 51_290)  # with two, three … six terms
_LONGER = 55_835
_LONGEST = 10
_DOCUMENTS = (9_400, 18_268, 8_987, 13_344)  # by number of words: up to 200, 600, 1,000, 5,000
_WORDS = (20, 200, 600, 1_000, 5_000)


@dataclass(frozen=True)
class W3(Synthetic):
    """The size of the language and of its topics, and the bounds of the paper's workload specification."""

    name: str = "w3"
    vocabulary: int = 1_000_000
    topics: int = 400
    topic_words: int = 2_000
    topical: float = 0.5
    repeated: float = 0.5
    query_shift: int = 300
    topic_shift: int = 400
    topic_alpha: float = 0.7
    least_terms: int = 2
    most_terms: int = 10
    shortest: int = 1
    longest: int = 5_000
    batch: int = 600

    def __post_init__(self) -> None:
        check_bounds(
            self,
            vocabulary=(_LONGEST, None),
            topics=(1, None),
            topic_words=(1, None),
            topical=(0, 1),
            repeated=(0, 1),
            query_shift=(0, None),
            topic_shift=(1, self.vocabulary),
            topic_alpha=(0, None),
            least_terms=(1, _LONGEST),
            most_terms=(self.least_terms, _LONGEST),
            shortest=(1, self.longest),
            longest=(1, None),
            batch=(1, None),
        )

    @property
    def about(self) -> str:
        """A description in one line."""
        terms = f"{self.least_terms} to {self.most_terms} terms"
        return f"Luwak pre-search paper: text queries of {terms} against documents"

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return queries: ``text`` has all of some terms."""
        size, term = gather(rows, BLOCK, partial(self._queries, seed))
        flat = term[used_cells(term, size)]
        one = np.zeros(len(size), np.int64)
        operands = Operands(size, vocabulary(self.vocabulary).take(pa.array(flat)))
        cells = Rows(np.arange(len(size)), one, one + HAS_ALL, {"string": operands})
        return bulk_table(cells, numbered("q", rows), ["text"])

    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Return documents, one column of text; they do not depend on the book."""
        parts = [self._documents(seed, number, part) for number, part in blocks(rows, EVENT_BLOCK)]
        return pa.table({"text": pa.concat_arrays(parts)})

    def event_pieces(self, count: int, seed: int, book: int = PAPER_QUERIES) -> Iterator[pa.Table]:
        """Yield the documents in batches of ``batch``, as the paper's system takes them."""
        for piece in super().event_pieces(count, seed, book):
            yield from (piece.slice(low, self.batch) for low in range(0, piece.num_rows, self.batch))

    # ------------------------------------------------------------------------------------ language
    @cached_property
    def _topic_words(self) -> Ints:
        """The words of each topic, common and rare ones alike, in the order of their popularity there."""
        rng = generator(0, "w3 topics")
        at = rng.random((self.topics, self.topic_words)) ** 1.4  # leaning towards the common ones
        rank = self.topic_shift * (self.vocabulary / self.topic_shift) ** at
        return rank.astype(np.int64) - 1

    @cached_property
    def _popularity(self) -> dict[str, Floats]:
        return {
            "document": zipf(self.vocabulary, 1.0),
            "query": _shifted(self.vocabulary, self.query_shift),
            "word": zipf(self.topic_words, self.topic_alpha),
            "topic": zipf(self.topics, 0.7),
        }

    def _draw(self, rng: np.random.Generator, language: str, topic: Ints) -> Ints:
        """Return a word for each of ``topic``, from there or from the language."""
        own = self._topic_words[topic, ranks(rng, self._popularity["word"], len(topic))]
        general = ranks(rng, self._popularity[language], len(topic))
        return np.where(rng.random(len(topic)) < self.topical, own, general)

    # ----------------------------------------------------------------------- queries and documents
    def _queries(self, seed: int, number: int) -> Matrices:
        """Return sizes of a block of queries, and their terms as a matrix."""
        rng = generator(seed, "w3 queries", number)
        size = 2 + pick(rng, [*_QUERY_SIZES, _LONGER], BLOCK)
        longer = size == 2 + len(_QUERY_SIZES)
        size[longer] = rng.integers(7, _LONGEST + 1, int(longer.sum()))
        size = np.clip(size, self.least_terms, self.most_terms)
        topic = np.repeat(ranks(rng, self._popularity["topic"], BLOCK), _LONGEST)
        wanted = self._draw(rng, "query", topic).reshape(BLOCK, _LONGEST)
        wanted = _where_new(wanted)
        term = distinct(rng, self._popularity["query"], BLOCK, _LONGEST, wanted)
        again = np.flatnonzero(rng.random(BLOCK) < self.repeated)
        model = ranks(rng, zipf(BLOCK, 0.8), len(again))
        size[again], term[again] = size[model], term[model]
        return size, term

    def _documents(self, seed: int, number: int, part: slice) -> pa.Array:
        rng = generator(seed, "w3 documents", number)
        band = pick(rng, _DOCUMENTS, EVENT_BLOCK)
        least, most = np.array(_WORDS)[band], np.array(_WORDS)[band + 1]
        length = np.exp(rng.uniform(np.log(least), np.log(most))).astype(np.int64)
        length = np.clip(length, self.shortest, self.longest)
        topic = np.repeat(ranks(rng, self._popularity["topic"], EVENT_BLOCK), length)
        words = self._draw(rng, "document", topic)
        first = starts(length)
        words = words[first[part.start] : first[part.stop]]
        return joined(vocabulary(self.vocabulary).take(pa.array(words)), length[part], " ")


def _shifted(count: int, shift: int) -> Floats:
    """Return the cumulated popularity of ``count`` ranks, P(r) = C / (r + shift)."""
    cumulated: Floats = np.cumsum(1.0 / np.arange(1 + shift, count + shift + 1))
    cumulated /= cumulated[-1]
    return cumulated


def _where_new(term: Ints) -> Ints:
    """Return ``term`` with -1 for repeats within a row, for :func:`distinct` to fill."""
    order = np.argsort(term, axis=1, kind="stable")
    ranked = np.take_along_axis(term, order, axis=1)
    ranked[:, 1:][ranked[:, 1:] == ranked[:, :-1]] = -1
    fresh = np.empty_like(term)
    np.put_along_axis(fresh, order, ranked, axis=1)
    return fresh


W3_TEXT = W3()
