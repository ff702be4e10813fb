"""Engines: from integer clauses and located events to candidates, behind one protocol."""
