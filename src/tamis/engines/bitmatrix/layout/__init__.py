"""The layout of ``bitmatrix``: the order of the clauses, and the rows of bits."""

from tamis.engines.bitmatrix.layout.build import build

__all__ = ["build"]
