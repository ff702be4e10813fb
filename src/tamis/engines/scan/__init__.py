"""``scan``: every clause is a candidate for every event. All other engines must equal this one."""

from tamis.engines.scan.engine import Scan

__all__ = ["Scan"]
