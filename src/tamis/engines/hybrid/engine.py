"""The ``hybrid`` engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.engines.forms import ANY, RECORDS, WORD, Forms
from tamis.engines.hybrid._kernels import match_events
from tamis.engines.hybrid.layout import FLAG, build
from tamis.engines.hybrid.top import ListAgenda, Ranking, rank
from tamis.engines.parameters import Declared, Whole, chosen
from tamis.engines.postings._kernels import CLAUSE
from tamis.engines.postings.check import LAYOUT, check_levels, check_lists, check_records
from tamis.engines.postings.engine import ListEngine
from tamis.engines.proof import Proof
from tamis.engines.protocol import Agenda, Wanted, Weights
from tamis.engines.scratch import Scratch
from tamis.engines.units import Ints, Statistics
from tamis.space.located import Located
from tamis.space.space import Clauses


class Hybrid(ListEngine):
    """The ``hybrid`` engine, described in the package's docstring."""

    name: ClassVar[str] = "hybrid"
    kernel: ClassVar[Any] = match_events
    records: ClassVar[str] = "inline"
    forms: ClassVar[Forms] = {
        "heads": WORD.wide(4),
        "levels": WORD.wide(2),
        "list_start": WORD,
        "residual": WORD,
        "hull": WORD,
        "layout": WORD,
        "until": WORD,
        "inline": RECORDS,
        "rows": RECORDS.wide(ANY),
    }
    parameters: ClassVar[Declared] = {
        "most_blocks": Whole(4, 1, 64),
        "crowd": Whole(64, 0, 1 << 30),
        "pairs": Whole(1, 0, 2),  # 0: never, 1: if they pay, 2: for every clause with two conditions
        "beside": Whole(0, 0, 8),  # records in the row of a posting; 0: one, or three if they pay
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Choose access and inline conditions and lay out the postings."""
        return build(clauses, statistics, **chosen(cls.name, cls.parameters, parameters))

    def _make_scratch(self) -> Scratch:
        Proof(self.name).ensure(
            len(self._arena["engine.layout"]) == LAYOUT + 1, "the layout has another length"
        )
        heads, layout = self._arena["engine.heads"], self._arena["engine.layout"]
        rounded = bool(((heads[:, 0] >> 8) & 255).any())
        paired = int(layout[3]) // max(int(layout[2]), 1)
        return Scratch(len(heads), int(layout[5]), paired, rounded)

    def ranking(self, weights: Weights) -> Ranking | None:
        """Return the order of postings by their bounds; ``None`` if the bounds hardly differ."""
        start = self._arena["clauses.start"].astype(np.int64)
        return rank(self._arena.group("engine."), start[1:] - start[:-1], weights)

    def best(self, event: Located, ranking: Ranking, wanted: Wanted) -> Agenda | None:
        """Return the search through the lists of one event, best bound first.

        Return ``None`` for an event with several values, about which records and lists decide nothing, and
        if such searches have not paid lately.
        """
        if event.multi[0] or not ranking.experience.advises():
            return None
        return ListAgenda(self.scratch, self.arrays, self.candidates, event, ranking, wanted)

    def check(self) -> None:
        """Raise unless every clause is posted or residual and every number points inside its array."""
        arrays = self._arena.group("engine.")
        cells = self._arena["clauses.cells"].astype(np.int64)
        proof = Proof(self.name)
        _, _, zones, width, singles, _, stride = arrays["layout"].tolist()
        lists = singles + width * (width - 1) // 2
        rows, inline = arrays["rows"], arrays["inline"]
        fitting = stride >= 2 and rows.shape == (len(inline), stride) and rows.dtype == inline.dtype
        proof.ensure(fitting, "the rows do not fit the postings")
        start = self._arena["clauses.start"].astype(np.int64)
        arrays["posting"] = rows[:, 0] & CLAUSE
        check_lists(proof, arrays, start, lists)
        _check_until(proof, start, arrays["until"], arrays["posting"][(rows[:, 0] & FLAG) == 0])
        check_levels(proof, arrays, cells)
        slots = arrays["heads"][:, 3][arrays["heads"][:, 3] > 0]
        inside = not len(slots) or (zones > 0 and int(slots.max()) * zones <= width)
        proof.ensure(inside, "a dimension has zones beyond the last")
        proof.ensure(len(np.unique(slots)) == len(slots), "two dimensions have the same zones")
        for column in (inline, *rows.T[1:]):
            check_records(proof, arrays | {"inline": column}, "inline", len(cells), len(arrays["posting"]))


def _check_until(proof: Proof, start: Ints, until: npt.NDArray[Any], unsettled: npt.NDArray[Any]) -> None:
    """Raise unless each clause has its own literals left to check, at least one unless it is decided."""
    fitting = until.shape == start[1:].shape and np.all((start[:-1] <= until) & (until <= start[1:]))
    proof.ensure(fitting, "until does not fit the clauses")
    proof.ensure(np.all(start[unsettled] < until[unsettled]), "an undecided clause has nothing left to check")
