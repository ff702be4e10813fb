"""``bestar``: the BE*-Tree of Sadoghi and Jacobsen.

*Partitioning.* An l-node that overflows is spread over p-nodes, one per dimension, the dimension of the
highest rank first; an event enters only the p-nodes of dimensions that it has.

*Clustering.* Below a p-node the clauses are grouped by their range on its dimension: a bucket (c-node) that
overflows is cut where the data suggests, into left, overlap and right. Left and right never overlap, so a
point enters one of them at most, and no bucket reaches further than what it holds: space where nobody
asks is not indexed. What reaches over the cut stays in the bucket itself, which is partitioned further if
it overflows.

*Checks.* L-nodes are runs of consecutive clauses; all literals of the clauses reached are checked.

A segment never changes, so its tree is built at once (``batch``). ``growth`` holds the tree that takes
expressions in and out one at a time and learns from events. ``README.md`` maps the paper's words to ours.
"""

from tamis.engines.bestar.engine import BEStar

__all__ = ["BEStar"]
