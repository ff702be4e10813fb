"""The ``bestar`` engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.engines.bestar._kernels import match_events
from tamis.engines.bestar.build import build
from tamis.engines.bestar.check import check_tree
from tamis.engines.bestar.nodes import C_WIDTH, EXHAUSTIVE, P_WIDTH
from tamis.engines.bestar.top import Ranking, TreeAgenda
from tamis.engines.flat import FlatEngine
from tamis.engines.forms import BYTE, WORD, Forms
from tamis.engines.parameters import Declared, Real, Whole, chosen
from tamis.engines.protocol import Wanted, Weights
from tamis.engines.units import Statistics
from tamis.space.located import Located
from tamis.space.space import Clauses


class BEStar(FlatEngine):
    """See the package's page."""

    name: ClassVar[str] = "bestar"
    kernel: ClassVar[Any] = match_events
    forms: ClassVar[Forms] = {
        "c_node": WORD.wide(C_WIDTH),
        "p_node": WORD.wide(P_WIDTH),
        "hull": BYTE,
    }
    parameters: ClassVar[Declared] = {
        "leaf": Whole(0, 0, 1 << 20),  # capacity of an l-node (the paper's A); 0: by match probability
        "alpha": Real(0.1, 0.0, 0.5),
        "beta": Real(4.0, 1.0, 1e9),  # incremental only: growth beyond this raises a new bucket
        "split": Whole(EXHAUSTIVE, 0, 2),  # rigid (as a BE-Tree), approximate, exhaustive
        "selectivity": Whole(1, 0, 1),  # rank attributes by gain minus loss, or by popularity alone
        "incremental": Whole(0, 0, 1),  # insert one by one instead of all at once
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Partition and cluster the clauses."""
        return build(clauses, statistics, **chosen(cls.name, cls.parameters, parameters))

    def _scratch(self) -> tuple[Any, ...]:
        return (np.zeros(max(len(self._clauses["cells"]), 1), np.uint32),)

    def ranking(self, weights: Weights) -> Ranking:
        """Weight summaries of all nodes."""
        return Ranking(self._own["c_node"], self._own["p_node"], weights)

    def best(self, event: Located, ranking: Ranking, wanted: Wanted) -> TreeAgenda:
        """Return the walk through the tree for one event, best bound first."""
        return TreeAgenda(self._arrays, self._free, self._scratch, event, ranking, wanted)

    def check(self) -> None:
        """The nodes form one tree, every clause lies in one l-node, and siblings repel each other."""
        check_tree(self._clauses, self._own)
