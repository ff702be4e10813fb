"""``auto``: tries the engines on some of the clauses and takes the cheapest, for all or for each group.

*Groups.* Four groups of clauses may be served best by different engines: clauses of text terms, clauses with
a rare condition (sparse), clauses without one (dense), and clauses without any usable condition (NOT-only).
Three divisions are considered: none, by kind, by kind and density.

*Trials.* ``auto`` builds every engine over two samples of a group's clauses and times it on this machine. It
uses a sample of the events if there is one, else events that the clauses suggest. A line through the two
sizes estimates the cost over all clauses. The cheapest division wins. Within a group, ``hybrid`` gives way
only to an engine that is clearly faster.

A small index is not worth a trial: with fewer than ``least`` clauses, ``auto`` takes ``hybrid``. The index
keeps the choice, the costs of the alternatives and the reason (``info`` shows them). A merge chooses again,
with the events seen since.
"""

from tamis.engines.auto.engine import Auto

__all__ = ["Auto"]
