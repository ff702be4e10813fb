"""The suite behind ``make bench``: ten minutes, every figure that has a target, the last result."""

from bench.suite.suite import LATEST, suite, suite_summary

__all__ = ["LATEST", "suite", "suite_summary"]
