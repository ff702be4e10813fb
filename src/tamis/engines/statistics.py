"""How likely a literal is to hold: from a sample of events if there is one, else from the clauses."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.engines._kernels import shares
from tamis.space.clauses import Clauses
from tamis.space.located import Located

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Statistics:
    """Estimates the share of events whose cell on a dimension lies in a range."""

    def __init__(self, clauses: Clauses, sample: Located | None = None) -> None:
        self.cells = clauses.cells.astype(np.int64)
        self.sample = sample
        self.sampled = sample is not None and sample.count > 0
        self._base: Ints = np.zeros(0, np.int64)
        self._cumulative: Floats = np.zeros(0)
        self._events = 0
        if sample is not None and sample.count > 0:
            self._from_sample(sample)
        else:
            self._from_clauses(clauses)

    def _from_clauses(self, clauses: Clauses) -> None:
        """Without events: attributes asked for often are taken to be frequent, values to be even."""
        asked = np.bincount(clauses.literal[:, 0], minlength=len(self.cells))
        self.presence: Floats = np.asarray((asked + 1.0) / (max(clauses.count, 1) + 1.0))

    def _from_sample(self, sample: Located) -> None:
        dimension, lo = sample.dimension.astype(np.int64), sample.lo.astype(np.int64)
        self._base = np.cumsum(self.cells + 2) - (self.cells + 2)
        counts = np.bincount(self._base[dimension] + lo, minlength=int((self.cells + 2).sum()))
        # cumulative[base + c] is the number of sampled entries in cells below c. An event with several values
        # has several entries, so a wide range may count it more than once; kernels stop at its presence.
        self._cumulative = np.concatenate([[0], np.cumsum(counts)]).astype(np.float64)
        self._events = sample.count
        seen = np.bincount(dimension[_firsts(sample)], minlength=len(self.cells))
        self.presence = np.asarray((seen + 0.5) / (sample.count + 1.0))

    def share(self, dimension: Ints, lo: Ints, hi: Ints) -> Floats:
        """Return the estimated share of events with a cell of ``dimension`` in ``lo``..``hi``."""
        out = np.empty(len(dimension))
        shares(dimension, lo, hi, *self.tables, out)
        return out

    @property
    def tables(self) -> tuple[Ints, Floats, Ints, Floats, int]:
        """What kernels estimate shares from: see ``share_of``."""
        return self.cells, self.presence, self._base, self._cumulative, self._events


def _firsts(sample: Located) -> npt.NDArray[np.bool_]:
    """Return the entries that are the first of their event on their dimension; those of one stand
    together."""
    event = np.repeat(np.arange(sample.count), np.diff(sample.start))
    first = np.ones(len(event), np.bool_)
    first[1:] = (event[1:] != event[:-1]) | (sample.dimension[1:] != sample.dimension[:-1])
    return first
