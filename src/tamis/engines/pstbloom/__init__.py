"""``pstbloom``: one access predicate per clause, a Bloom signature of the others in every posting.

A clause hangs from the leaves of its most selective predicate. An event visits the leaf of each of its
values and passes over the postings whose signature is not contained in its own; what is left is verified.
``README.md`` in this folder maps the paper's words to the names here.
"""

from tamis.engines.pstbloom.engine import PSTBloom

__all__ = ["PSTBloom"]
