"""Runs: one workload, several engines, measured in one process, with equal results required.

:class:`Plan` defines a run, :func:`run` runs it, :func:`vary` runs it for several values of a parameter.
"""

from bench.run.agree import Case, Disagreement
from bench.run.outcome import run, vary
from bench.run.plan import EngineSpec, Plan
from bench.run.summary import summary

__all__ = ["Case", "Disagreement", "EngineSpec", "Plan", "run", "summary", "vary"]
