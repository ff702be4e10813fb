"""Measure the matching of texts: what phrases, accents and other terms cost beside plain words (W3)."""
