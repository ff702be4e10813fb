"""``filtertree``: conjunctions merged into a tree over the most frequent names (see README.md)."""

from tamis.engines.filtertree.engine import FilterTree

__all__ = ["FilterTree"]
