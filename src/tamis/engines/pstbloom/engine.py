"""The ``pstbloom`` engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.engines.forms import LONG, WORD, Forms
from tamis.engines.parameters import Declared, Whole, chosen
from tamis.engines.postings.check import LAYOUT, check_levels, check_lists, check_unpaired
from tamis.engines.postings.engine import ListEngine
from tamis.engines.proof import Proof
from tamis.engines.pst import FORMS
from tamis.engines.pstbloom._kernels import NO_WIDTH, match_events
from tamis.engines.pstbloom.layout import WIDEST, build
from tamis.engines.pstbloom.scratch import BloomScratch
from tamis.engines.scratch import Scratch
from tamis.engines.units import Statistics
from tamis.space.space import Clauses


class PSTBloom(ListEngine):
    """The PSTBloom engine, described in the package's docstring and README.md."""

    name: ClassVar[str] = "pstbloom"
    kernel: ClassVar[Any] = match_events
    records: ClassVar[str] = "marks"
    forms: ClassVar[Forms] = FORMS | {"widths": WORD, "marks": LONG}
    parameters: ClassVar[Declared] = {
        "most_blocks": Whole(4, 1, 64),
        "crowd": Whole(64, 0, 1 << 30),
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Choose access predicates, post the clauses in their leaves and sign the postings."""
        return build(clauses, statistics, **chosen(cls.name, cls.parameters, parameters))

    def _make_scratch(self) -> Scratch:
        layout = self._arena["engine.layout"].tolist()
        Proof(self.name).ensure(len(layout) == LAYOUT, "the layout has another length")
        return BloomScratch(len(self._arena["clauses.cells"]), layout[5])

    def check(self) -> None:
        """Raise unless every clause is posted or residual and every number points inside its array."""
        arrays = self._arena.group("engine.")
        proof = Proof(self.name)
        check_lists(proof, arrays, self._arena["clauses.start"], int(arrays["layout"][4]))
        check_unpaired(proof, arrays)
        cells = self._arena["clauses.cells"].astype(np.int64)
        check_levels(proof, arrays, cells)
        proof.ensure(len(arrays["widths"]) == len(cells), "the widths do not fit the dimensions")
        widths = arrays["widths"].view(np.uint8)
        proof.below("a width", widths[widths != NO_WIDTH], WIDEST + 1)
        proof.ensure(len(arrays["marks"]) == len(arrays["posting"]), "signatures do not fit the postings")
