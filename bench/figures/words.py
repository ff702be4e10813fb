"""Format numbers in answers for people."""

from __future__ import annotations

from bench.figures.spec import X


def place(x: X) -> str:
    """Return a place on the x axis, for people."""
    return x if isinstance(x, str) else f"{x:,}"


def times(factor: float) -> str:
    """Return a factor: ``2.3×``, ``18×``."""
    return f"{number(factor)}×"


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
