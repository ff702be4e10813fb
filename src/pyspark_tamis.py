"""Registers ``spark.read.format("tamis")``: Spark finds this module by its name."""

from __future__ import annotations

from tamis.spark.source import StoreSource


class DefaultSource(StoreSource):
    """The format ``tamis``: the tables of a store."""
