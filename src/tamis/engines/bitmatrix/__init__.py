"""``bitmatrix``: a bit for each clause and cell; an event ANDs one row of bits for each attribute.

*Rows.* A *slab* holds 512 clauses in a *column* of rows for each dimension. A row says which clauses a block
of cells leaves alive; absence has a row of its own. One row is a cache line, and all rows of a slab fit the
L2 cache. A kernel ANDs the rows of an event without a branch.

*Order.* Clauses with nearly the same ranges on the same two dimensions share a slab (``layout/order.py``). A
*chunk* of 64 slabs has a summary: for each cell a word with a bit for each slab. ANDs of these words rule out
most slabs.

*Grain.* A dimension of many cells is divided into blocks. A clause whose ranges end within a block is
*doubtful*: its literals are checked once the rows leave it. So is a clause on a dimension that has no column.
``bytes_each`` bounds the memory: blocks become coarser until the rows of a slab fit, then columns are left
out.

*Several values.* The rows of all values are ORed. All clauses that are left are checked.
"""

from tamis.engines.bitmatrix.engine import BitMatrix

__all__ = ["BitMatrix"]
