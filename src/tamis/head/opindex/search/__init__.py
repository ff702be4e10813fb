"""Search the predicate lists of a head."""
