"""Found by Spark itself, by this module's name: ``spark.read.format("tamis")`` needs no registration."""

from __future__ import annotations

from tamis.spark.source import StoreSource


class DefaultSource(StoreSource):
    """The format ``tamis``: the tables of a store."""
