"""Heaps and sorting. NumPy's, and heapq's, take a second each to compile into a kernel; these do not."""
