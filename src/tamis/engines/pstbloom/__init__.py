"""``pstbloom``: one access predicate per clause, a Bloom signature of the others in every posting.

A clause hangs from the leaves of its most selective predicate. An event visits the leaf of each of its values
and skips the postings of which its Bloom filter does not have every mark. It verifies the remaining ones.
``README.md`` in this folder maps the paper's words to the names here.
"""

from tamis.engines.pstbloom.engine import PSTBloom

__all__ = ["PSTBloom"]
