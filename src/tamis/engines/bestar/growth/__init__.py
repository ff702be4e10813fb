"""The growing tree: inserts one by one, deletes with inactive dimensions, learns from events."""

from tamis.engines.bestar.growth.tables import Rules
from tamis.engines.bestar.growth.tree import Tree

__all__ = ["Rules", "Tree"]
