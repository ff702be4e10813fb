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
from tamis.engines.psthash._kernels import match_events
from tamis.engines.psthash.layout import build
from tamis.engines.psthash.scratch import HashScratch
from tamis.engines.scratch import Scratch
from tamis.engines.units import Statistics
from tamis.space.space import Clauses

LAYOUT = 10  # see layout/build.py


class PSTHash(ListEngine):
    """See the package's page."""

    name: ClassVar[str] = "psthash"
    kernel: ClassVar[Any] = match_events
    records: ClassVar[str] = "inline"
    forms: ClassVar[Forms] = {
        "heads": WORD.wide(4),
        "levels": WORD.wide(2),
        "list_start": WORD,
        "posting": WORD,
        "residual": WORD,
        "hull": WORD,
        "layout": WORD,
        "spaces": WORD.wide(2),
        "used": WORD,
        "parts": WORD,
        "inline": RECORDS,
        "second": RECORDS,
    }
    parameters: ClassVar[Declared] = {
        "access": Whole(2, 2, 4),
        "combinations": Whole(32, 1, 4096),
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
        """Every clause is posted or residual, and every number points inside its array."""
        arrays = self._arena.group("engine.")
        cells = self._arena["clauses.cells"].astype(np.int64)
        clauses = len(self._arena["clauses.start"]) - 1
        proof = Proof(self.name)
        *_, singles, _, bits, access, low, high = arrays["layout"].tolist()
        proof.ensure(0 < bits < 40 and 2 <= access <= 4 and low <= high <= clauses, "the layout cannot be")
        check_lists(proof, arrays, self._arena["clauses.start"], singles + (1 << bits))
        check_unpaired(proof, arrays)
        check_levels(proof, arrays, cells)
        same = arrays["inline"].dtype == arrays["second"].dtype
        proof.ensure(same, "the records are of different types")
        for name in ("inline", "second"):
            check_records(proof, arrays, name, len(cells))
        _check_spaces(proof, arrays, cells)


def _check_spaces(proof: Proof, arrays: dict[str, npt.NDArray[Any]], cells: npt.NDArray[np.int64]) -> None:
    """Every cell leads to a space that has its bit, and every key to a part."""
    spaces = arrays["spaces"].astype(np.int64)
    proof.ensure(len(spaces) == len(cells), "the spaces do not fit the dimensions")
    proof.below("a grain", spaces[:, 0], 63)
    last = np.where(spaces[:, 1] > 0, spaces[:, 1] - 1 + (cells >> spaces[:, 0]), 0)
    proof.below("a dimension", last, 32 * len(arrays["used"]))
    parts = len(arrays["parts"])
    proof.ensure(parts > 0 and parts & (parts - 1) == 0, "the table of parts is not a power of two")
