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
from tamis.engines.pstbloom._kernels import match_events
from tamis.engines.pstbloom.layout import build
from tamis.engines.scratch import Scratch
from tamis.engines.units import Statistics
from tamis.space.space import Clauses


class PSTBloom(ListEngine):
    """See the package's page."""

    name: ClassVar[str] = "pstbloom"
    kernel: ClassVar[Any] = match_events
    records: ClassVar[str] = "signature"
    forms: ClassVar[Forms] = {
        "heads": WORD.wide(4),
        "levels": WORD.wide(2),
        "list_start": WORD,
        "posting": WORD,
        "residual": WORD,
        "hull": WORD,
        "layout": WORD,
        "signature": LONG,
    }
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
        return Scratch(len(self._arena["clauses.cells"]), layout[5], 0, rounded=False)

    def check(self) -> None:
        """Every clause is posted or residual, and every number points inside its array."""
        arrays = self._arena.group("engine.")
        proof = Proof(self.name)
        check_lists(proof, arrays, self._arena["clauses.start"], int(arrays["layout"][4]))
        check_unpaired(proof, arrays)
        check_levels(proof, arrays, self._arena["clauses.cells"].astype(np.int64))
        proof.ensure(len(arrays["signature"]) == len(arrays["posting"]), "signatures do not fit the postings")
