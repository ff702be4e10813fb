"""``make demo``: a marketplace, live, through Spark and in one process."""

from bench.demo.command import demo

__all__ = ["demo"]
