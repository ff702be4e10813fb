"""``bestar``: the BE*-Tree."""

from tamis.index.bestar.engine import BEStar

__all__ = ["BEStar"]
