"""Batch construction: all expressions are known, so each level is cut once, with everything in view."""
