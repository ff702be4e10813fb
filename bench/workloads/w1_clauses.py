"""Generate W1 in normal form (DNF or CNF), as in figure 13 of the OpIndex paper.

A subscription has 1 to ``most_clauses`` clauses, uniformly, of 1 to ``most_predicates`` predicates each,
which are drawn as those of :class:`~bench.workloads.w1.W1`. A clause has at most four by default, so that a
subscription has at most 20, the largest size of the paper's table 3. Subscriptions are written as text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workloads.base import OPERATORS, Ints, numbered
from bench.workloads.draw import BLOCK, blocks, generator
from bench.workloads.synthetic import Matrices, check_bounds, used_cells
from bench.workloads.texts import joined
from bench.workloads.w1 import W1
from tamis.columns.rows import starts

FORMS = {"dnf": (" AND ", " OR "), "cnf": (" OR ", " AND ")}


@dataclass(frozen=True)
class W1Clauses(W1):
    """W1 with up to ``most_clauses`` clauses; ``form`` is ``dnf`` or ``cnf``."""

    name: str = "w1-dnf"
    most_predicates: int = 4
    form: str = "dnf"
    most_clauses: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_bounds(self, most_clauses=(1, None))
        if self.form not in FORMS:
            raise ValueError(f"{self.name}: form must be one of {', '.join(FORMS)}, not {self.form!r}")

    @property
    def about(self) -> str:
        """A description in one line."""
        return f"{super().about}; {self.form.upper()} of up to {self.most_clauses} clauses"

    def in_text(self, count: int) -> int:
        """Return the number of all subscriptions: all are texts."""
        return count

    def expressions(self, seed: int, rows: range) -> pa.Table:
        """Return subscriptions in normal form over ``a0``, ``a1`` …"""
        parts = [self._texts(*self._clauses(seed, number, part)) for number, part in blocks(rows, BLOCK)]
        return pa.table({"id": numbered("s", rows), "expression": pa.concat_arrays(parts)})

    def _clauses(self, seed: int, number: int, part: slice) -> tuple[Ints, Matrices]:
        """Return the number of clauses of each subscription, and each clause's predicates as matrices."""
        rng = generator(seed, "w1 clauses", number)
        clauses = rng.integers(1, self.most_clauses + 1, BLOCK)
        size = rng.integers(1, self.most_predicates + 1, int(clauses.sum()))
        matrices = size, *self._predicates(rng, len(size), self.most_predicates)
        start = starts(clauses)
        kept = slice(start[part.start], start[part.stop])
        return clauses[part], tuple(matrix[kept] for matrix in matrices)

    def _texts(self, clauses: Ints, matrices: Matrices) -> pa.Array:
        inner, outer = FORMS[self.form]
        size, attribute, operator, operand = matrices
        used = used_cells(attribute, size)
        words = pa.array([f" {word} " for word in OPERATORS])
        predicates = pc.binary_join_element_wise(
            numbered("a", self.dimensions).take(pa.array(attribute[used])),
            words.take(pa.array(operator[used])),
            pa.array(operand[used]).cast(pa.string()),
            "",
        )
        texts = joined(predicates, size, inner)
        bracketed = pc.binary_join_element_wise(pa.scalar("("), texts, pa.scalar(")"), "")
        alone = pa.array((size == 1) | np.repeat(clauses == 1, clauses))
        return joined(pc.if_else(alone, texts, bracketed), clauses, outer)


W1_DNF = W1Clauses()
W1_CNF = W1Clauses(name="w1-cnf", form="cnf")
