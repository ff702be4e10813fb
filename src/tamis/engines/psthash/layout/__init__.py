"""The layout of ``psthash``: access predicates, their spaces, and the hash table."""

from tamis.engines.psthash.layout.build import build

__all__ = ["build"]
