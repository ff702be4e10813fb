"""Define the curves that several papers share: an engine, and the papers' name for it."""

from bench.figures.spec import Curve

SCAN = Curve("scan", "scan")
KINDEX = Curve("kindex", "k-index")
OPINDEX = Curve("opindex", "OpIndex")
BETREE = Curve("bestar:split=0", "BE-Tree")
HYBRID = Curve("hybrid", "hybrid")
