"""``kindex``: postings by (clause size, dimension, cell), counted up to the size (see README.md)."""

from tamis.engines.kindex.engine import KIndex

__all__ = ["KIndex"]
