"""Benchmarks: seeded workloads, runs that compare engines, the suite, and the demonstration.

``bench`` imports ``tamis``; ``tamis`` never imports ``bench``. ``python -m bench --help`` lists the commands.
"""
