"""Run ``python -m bench.demo``."""

from bench.demo import demo

demo(prog_name="python -m bench.demo")
