"""Top-k with flat bounds: one per size, one per size and list, one per clause; none is refined."""

from tamis.engines.kindex.top.agenda import SizeAgenda
from tamis.engines.kindex.top.ranking import Ranking

__all__ = ["Ranking", "SizeAgenda"]
