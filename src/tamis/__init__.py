"""Tamis sifts streams of events through millions of standing queries."""
