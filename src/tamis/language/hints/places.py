"""Hints on points and shapes, names and weights."""

from __future__ import annotations

import re

from tamis.language.hints.rule import NAME, NUMBER, SIGN, VALUE, Rule, literal, on_the_left, rule

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


_POINT = re.compile(rf"\(\s*(?P<lon>{NUMBER})[\s,]+(?P<lat>{NUMBER})")


def swapped(before: str, rest: str) -> str | None:
    """Return the hint for a point off the map that is valid with its coordinates exchanged."""
    found = _POINT.match(rest[:120]) if before.rstrip().upper().endswith("POINT") else None
    if found is None or not abs(float(found["lon"])) <= 90 < abs(float(found["lat"])) <= 180:
        return None
    return f"longitude comes first; did you mean POINT ({found['lat']} {found['lon']})?"


def _mirrored(before: re.Match[str], rest: re.Match[str]) -> str:
    sign = _MIRRORED.get(rest["sign"], rest["sign"])
    return f"the attribute stands on the left: {rest['name']} {sign} {literal(rest['value'])}"


def _between(before: re.Match[str], rest: re.Match[str]) -> str:
    low, high = rest["value"], rest["high"]
    return f"one comparison at a time: {rest['name']} > {low} AND {rest['name']} < {high}, or BETWEEN"


RULES: tuple[Rule, ...] = (
    # places
    rule(
        r"WITHIN\s+[\d.]+\s*",
        r"(?:MI(?:LES?)?|METERS?|METRES?|KILOMETERS?|KILOMETRES?|FT|FEET|YARDS?|NM)\b",
        "distances are in M or KM; a mile is 1.609344 KM",
    ),
    rule(r"WITHIN\s+[\d.]+\s*", r"OF\b", "a unit is missing: 5 KM OF POINT (lon lat)"),
    rule(r"WITHIN\s+[\d.]+\s*K?M\s+", r"(?:FROM|TO|AROUND|AT)\b", "write OF POINT (lon lat)"),
    rule(r"WITHIN\s+[\d.]+\s*K?M\s+OF\s+", r"", "write POINT (lon lat), longitude first"),
    rule(r"", r"(?:NEAR|AROUND|CLOSE\s+TO)\b", "write WITHIN 5 KM OF POINT (lon lat)"),
    rule(
        r"",
        r"(?:INSIDE|INTERSECTS|OVERLAPS)\b",
        "write WITHIN POLYGON (…) or WITHIN BOX (west, south, east, north)",
    ),
    rule(r"WITHIN\s+", r"(?:CIRCLE|POINT)\b", "write WITHIN 5 KM OF POINT (lon lat)"),
    rule(
        r"WITHIN\s+",
        r"(?:RECT(?:ANGLE)?|ENVELOPE|BBOX|BOUNDS)\b",
        "write WITHIN BOX (west, south, east, north)",
    ),
    rule(r"POLYGON\s*\(\s*", r"[\d-]", "a polygon has two pairs of parentheses: POLYGON ((lon lat, …))"),
    rule(r"BOX\s*\([^()]*\d\s*", r"-?\d", "the four numbers of a box are separated by commas"),
    # names
    rule(
        r"",
        rf"(?P<value>{NUMBER}|'[^']*')\s*(?P<one><=?)\s*{NAME}\s*(?P<two><=?)\s*(?P<high>{NUMBER})",
        _between,
    ),
    rule(
        r"",
        rf"{VALUE}\s*=+\s*(?:ANY|ALL|SOME)\s*\(\s*{NAME}",
        lambda b, r: on_the_left(r["name"], literal(r["value"])),
    ),
    rule(r"", rf"{VALUE}\s*{SIGN}\s*{NAME}", _mirrored),
    rule(
        r"",
        rf"{VALUE}\s+(?:NOT\s+)?IN\s+{NAME}",
        lambda b, r: on_the_left(r["name"], literal(r["value"])),
    ),
    rule(
        rf"\b{NAME}\s*[<>]=?\s*[\w.']+\s*",
        r"(?P<s>[<>]=?)\s*(?P<v>[\w.']+)",
        lambda b, r: f"one comparison at a time: AND {b['name']} {r['s']} {r['v']}",
    ),
    rule(
        rf"\b{NAME}\s*(?:=|<>|!=)\s*(?P<one>'[^']*'|[\d.]+)\s+OR\s+",
        r"(?P<two>'[^']*'|[\d.]+)",
        lambda b, r: f"repeat the attribute, or write {b['name']} IN ({b['one']}, {r['two']})",
    ),
    rule(
        rf"\b{NAME}\s*[<>=!]+\s*\S+\s+(?:AND|OR)\s+",
        rf"{SIGN}\s*(?P<v>\S+)",
        lambda b, r: f"repeat the attribute: {b['name']} {r['sign']} {r['v']}",
    ),
    rule(
        rf"\b{NAME}",
        r"-(?P<k>[A-Za-z_]\w*)",
        lambda b, r: f'write a name with other signs in double quotes: "{b["name"]}-{r["k"]}"',
    ),
    rule(
        r"(?P<n>(?:\b[A-Za-z_][\w.]*)?)",
        r"(?P<k>(?=[^\x00-\x7f])[^\W\d_][\w.]*)",
        lambda b, r: f'write a name with other letters in double quotes: "{b["n"]}{r["k"]}"',
    ),
    rule(
        rf"\b{NAME}\s*",
        r"[+*/%-]\s*[\w.(]",
        "there is no arithmetic; compare the attribute itself with a number",
    ),
    rule(rf"\b{NAME}\s*", r"\(", "there are no functions; compare the attribute itself"),
    # weights
    rule(r"\)\s*", r"\^", "a weight stands behind one predicate, not behind a parenthesis"),
    rule(r"", r"(?:BOOST|WEIGHT)\b", "write a weight as ^ 2 behind the predicate"),
    rule(r"\^\s*", r"\Z|[A-Za-z(]", "a weight is a number: ^ 2"),
)
