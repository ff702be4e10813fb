"""Laying out ``hybrid``: which conditions a clause is posted under, and where."""

from tamis.engines.hybrid.layout.build import build

__all__ = ["build"]
