"""What ``presearch`` builds: terms, training, collection of terms, and the nodes in which queries stand."""

from tamis.engines.presearch.layout.build import build

__all__ = ["build"]
