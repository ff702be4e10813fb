"""Batch construction: cuts each level once, because all expressions are known."""
