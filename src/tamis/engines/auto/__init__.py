"""``auto``: tries the engines on some of the clauses and takes the cheapest, for all or for each group.

*Groups.* Clauses of text terms, clauses with a rare condition (sparse), without one (dense), and those
without any usable condition (NOT-only) may be served best by different engines. Three divisions are
considered: none, by kind, by kind and density.

*Trials.* Every engine is built over two samples of a group's clauses and timed on this machine, with a
sample of the events if there is one, else with events that the clauses suggest. A line through the two
sizes says what it would cost over all of them. The cheapest division wins; within a group ``hybrid``
gives way only to what is clearly faster.

A small index is not worth a trial: below ``least`` clauses it is ``hybrid``. What was chosen, what the
others would have cost, and why, is kept in the index (``info`` shows it). A merge chooses again, with
the events seen since.
"""

from tamis.engines.auto.engine import Auto

__all__ = ["Auto"]
