"""The tree that grows: insertion one by one, deletion with inactive dimensions, feedback from events."""

from tamis.engines.bestar.growth.tree import Tree

__all__ = ["Tree"]
