"""Top-k: walks the tree best bound first and stops as soon as no bound reaches the k-th score."""

from tamis.engines.bestar.top.agenda import TreeAgenda
from tamis.engines.bestar.top.ranking import Ranking

__all__ = ["Ranking", "TreeAgenda"]
