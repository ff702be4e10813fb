"""``bestar``: the BE*-Tree of Sadoghi and Jacobsen.

*Partitioning.* An l-node that overflows is spread over p-nodes, one per dimension, the dimension of the
highest rank first. An event enters only the p-nodes of dimensions that it has.

*Clustering.* Below a p-node the clauses are grouped by their range on its dimension. A bucket (c-node) that
overflows is cut into left, overlap and right at a place that the data suggests. Left and right never overlap,
so a point enters at most one of them. No bucket is wider than its contents: space without subscriptions is
not indexed. Ranges that cross the cut stay in the bucket itself, which is partitioned further if it
overflows.

*Checks.* L-nodes are runs of consecutive clauses. The engine checks all literals of the clauses it reaches.

A segment never changes, so its tree is built at once (``batch``). ``growth`` holds the tree that inserts and
deletes single expressions and learns from events. ``README.md`` maps the paper's words to ours.
"""

from tamis.engines.bestar.engine import BEStar

__all__ = ["BEStar"]
