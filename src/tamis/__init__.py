"""Tamis sifts streams of events through millions of standing queries."""

__version__ = "0.1.0"

__all__ = ["__version__"]
