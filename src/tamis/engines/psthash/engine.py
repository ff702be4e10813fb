"""The ``psthash`` engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.engines.forms import RECORDS, WORD, Forms
from tamis.engines.parameters import Declared, Whole, chosen
from tamis.engines.postings.check import check_levels, check_lists, check_records, check_unpaired
from tamis.engines.postings.engine import ListEngine
from tamis.engines.proof import Proof
from tamis.engines.pst import FORMS
from tamis.engines.psthash._kernels import match_events
from tamis.engines.psthash.layout import build
from tamis.engines.psthash.layout._kernels import FILTER
from tamis.engines.psthash.scratch import HashScratch
from tamis.engines.scratch import Scratch
from tamis.engines.units import Statistics
from tamis.space.space import Clauses

LAYOUT = 9  # see layout/build.py


class PSTHash(ListEngine):
    """The PSTHash engine, described in the package's docstring and README.md."""

    name: ClassVar[str] = "psthash"
    kernel: ClassVar[Any] = match_events
    records: ClassVar[str] = "inline"
    forms: ClassVar[Forms] = FORMS | {
        "spaces": WORD.wide(2),
        "used": WORD,
        "rows": WORD,
        "known": WORD,
        "inline": RECORDS,
        "second": RECORDS,
    }
    parameters: ClassVar[Declared] = {
        "access": Whole(2, 2, 4),
        "combinations": Whole(128, 1, 4096),
        "most_blocks": Whole(4, 1, 64),
        "crowd": Whole(64, 0, 1 << 30),
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Choose access predicates and hash the clauses by their spaces."""
        return build(clauses, statistics, **chosen(cls.name, cls.parameters, parameters))

    def _make_scratch(self) -> Scratch:
        layout = self._arena["engine.layout"].tolist()
        Proof(self.name).ensure(len(layout) == LAYOUT, "the layout has another length")
        return HashScratch(len(self._arena["clauses.cells"]), layout)

    def check(self) -> None:
        """Raise unless every clause is posted or residual and every number points inside its array."""
        arrays = self._arena.group("engine.")
        cells = self._arena["clauses.cells"].astype(np.int64)
        clauses = len(self._arena["clauses.start"]) - 1
        proof = Proof(self.name)
        *_, singles, _, access, low, high = arrays["layout"].tolist()
        proof.ensure(2 <= access <= 4 and low <= high <= clauses, "the layout cannot be")
        _check_rows(proof, arrays["rows"].astype(np.int64), arrays["known"])
        check_lists(proof, arrays, self._arena["clauses.start"], singles + int(arrays["rows"][-1]))
        check_unpaired(proof, arrays)
        check_levels(proof, arrays, cells)
        same = arrays["inline"].dtype == arrays["second"].dtype
        proof.ensure(same, "the records are of different types")
        check_records(proof, arrays, "inline", len(cells), len(arrays["posting"]))
        check_records(proof, arrays, "second", len(cells), clauses)
        _check_spaces(proof, arrays, cells)


def _check_rows(proof: Proof, rows: npt.NDArray[np.int64], known: npt.NDArray[Any]) -> None:
    """Raise unless every row has a power of two of buckets, or none, and its bits in the filter of keys."""
    proof.ensure(len(rows) > 0 and rows[0] == 0, "the rows do not begin with 0")
    size = np.diff(rows)
    powers = np.all((size >= 0) & (size & (size - 1) == 0))
    proof.ensure(powers, "a row of buckets is not a power of two")
    proof.ensure(FILTER * rows[-1] <= 32 * len(known), "the filter of keys does not fit the rows")


def _check_spaces(proof: Proof, arrays: dict[str, npt.NDArray[Any]], cells: npt.NDArray[np.int64]) -> None:
    """Raise unless every cell leads to a space that has its bit and its row."""
    spaces = arrays["spaces"].astype(np.int64)
    proof.ensure(len(spaces) == len(cells), "the spaces do not fit the dimensions")
    proof.below("a grain", spaces[:, 0], 63)
    last = np.where(spaces[:, 1] > 0, spaces[:, 1] + (cells >> spaces[:, 0]), 0)
    proof.below("a space", last, min(32 * len(arrays["used"]), len(arrays["rows"])))
