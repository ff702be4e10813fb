"""Hold millions of expressions as flat columns, which are stored and indexed.

An expression is a run of rows in reverse Polish order. A predicate row names its attribute, its operator and
its operands (numbers of literals in a pool); a structural row (AND, OR, NOT) holds the number of results that
it joins. Results left over at the end of a run are joined by AND, so that a plain conjunction, by far the
most common expression, is just its predicates, and no rows mean TRUE.
"""

from tamis.columns.bulk import columns_from_arrow
from tamis.columns.join import concat
from tamis.columns.rows import Columns, RowWriter, tree_at

__all__ = ["Columns", "RowWriter", "columns_from_arrow", "concat", "tree_at"]
