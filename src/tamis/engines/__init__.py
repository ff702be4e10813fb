"""The matching engines: they turn integer clauses and located events into candidates, behind one protocol."""
