"""Cut attributes into cells: sections by type of value, the cuts of all ranges, and equal clauses.

``tamis.space.build`` brings them together.
"""
