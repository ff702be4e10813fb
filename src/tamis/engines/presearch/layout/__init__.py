"""The layout of ``presearch``: terms, training, collection of terms, and the nodes of the queries."""

from tamis.engines.presearch.layout.build import build

__all__ = ["build"]
