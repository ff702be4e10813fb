"""``scan``: every clause is a candidate for every event. The engine that all others must equal."""

from tamis.engines.scan.engine import Scan

__all__ = ["Scan"]
