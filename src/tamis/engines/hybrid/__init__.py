"""``hybrid``: one access cell per clause, the next best conditions inline, the others beside it.

*Access.* The condition of a clause that events satisfy least often decides where the clause is posted. A
condition on one cell is posted there. A range is posted in a few *blocks* of cells (blocks of 1, 2, 4, …
cells are the levels of a dimension), chosen so that a handful of blocks cover it. For each of its cells, an
event visits one block per level in use.

*Pairs.* A clause that has only wide ranges on crowded dimensions is posted under pairs of conditions instead,
in coarse zones (``choose_pairs`` in ``layout.py``).

*Inline.* A posting carries the next least likely conditions as packed records (dimension, lowest cell,
width). The first record stands in its own array, so that kernels filter visited lists without a branch and
without touching anything else. The others, one or three, stand in the posting's *row*, beside the number of
its clause. One posting in some hundreds survives two records.

*Decided.* A posting says whether its list and its records decide the whole clause (for a plain event). Then
its clause is a match without further checks (``decided_units`` in ``layout.py``).

*Rest.* For the other survivors, the kernel checks the literals that are not decided yet. These stand first,
up to ``until``. Clauses are numbered in posting order, so the checks walk memory in the same direction as the
postings, and the loads of one event's survivors are issued together.

Clauses without any usable condition (NOT-only, always true) form the residual list, which is checked for
every event.

*Top-k.* A search for the k best matches reads the lists best bound first, if the weights of the book differ
(``top``).
"""

from tamis.engines.hybrid.engine import Hybrid

__all__ = ["Hybrid"]
