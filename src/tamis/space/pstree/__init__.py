"""The PS-Tree: the predicates on one attribute cut its values into disjoint predicate spaces.

:class:`PSTree` changes with every predicate that is inserted or deleted: spaces split, counters change,
spaces merge. :class:`Frozen` holds the same spaces as sorted arrays, searched by a kernel. A whole ``Space``
is cut the second way, all attributes at once (``space/build.py``); the tree is for following one attribute
through time. ``README.md`` in this folder maps the paper's words to the names here.
"""

from tamis.space.pstree.elements import Elements, Floats, Integers, Strings
from tamis.space.pstree.frozen import Frozen
from tamis.space.pstree.nodes import Leaf
from tamis.space.pstree.tree import PSTree

__all__ = ["Elements", "Floats", "Frozen", "Integers", "Leaf", "PSTree", "Strings"]
