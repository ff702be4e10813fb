"""Measure matching on a graphics card, and duel it with the processor: ``python -m bench gpu``."""
