"""Top-k: reads the posting lists of an event best bound first and stops below the k-th score.

*Bounds.* The first search derives an order of postings from the weights: in each list, the highest bound
comes first. So the next posting of a list bounds all others that are left in it. The order belongs to the
ranking and is not stored.

*Search.* A heap holds the lists of the event by their next bound. The search takes a few postings at a time
from the first list and filters them as a match does. The clauses that hold go into the same heap with their
own bounds. So clauses leave it in the order of their bounds. The search ends when no bound reaches the k-th
score.

*Event weights.* For an event with weights, the same order serves with a wider bound. Before a clause is
scored, its bound is computed from the event's own attributes.

*All matches.* In four cases the search finds all matches, because that costs less: all predicates have the
same weight (``pays`` in ``ranking.py``), the event has several values, matches are rare among the postings
that were read, or they were rare in the last searches (``Experience``).
"""

from tamis.engines.hybrid.top.agenda import ListAgenda
from tamis.engines.hybrid.top.ranking import Ranking, rank

__all__ = ["ListAgenda", "Ranking", "rank"]
