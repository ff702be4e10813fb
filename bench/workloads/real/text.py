"""Read web queries and the papers of a conference, tokenised by the data set's own rule."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from bench.workloads.base import HAS_ALL, Operands, Rows, bulk_table
from bench.workloads.real.source import Real


def tokens(text: str) -> str:
    """Return the tokens: NFKD, ASCII only, lower case, runs of letters and digits."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return " ".join(re.findall("[a-z0-9]+", plain))


def event_of(paper: dict[str, Any]) -> dict[str, Any]:
    """Return the words of title and abstract."""
    return {"words": tokens(f"{paper['title']} {paper.get('abstract') or ''}")}


@dataclass(frozen=True)
class RealText(Real):
    """Queries that need all of their terms, against titles and abstracts."""

    name: str = "real-text"

    @property
    def about(self) -> str:
        """A description in one line."""
        return "real: TREC Million Query topics against papers of the ACL Anthology (CC BY 4.0)"

    @property
    def known(self) -> int:
        """The number of queries."""
        return len(self._queries)

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return queries in a random order."""
        some = [self._queries[at] for at in self.chosen(seed, rows)]
        size = np.array([len(terms) for _, terms in some], np.int64)
        flat = pa.array([term for _, terms in some for term in terms], pa.string())
        one = np.zeros(len(some), np.int64)
        cells = Rows(np.arange(len(some)), one, one + HAS_ALL, {"string": Operands(size, flat)})
        return bulk_table(cells, pa.array([name for name, _ in some], pa.string()), ["words"])

    def read_events(self) -> Iterator[dict[str, Any]]:
        """Return all papers."""
        return map(event_of, self.lines("text/docs_acl_2016plus.jsonl.gz"))

    @cached_property
    def _queries(self) -> list[tuple[str, list[str]]]:
        return [(line["id"], line["terms"]) for line in self.lines("text/queries_trec_mq.jsonl.gz")]
