"""Building the arrays of the tree."""

from tamis.index.bestar.layout.build import build

__all__ = ["build"]
