"""``hybrid``: one access cell per clause, the next best condition inline, the rest beside it.

*Access.* Of the conditions of a clause, the one that events satisfy least often decides where the
clause is posted. A condition on one cell is posted there; a range is posted in a few *blocks* of
cells (blocks of 1, 2, 4, … cells are the levels of a dimension), chosen so that a handful of blocks
cover it. An event visits, for each of its cells, one block per level in use.

*Inline.* A posting carries the second least likely condition as (dimension, lowest cell, width) in
arrays of its own, so that a visited list is filtered without a branch and without touching
anything else; about one posting in ten survives.

*Rest.* Survivors have all their literals checked. Clauses are numbered in posting order, so these
checks walk memory in the same direction as the postings.

Clauses without any usable condition (NOT-only, always true) form the residual list, checked for
every event.
"""

from tamis.index.hybrid.engine import Hybrid

__all__ = ["Hybrid"]
