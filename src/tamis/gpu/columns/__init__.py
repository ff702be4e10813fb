"""Locate the columns of a table on a card: numbers, and strings that a dictionary encodes."""
