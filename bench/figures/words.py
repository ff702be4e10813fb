"""Format numbers in answers for people, and name the units of measures."""

from __future__ import annotations

from bench.figures.spec import X

MEASURES = {
    "us": "µs per event",
    "build_s": "seconds to build",
    "build_ms": "ms to build",
    "query_ms": "ms for all points",
    "bytes": "bytes",
    "engine_bytes": "bytes",
    "per_second": "documents per second",
    "verified": "evaluations per document",
    "extra_terms": "extra terms",
    "events_per_s": "events per second",
    "wait_ms": "ms from publishing to the match",
    "per_event": "number per event",
    "search_us": "µs per search",
    "search_candidates": "looked at per search",
}


def place(x: X) -> str:
    """Return a place on the x axis, for people."""
    return x if isinstance(x, str) else f"{x:,}"


def times(factor: float) -> str:
    """Return a factor: ``2.3×``, ``18×``."""
    return f"{number(factor)}×"


def change(factor: float) -> str:
    """Return the factor of a growth, or a fraction if much less is left: ``2.3×``, ``1/15``."""
    return times(factor) if factor > 0.5 else f"1/{number(1 / factor)}"


def percent(part: float) -> str:
    """Return a change in per cent: ``65 % less``, ``99.97 % less``, ``30 % more``."""
    if part < 0:
        return f"{-100 * part:.0f} % more"
    text = f"{100 * part:.4g}" if part >= 0.99 else f"{100 * part:.2g}"
    return f"{text} % less"


def number(value: float) -> str:
    """Return two or three leading digits, with thousands set apart."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2g}" if abs(value) < 10 else f"{value:.3g}"
