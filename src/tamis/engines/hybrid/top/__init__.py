"""Top-k: reads the posting lists of an event best bound first and stops below the k-th score.

*Bounds.* The first search derives an order of postings from the weights: in each list, the highest bound
comes first. So the first posting that is left bounds all others of its list. The order belongs to the ranking
and is not stored.

*Search.* A heap holds the lists of the event by their next bound. The search takes a few postings at a time
from the first list and filters them as a match does. It takes more at a time while it finds nothing, so an
event that matches nothing costs little more than a match. It ends when no bound reaches the k-th score.

*Event weights.* If an event has weights, the same order serves with a wider bound. Then the bound of every
clause that holds is computed from the event's own attributes before its score is.

Two searches find all matches first: that for an event with several values, and that over weights whose bounds
hardly differ (``pays`` in ``ranking.py``).
"""

from tamis.engines.hybrid.top.agenda import ListAgenda
from tamis.engines.hybrid.top.ranking import Ranking, rank

__all__ = ["ListAgenda", "Ranking", "rank"]
