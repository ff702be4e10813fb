"""Heaps and sorting that compile fast: NumPy's and heapq's take a second each to compile into a kernel."""
