"""W3: text queries against documents, after the Luwak pre-search paper.

What the paper fixes is kept: how many queries have two, three, … terms (Table 5), how many documents
have how many words (Table 2, at most 5,000). What it takes from AOL queries and ClueWeb09 pages is settled
like this.

* Words follow Zipf's law, in queries (where "the" is rarer) shifted by some ranks. There are topics, each
  with some thousands of words of its own, common ones and rare ones, so that terms co-occur; topics are the
  same for every seed, as those of training and test documents are.
* A document has one topic; a share ``topical`` of its words comes from there, the rest from the language.
  So do the terms of a query, all of them different.
* A share ``repeated`` of the queries was asked before: people ask for the same few things.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workloads.base import HAS_ALL, Ints, Operands, Rows, bulk_table, list_array, no_texts, numbered
from bench.workloads.draw import BLOCK, EVENT_BLOCK, Floats, blocks, distinct, generator, pick, ranks, zipf

PAPER_QUERIES = 1_099_925
_QUERY_SIZES = (410_943, 301_249, 181_609, 98_999, 51_290)  # of two, three … six terms
_LONGER = 55_835
_LONGEST = 10
_DOCUMENTS = (9_400, 18_268, 8_987, 13_344)  # by number of words: up to 200, 600, 1,000, 5,000
_WORDS = (20, 200, 600, 1_000, 5_000)
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwz", "aeiou"


@dataclass(frozen=True)
class W3:
    """The size of the language and of its topics."""

    name: str = "w3"
    vocabulary: int = 1_000_000
    topics: int = 400
    topic_words: int = 2_000
    topical: float = 0.5
    repeated: float = 0.5
    query_shift: int = 300
    topic_shift: int = 400
    topic_alpha: float = 0.7

    @property
    def about(self) -> str:
        """One line for people."""
        return "Luwak pre-search paper: text queries of 2 to 10 terms against documents"

    def parameters(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)

    def subscriptions(self, count: int, seed: int) -> pa.Table:
        """``count`` queries: ``text`` has all of some terms."""
        sizes, terms = [], []
        for number, used in blocks(count, BLOCK):
            size, term = self._queries(seed, number)
            sizes.append(size[:used])
            terms.append(term[:used])
        size, term = np.concatenate(sizes), np.concatenate(terms)
        flat = term[np.arange(term.shape[1]) < size[:, None]]
        one = np.zeros(len(size), np.int64)
        operands = Operands(size, self._words.take(pa.array(flat)))
        rows = Rows(np.arange(len(size)), one, one + HAS_ALL, {"string": operands})
        return bulk_table(rows, numbered("q", count), ["text"])

    def texts(self, count: int, seed: int) -> pa.Table:
        """None: the columns can say everything."""
        return no_texts()

    def events(self, count: int, seed: int, book: int = PAPER_QUERIES) -> pa.Table:
        """``count`` documents, one column of text."""
        parts = [self._documents(seed, number, used) for number, used in blocks(count, EVENT_BLOCK)]
        return pa.table({"text": pa.concat_arrays(parts)})

    # ------------------------------------------------------------------------------------ language
    @cached_property
    def _words(self) -> pa.Array:
        """A word for every rank, frequent ones short."""
        syllables = pa.array([c + v for c in _CONSONANTS for v in _VOWELS], pa.string())
        base, parts, made, length = len(syllables), [], 0, 1
        while made < self.vocabulary:
            rank = np.arange(min(base**length, self.vocabulary - made))
            digits = [syllables.take(pa.array(rank // base**at % base)) for at in range(length)]
            parts.append(pc.binary_join_element_wise(*digits, ""))
            made, length = made + len(rank), length + 1
        return pa.concat_arrays(parts)

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
        """A word for each of ``topic``, from there or from the language."""
        own = self._topic_words[topic, ranks(rng, self._popularity["word"], len(topic))]
        general = ranks(rng, self._popularity[language], len(topic))
        return np.where(rng.random(len(topic)) < self.topical, own, general)

    # ----------------------------------------------------------------------- queries and documents
    def _queries(self, seed: int, number: int) -> tuple[Ints, Ints]:
        """Sizes of a block of queries, and their terms as a matrix."""
        rng = generator(seed, "w3 queries", number)
        size = 2 + pick(rng, [*_QUERY_SIZES, _LONGER], BLOCK)
        longer = size == 2 + len(_QUERY_SIZES)
        size[longer] = rng.integers(7, _LONGEST + 1, int(longer.sum()))
        topic = np.repeat(ranks(rng, self._popularity["topic"], BLOCK), _LONGEST)
        wanted = self._draw(rng, "query", topic).reshape(BLOCK, _LONGEST)
        wanted = _where_new(wanted)
        term = distinct(rng, self._popularity["query"], BLOCK, _LONGEST, wanted)
        again = np.flatnonzero(rng.random(BLOCK) < self.repeated)
        model = ranks(rng, zipf(BLOCK, 0.8), len(again))
        size[again], term[again] = size[model], term[model]
        return size, term

    def _documents(self, seed: int, number: int, used: int) -> pa.Array:
        rng = generator(seed, "w3 documents", number)
        band = pick(rng, _DOCUMENTS, EVENT_BLOCK)
        least, most = np.array(_WORDS)[band], np.array(_WORDS)[band + 1]
        length = np.exp(rng.uniform(np.log(least), np.log(most))).astype(np.int64)
        topic = np.repeat(ranks(rng, self._popularity["topic"], EVENT_BLOCK), length)
        words = self._draw(rng, "document", topic)
        lists = list_array(length, self._words.take(pa.array(words))).slice(0, used)
        return pc.binary_join(lists, " ")


def _shifted(count: int, shift: int) -> Floats:
    """The cumulated popularity of ``count`` ranks, P(r) = C / (r + shift)."""
    cumulated: Floats = np.cumsum(1.0 / np.arange(1 + shift, count + shift + 1))
    cumulated /= cumulated[-1]
    return cumulated


def _where_new(term: Ints) -> Ints:
    """``term`` with -1 where a row has it already, for :func:`distinct` to fill."""
    order = np.argsort(term, axis=1, kind="stable")
    ranked = np.take_along_axis(term, order, axis=1)
    ranked[:, 1:][ranked[:, 1:] == ranked[:, :-1]] = -1
    fresh = np.empty_like(term)
    np.put_along_axis(fresh, order, ranked, axis=1)
    return fresh


W3_TEXT = W3()
