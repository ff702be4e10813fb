"""``opindex``: OpIndex (Zhang, Chan and Tan, 2014) over integer cells. ``README.md`` maps the paper's terms.

*Level 1.* Every clause belongs to its *pivot*: of the dimensions it asks for, the one that events have least
often. An event that lacks the pivot never looks at the clause.

*Level 2.* The predicates of all clauses of a pivot stand in one list per operator (``=``, ``<=``, ``>=``),
sorted by (dimension, operand), so that an event's value meets one run of the list. Each list is split into up
to 32 segments by dimension, and each segment has a signature of 64 bits: one AND with the event's own
signature rules out most segments. Nested ranges, such as those of prefixes, stand in tries beside the lists.

*Counting.* A clause matches when an event has met as many predicates as it needs. Counters are kept per
pivot, reset when the pivot is visited, and small enough to stay in the cache.

*Disjunctions.* A conjunction of disjunctions that would be longer in DNF is posted once under every attribute
of its smallest disjunction, with a bitmap in place of the counter.

Clauses without any predicate that needs a present attribute (NOT-only, always true) stand last and are
checked for every event.
"""

from tamis.engines.opindex.engine import OpIndex

__all__ = ["OpIndex"]
