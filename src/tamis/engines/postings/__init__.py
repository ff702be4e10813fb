"""Posting lists over cells: what the engines that post clauses under their best condition share.

``layout`` says which lists there are (blocks of 1, 2, 4, … cells of a dimension, and pairs of zones), packs
conditions into inline records and puts literals into the order they are checked in. The kernels here
search: which lists an event visits, which postings its cells let pass, and, for events with several
values, which clauses hold.
"""
