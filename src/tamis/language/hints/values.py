"""Hints on values: numbers, lists, ranges, quotes, places."""

from __future__ import annotations

import re

from tamis.language.hints.rule import NAME, NUMBER, VALUE, Rule, literal, on_the_left, quoted, rule

RULES: tuple[Rule, ...] = (
    # numbers
    rule(
        r"(?:=|<|>|\bAND|BETWEEN)\s*(?P<n>[+-]?\d{1,3})",
        r"(?P<g>(?:,\d{3})+)(?![\d)])",
        lambda b, r: f"write the number without separators: {b['n']}{r['g'].replace(',', '')}",
    ),
    rule(
        r"(?:=|<|>|\bAND|BETWEEN)\s*(?P<n>[+-]?\d+)",
        r",(?P<f>\d+)",
        lambda b, r: f"write a decimal point: {b['n']}.{r['f']}",
    ),
    rule(
        r"(?:=|<|>|\bAND|BETWEEN)\s*(?P<n>[+-]?\d{1,3})",
        r"(?P<g>(?:[ '’\u00a0]\d{3})+)\b",
        lambda b, r: f"write the number without separators: {b['n']}{re.sub(r'[^0-9]', '', r['g'])}",
    ),
    rule(
        r"(?:=|<|>|\bAND|BETWEEN)\s*(?P<n>[+-]?\d{1,3})\s+",
        r"(?P<g>\d{3}(?:\s\d{3})*)\b",
        lambda b, r: f"write the number without separators: {b['n']}{re.sub(r'[^0-9]', '', r['g'])}",
    ),
    rule(
        r"",
        r"(?P<n>\d+(?:_\d+)+)\b",
        lambda b, r: f"write the number without separators: {r['n'].replace('_', '')}",
    ),
    rule(
        r"",
        r"(?P<n>\d{1,3}(?:\.\d{3}){2,})\b",
        lambda b, r: f"write the number without separators: {r['n'].replace('.', '')}",
    ),
    rule(r"", r"0x(?P<h>[0-9a-f]+)\b", lambda b, r: f"write the number in decimal: {int(r['h'][:15], 16)}"),
    rule(
        r"(?P<n>\d[\d.]*)\s*",
        r"(?:[$€£¥₹%]|(?:EUR|USD|GBP|CHF|JPY|EUROS?|DOLLARS?|PERCENT)\b)",
        lambda b, r: f"leave out the unit: {b['n']}",
    ),
    rule(r"", r"[$€£¥₹]\s*(?P<n>\d[\d.]*)", lambda b, r: f"leave out the currency sign: {r['n']}"),
    rule(r"", r"(?P<n>\d[\d.]*)e[+-]?(?!\w)", lambda b, r: f"an exponent has digits: {r['n']}e3"),
    rule(r"", r"(?P<n>\d+(?:\.\d+)?)(?P<u>[A-Za-z]+)", lambda b, r: f"leave out the unit: {r['n']}"),
    rule(
        r"(?P<n>\d[\d.]*)\s+",
        r"(?:KG|G|CM|MM|ML|L|MIN|MINUTES?|HOURS?|DAYS?|SECONDS?|YEARS?|GB|MB|KB)\b",
        lambda b, r: f"leave out the unit: {b['n']}",
    ),
    rule(
        r"",
        r"(?P<s>[+-]?)(?:INF(?:INITY)?|NAN)\b",
        "a number is finite; to leave an end open, write only the other comparison",
    ),
    # lists and ranges
    rule(r"\b(?:IN|ANY|ALL)\s*", r"[\[{]", "a list stands in parentheses: (1, 2)"),
    rule(r"\bIN\s+", r"\(?\s*SELECT\b", "there are no subqueries; list the values"),
    rule(r"\bIN\s*\(\s*", r"SELECT\b", "there are no subqueries; list the values"),
    rule(
        r"\bIN\s+",
        r"(?P<low>-?\d+)\s*\.\.+\s*(?P<high>-?\d+)",
        lambda b, r: f"write BETWEEN {r['low']} AND {r['high']}",
    ),
    rule(r"\bIN\s+", r"RANGE\b", "write BETWEEN low AND high"),
    rule(
        r"\"(?P<q>[^\"]*)\"\s+(?:NOT\s+)?IN\s+",
        NAME,
        lambda b, r: on_the_left(r["name"], quoted(b["q"])),
    ),
    rule(r"\bIN\s+", VALUE, lambda b, r: f"write IN ({literal(r['value'])}) or = {literal(r['value'])}"),
    rule(r"\bIN\s*\([^()]*,\s*", r"\)", "leave out the comma before the parenthesis"),
    rule(r"\bIN\s*\([^()]*,\s*", r",", "a value is missing between the commas"),
    rule(r"\bIN\s*\([^()]*[\w'\"]\s+", rf"(?:'|{NUMBER})", "a comma is missing between the values"),
    rule(r"\bIN\s*\([^()]*", r"\Z", "the list has no closing parenthesis"),
    rule(
        r"\bBETWEEN\s+(?P<low>[^()]*?)\s*",
        r"(?:TO\b|\.\.|-|,|BIS\b|&)\s*(?P<high>'[^']*'|[\d.]+)?",
        lambda b, r: f"write BETWEEN {b['low']} AND {r['high'] or '…'}",
    ),
    rule(
        r"\bBETWEEN\s*",
        r"[(\[]\s*(?P<low>[^\s,)\]]+)\s*(?:,|AND)\s*(?P<high>[^\s,)\]]+)",
        lambda b, r: f"write BETWEEN {r['low']} AND {r['high']}",
    ),
    rule(
        r"",
        r":\s*[\[{](?P<low>\S+)\s+TO\s+(?P<high>[^\]}\s]+)",
        lambda b, r: f"write BETWEEN {r['low']} AND {r['high']}",
    ),
    rule(
        r"",
        r"\[\s*(?P<low>\S+)\s+TO\s+(?P<high>[^\]\s]+)",
        lambda b, r: f"write BETWEEN {r['low']} AND {r['high']}",
    ),
    rule(
        r"",
        r"FROM\s+(?P<low>\S+)\s+TO\s+(?P<high>\S+)",
        lambda b, r: f"write BETWEEN {r['low']} AND {r['high']}",
    ),
    # Lucene and paths
    rule(r"", r":\s*(?P<s><=|>=|<|>)", lambda b, r: f"write {r['s']}, without the colon"),
    rule(
        rf"\b{NAME}\s*",
        rf":\s*{VALUE}",
        lambda b, r: (
            f"write {b['name']} = {literal(r['value'])}, or for a word in a text "
            f"{b['name']} HAS {quoted(r['value'])}"
        ),
    ),
    rule(rf"\b{NAME}\s*", r":\s*\*", lambda b, r: f"write {b['name']} IS NOT NULL"),
    rule(
        rf"\b{NAME}",
        r"\[\s*['\"](?P<k>[^'\"]*)['\"]\s*\]",
        lambda b, r: f"write a nested field with a dot: {b['name']}.{r['k']}",
    ),
    rule(
        rf"\b{NAME}",
        r"\[",
        lambda b, r: (
            f"an attribute may have several values, without places; {b['name']} = 1 holds if one of them is 1"
        ),
    ),
    rule(
        rf"\b{NAME}",
        r"->>?\s*'?(?P<k>\w+)'?",
        lambda b, r: f"write a nested field with a dot: {b['name']}.{r['k']}",
    ),
    rule(r"", r"\[(?P<n>[^\]'\"]+)\]\s*[=<>!]", lambda b, r: f'write a name in double quotes: "{r["n"]}"'),
    rule(
        r"",
        r"[@$]\{?(?P<n>[A-Za-z_]\w*)",
        lambda b, r: f"there are no variables; write the attribute {r['n']} or the value itself",
    ),
    rule(
        r"(?:=|<|>|\(|,)\s*", r"(?:\?|:\w+|%s|%\(\w+\)s)", "there are no parameters; write the value itself"
    ),
    rule(r".*", r"\?", "there is no conditional operator; write (x AND y) OR (NOT x AND z)"),
    # quotes
    rule(
        r"",
        r"[“”„‘’‚«»‹›](?P<t>[^“”‘’«»‹›]{0,40})",
        lambda b, r: f"write straight single quotes: {quoted(r['t'])}",
    ),
    rule(
        r"(?:=|<|>|\(|,)\s*",
        r"`(?P<t>[^`]{0,40})`",
        lambda b, r: f"strings stand in single quotes: {quoted(r['t'])}",
    ),
    rule(
        r"(?:LIKE|RLIKE|REGEXP|HAS|PHRASE|CIDR)\s+",
        r"\"(?P<t>[^\"]{0,40})\"",
        lambda b, r: f"write {quoted(r['t'])}",
    ),
    rule(
        r"(?:LIKE|RLIKE|REGEXP|HAS|PHRASE|CIDR)\s+",
        r"(?P<t>[A-Za-z_]\w{0,40})",
        lambda b, r: f"write {quoted(r['t'])}",
    ),
    rule(r"", r"´(?P<t>[^´]{0,40})", lambda b, r: f"write straight single quotes: {quoted(r['t'])}"),
    rule(r"'[^']*'", r"\w+'", "a quote inside a string is doubled: 'it''s'"),
    rule(r"", r"(?P<p>[A-Za-z]{1,2})'(?P<t>[^']*)'", lambda b, r: f"leave out the prefix: '{r['t']}'"),
    rule(r"", r"\\'", "a quote inside a string is doubled, not escaped: 'it''s'"),
    rule(r"", r"'[^']*\Z", "close the string with a single quote; a quote inside it is doubled"),
)
