"""Posting lists over cells, shared by the engines that post clauses under their best condition.

``layout`` defines the lists (blocks of 1, 2, 4, … cells of a dimension, and pairs of zones), packs conditions
into inline records and sorts literals into the order of checks. The kernels here search: they find the lists
that an event visits, the postings that its cells let pass, and, for events with several values, the clauses
that hold.
"""
