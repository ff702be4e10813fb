"""The layout of ``opindex``: predicates, pivots, lists, and groups of alternatives."""
