"""Runs: one workload, several engines, measured in one process and made to agree.

:class:`Plan` says what to run, :func:`run` runs it, :func:`vary` runs it for several values of a parameter.
"""

from bench.run.agree import Case, Disagreement
from bench.run.outcome import run, vary
from bench.run.plan import EngineSpec, Plan
from bench.run.summary import summary

__all__ = ["Case", "Disagreement", "EngineSpec", "Plan", "run", "summary", "vary"]
