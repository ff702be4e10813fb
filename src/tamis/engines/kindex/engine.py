"""The ``kindex`` engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.engines.flat import FlatEngine
from tamis.engines.forms import BYTE, HALF, SIGNED, WORD, Forms
from tamis.engines.kindex._kernels import match_events
from tamis.engines.kindex.build import build
from tamis.engines.kindex.top import Ranking, SizeAgenda
from tamis.engines.parameters import Declared, Whole, chosen
from tamis.engines.proof import Proof
from tamis.engines.protocol import Wanted, Weights
from tamis.engines.units import Statistics
from tamis.space.located import Located
from tamis.space.space import Clauses


class KIndex(FlatEngine):
    """The k-index engine, described in the package's docstring and README.md."""

    name: ClassVar[str] = "kindex"
    kernel: ClassVar[Any] = match_events
    forms: ClassVar[Forms] = {
        "base": SIGNED,
        "size_start": WORD,
        "target": HALF,
        "doubtful": BYTE,
        "asked_start": WORD,
        "asked": WORD,
        "denied_start": WORD,
        "denied": WORD,
    }
    parameters: ClassVar[Declared] = {
        "most_cells": Whole(1 << 14, 1, 1 << 30),
        "budget": Whole(1 << 28, 1, 1 << 31),
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Order the clauses by size and enumerate their literals."""
        return build(clauses, **chosen(cls.name, cls.parameters, parameters))

    def _scratch(self) -> tuple[Any, ...]:
        clauses, dimensions = len(self._own["target"]), len(self._own["base"])
        cell = np.zeros(max(dimensions, 1), np.uint32)
        # One more than the number of clauses: the kernel writes a hit before it knows that it is one.
        return cell, np.zeros(clauses, np.uint16), np.empty(clauses + 1, np.uint32)

    def ranking(self, weights: Weights) -> Ranking:
        """Return the flat bounds of sizes and of lists."""
        return Ranking(self._own, weights)

    def best(self, event: Located, ranking: Ranking, wanted: Wanted) -> SizeAgenda:
        """Return the sizes of one event, best bound first."""
        return SizeAgenda(self._arrays, self._free, self._scratch, event, ranking, wanted)

    def check(self) -> None:
        """Raise unless every list ends inside its postings and every posting names a clause."""
        proof, own = Proof(self.name), self._own
        clauses, cells = len(self._clauses["start"]) - 1, self._clauses["cells"].astype(np.int64)
        lists = int((cells + 1).sum())
        proof.ensure(np.array_equal(own["base"], np.cumsum(cells + 1) - (cells + 1)), "base does not fit")
        for name in ("asked", "denied"):
            proof.starts(f"{name}_start", own[f"{name}_start"], len(own[name]), lists)
            proof.below(name, own[name], clauses)
        for name in ("target", "doubtful"):
            proof.ensure(len(own[name]) == clauses, f"{name} does not fit the clauses")
        proof.starts("size_start", own["size_start"], clauses, max(len(own["size_start"]) - 1, 1))
        proof.covers(clauses, own["asked"], np.arange(int(own["size_start"][1])))
        proof.ensure(_sorted_lists(own["asked_start"], own["asked"]), "a list is not sorted")


def _sorted_lists(start: npt.NDArray[Any], posting: npt.NDArray[Any]) -> bool:
    rising = np.diff(posting.astype(np.int64)) >= 0
    bounds = start[1:-1][(start[1:-1] > 0) & (start[1:-1] < len(posting))].astype(np.int64)
    rising[bounds - 1] = True
    return bool(rising.all())
