"""``presearch``."""

from tamis.index.presearch.engine import Presearch

__all__ = ["Presearch"]
