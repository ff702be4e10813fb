"""One dimension: a PS-Tree against a segment tree and an interval tree (section 7.5 of the paper).

``python -m bench.pstree`` builds all of them over the same intervals, asks each for the intervals around the
same points, checks that they agree, and prints a table.
"""
