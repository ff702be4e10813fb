"""The layout of posting lists: levels, pairs of zones, records, and the order of literals."""
