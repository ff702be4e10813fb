"""Formats a profile as a page of text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tamis.spark.profiling.leaves import FAMILIES

if TYPE_CHECKING:
    from tamis.spark.profiling.profile import Profile

ATTRIBUTES, VALUES, TERMS = 40, 4, 12  # lines, values in a line, terms and pairs


def summary(profile: Profile) -> str:
    """Return a page with the attributes, their frequency and types, and their usual values."""
    attributes = profile.table("attributes")
    refused = f", {profile.refused:,} of them refused" if profile.refused else ""
    lines = [f"{profile.events:,} events{refused}; {attributes.num_rows:,} attributes; made {profile.made}"]
    if profile.dropped:
        lines.append(f"rarer attributes were left out (at most {profile.dropped:,})")
    lines += ["", f"  {'attribute':<28} {'events':>7}  {'kinds':<16} {'distinct':>10}  usual values"]
    lines += [f"  {line}" for line in _attributes(profile)]
    if attributes.num_rows > ATTRIBUTES:
        lines.append(f"  … and {attributes.num_rows - ATTRIBUTES:,} more")
    lines += _counts("terms", profile, lambda row: row["term"])
    lines += _counts("pairs", profile, lambda row: f"{row['one']} + {row['two']}")
    lines += ["", f"sample: {profile.table('sample').num_rows:,} events"]
    return "\n".join(lines)


def _attributes(profile: Profile) -> Iterator[str]:
    usual, spread = _usual(profile), _spread(profile)
    for row in profile.table("attributes").slice(0, ATTRIBUTES).to_pylist():
        name = row["attribute"]
        kinds = ", ".join(family for family in FAMILIES if row[f"{family}s"])
        shown = "; ".join(filter(None, (spread.get(name), usual.get(name))))
        kinds += " *" if row["multi"] else ""  # several values in one event
        start = f"{_short(name, 28):<28} {row['share']:>7.1%}  {kinds:<16} {_distinct(row):>10}"
        yield f"{start}  {shown}".rstrip()


def _distinct(row: dict[str, Any]) -> str:
    return (
        f"{row['distinct']:,.0f}" if row["distinct"] else "–"
    )  # points and intervals have no distinct count


def _usual(profile: Profile) -> dict[str, str]:
    """Return the most frequent values of each attribute, if any stand out."""
    found: dict[str, list[str]] = {}
    events = max(profile.events - profile.refused, 1)
    for row in profile.table("values").to_pylist():
        some = found.setdefault(row["attribute"], [])
        if len(some) < VALUES and row["count"] > 0.01 * events:
            some.append(f"{_short(row['value'], 20)} {row['count'] / events:.0%}")
    return {name: ", ".join(values) for name, values in found.items()}


def _spread(profile: Profile) -> dict[str, str]:
    """Return the least, middle and greatest value of each attribute."""
    found: dict[str, list[str]] = {}
    for row in profile.table("quantiles").to_pylist():
        if row["rank"] in (0.0, 0.5, 1.0):
            value = row["value"]
            text = f"{value:,.6g}" if row["family"] == "number" else _time(value)
            found.setdefault(row["attribute"], []).append(text)
    return {name: " … ".join(values) for name, values in found.items()}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M")


def _counts(kind: str, profile: Profile, name: Any) -> list[str]:
    table = profile.table(kind)
    if not table.num_rows:
        return []
    shown = [
        f"  {row['share']:>7.1%}  {_short(name(row), 40)} ({_short(row['attribute'], 28)})"
        for row in table.slice(0, TERMS).to_pylist()
    ]
    return ["", f"{kind}: {table.num_rows:,}, the most frequent", *shown]


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
