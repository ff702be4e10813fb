"""Insert clauses into predicate lists."""
