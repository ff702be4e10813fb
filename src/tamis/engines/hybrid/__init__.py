"""``hybrid``: one access cell per clause, the next best condition inline, the rest beside it.

*Access.* Of the conditions of a clause, the one that events satisfy least often decides where the
clause is posted. A condition on one cell is posted there; a range is posted in a few *blocks* of
cells (blocks of 1, 2, 4, … cells are the levels of a dimension), chosen so that a handful of blocks
cover it. An event visits, for each of its cells, one block per level in use.

*Pairs.* A clause of wide ranges only, on crowded dimensions, is posted under pairs of conditions
instead, in coarse zones (``layout/pairs.py``).

*Inline.* A posting carries the next least likely conditions as packed records (dimension, lowest cell,
width). The first stands in an array of its own, so that visited lists are filtered without a branch
and without touching anything else. The others, one or three, stand in the posting's *row*, beside the
number of its clause; one posting in some hundreds survives two records.

*Decided.* A posting says whether its list and its records decide the whole clause (for a plain event);
then its clause is a match that nobody looks at (``layout/decided.py``).

*Rest.* Other survivors have those literals checked that are not decided yet; they stand first, up to
``until``. Clauses are numbered in posting order, so these checks walk memory in the same direction as
the postings, and the loads of one event's survivors are issued together.

Clauses without any usable condition (NOT-only, always true) form the residual list, checked for
every event.
"""

from tamis.engines.hybrid.engine import Hybrid

__all__ = ["Hybrid"]
