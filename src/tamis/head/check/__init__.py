"""Check the clauses of the head against one event."""
