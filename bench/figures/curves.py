"""Curves that several papers share: an engine, and what the papers call it."""

from bench.figures.spec import Curve

SCAN = Curve("scan", "scan")
KINDEX = Curve("kindex", "k-index")
OPINDEX = Curve("opindex", "OpIndex")
BETREE = Curve("bestar:split=0", "BE-Tree")
HYBRID = Curve("hybrid", "hybrid")
