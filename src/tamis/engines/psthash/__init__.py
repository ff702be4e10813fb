"""``psthash``: N access predicates per clause, their predicate spaces hashed together.

A clause hangs from every combination of the spaces of its N most selective predicates. An event looks up
every combination of N of its own spaces. It looks only at clauses whose N access predicates may all hold,
which matters when many clauses crowd on few attributes. ``README.md`` in this folder maps the paper's words
to the names here.
"""

from tamis.engines.psthash.engine import PSTHash

__all__ = ["PSTHash"]
