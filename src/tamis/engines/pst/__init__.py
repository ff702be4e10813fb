"""The selectivity ranking and the postings in leaves, shared by ``pstbloom`` and ``psthash``.

A *leaf* of a PS-Tree is a predicate space. Here it is a cell of a dimension, since ``space`` has cut every
attribute at the boundaries of its predicates before an engine sees it. ``tamis.space.pstree`` holds the
PS-Tree itself, which changes with every predicate; an engine works on its frozen form.
"""

from tamis.engines.pst.leaves import FORMS, Leaves, conditions, post_in_leaves
from tamis.engines.pst.ranking import ranking

__all__ = ["FORMS", "Leaves", "conditions", "post_in_leaves", "ranking"]
