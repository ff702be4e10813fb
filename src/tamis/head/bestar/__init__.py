"""Keep the clauses of the head in a growing BE*-Tree.

The tree is that of ``engines/bestar/growth``, over the keys of the head. It deletes the clauses of removed
subscriptions, counts for each l-node the clauses that events checked in vain, ranks its partitions by these
counts, and inserts the clauses of useless partitions again.
"""
