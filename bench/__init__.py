"""Benchmarks: seeded workloads, runs that compare engines, the suite, and the demonstration.

``bench`` imports ``tamis`` and is never imported by it. ``python -m bench --help`` lists what it does.
"""
