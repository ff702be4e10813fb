"""Insert clauses into the lists of the head."""
