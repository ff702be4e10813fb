"""Hints on words: absence, presence, patterns, functions."""

from __future__ import annotations

import re

from tamis.language.hints.rule import NAME, VALUE, Rule, contains, inner, iso, rule


def _european(before: re.Match[str], rest: re.Match[str]) -> str:
    return f"write a time as DATE '{iso(rest['y'], rest['m'], rest['d'])}'"


def _american(before: re.Match[str], rest: re.Match[str]) -> str:
    return f"write a time as DATE '{iso(rest['y'], before['m'], rest['d'])}'"


def _american_quoted(before: re.Match[str], rest: re.Match[str]) -> str:
    month, day = (rest["m"], rest["d"]) if int(rest["m"]) <= 12 else (rest["d"], rest["m"])
    return f"write the year first: '{iso(rest['y'], month, day)}'"


RULES: tuple[Rule, ...] = (
    # absence
    rule(r"(?:!=|<>)\s*", r"(?:NULL|NONE|NIL|UNDEFINED)\b", "write IS NOT NULL"),
    rule(r"=\s*", r"(?:NONE|NIL|UNDEFINED)\b", "to test for absence, write IS NULL"),
    rule(r"IN\s*\([^()]*", r"(?:NULL|NONE)\b", "a list holds values; add OR … IS NULL"),
    # words for strings
    rule(
        r"NOT\s+",
        rf"(?:CONTAINS?|INCLUDES?|CONTAINING)\b\s*\(?\s*{VALUE}?",
        lambda b, r: contains(r["value"], "NOT "),
    ),
    rule(r"", rf"(?:CONTAINS?|INCLUDES?|CONTAINING)\b\s*\(?\s*{VALUE}?", lambda b, r: contains(r["value"])),
    rule(
        r"",
        rf"(?:STARTS?\s*_?WITH|BEGINS?\s*_?WITH|PREFIX|STARTING\s+WITH)\b\s*\(?\s*{VALUE}?",
        lambda b, r: f"write STARTS WITH '{inner(r['value'])}'",
    ),
    rule(
        r"",
        rf"(?:ENDS?\s*_?WITH|SUFFIX|ENDING\s+WITH)\b\s*\(?\s*{VALUE}?",
        lambda b, r: f"write ENDS WITH '{inner(r['value'])}'",
    ),
    rule(
        r"",
        r"(?:MATCH(?:ES)?|REGEX|RE|SIMILAR\s+TO|REGEXP_LIKE|REGEXP_MATCHES)\b",
        "for a regular expression write RLIKE, for words HAS",
    ),
    rule(r"", r"GLOB\b", "write LIKE, with % for * and _ for ?"),
    rule(r"", r"(?:HAVING|WITH)\b", "for words write HAS"),
    rule(
        r"(?P<w>RLIKE|REGEXP)\s+",
        r"(?:ANY|ALL|SOME)\b",
        lambda b, r: f"write {b['w'].upper()} for each pattern, joined by OR (or AND)",
    ),
    rule(r"\b(?P<w>I?LIKE)\s+", r"SOME\b", lambda b, r: f"write {b['w'].upper()} ANY (…)"),
    rule(
        r"\b(?P<w>I?LIKE|HAS)\s*",
        r"\(\s*'",
        lambda b, r: f"for several write {b['w'].upper()} ANY (…) or {b['w'].upper()} ALL (…)",
    ),
    rule(r"(?:RLIKE|REGEXP)\s*", r"\(\s*'", "the pattern stands without parentheses"),
    rule(r"RLIKE\s+|REGEXP\s+", r"/", "write the pattern in single quotes, without slashes"),
    # presence
    rule(rf"\b{NAME}\s+", r"EXISTS?\b", lambda b, r: f"write {b['name']} IS NOT NULL"),
    rule(r"\bEXISTS?\s*", r"\(?\s*(?P<name>[A-Za-z_][\w.]*)", lambda b, r: f"write {r['name']} IS NOT NULL"),
    rule(
        r"\b(?:MISSING|ABSENT)\s*",
        r"\(\s*(?P<name>[A-Za-z_][\w.]*)",
        lambda b, r: f"write {r['name']} IS NULL",
    ),
    # functions and arithmetic
    rule(
        r"\b(?:LOWER|UPPER|LCASE|UCASE|CASEFOLD|INITCAP)\s*",
        r"\(\s*(?P<name>[A-Za-z_][\w.]*)",
        lambda b, r: f"there are no functions; for a comparison blind to case write {r['name']} ILIKE '…'",
    ),
    rule(
        r"\b[A-Za-z_][\w.]*\.(?:lower|upper|casefold|strip|trim)\s*",
        r"\(",
        "there are no functions; for a comparison blind to case write ILIKE",
    ),
    rule(
        r"\b(?P<a>[A-Za-z_][\w.]*)\.(?:contains|includes)\s*",
        rf"\(\s*{VALUE}",
        lambda b, r: contains(r["value"]),
    ),
    rule(
        r"\b(?P<a>[A-Za-z_][\w.]*)\.starts_?with\s*",
        rf"\(\s*{VALUE}",
        lambda b, r: f"write {b['a']} STARTS WITH '{inner(r['value'])}'",
    ),
    rule(
        r"\b(?P<a>[A-Za-z_][\w.]*)\.ends_?with\s*",
        rf"\(\s*{VALUE}",
        lambda b, r: f"write {b['a']} ENDS WITH '{inner(r['value'])}'",
    ),
    rule(
        r"\b(?:CONTAINS|INCLUDES)\s*",
        rf"\(\s*(?P<name>[A-Za-z_][\w.]*)\s*,\s*{VALUE}",
        lambda b, r: f"the attribute stands on the left: {r['name']} CONTAINS '{inner(r['value'])}'",
    ),
    rule(
        r"\bSTARTS_?WITH\s*",
        rf"\(\s*(?P<name>[A-Za-z_][\w.]*)\s*,\s*{VALUE}",
        lambda b, r: f"the attribute stands on the left: {r['name']} STARTS WITH '{inner(r['value'])}'",
    ),
    rule(
        r"\b(?:ST_\w+|DISTANCE|GEO_?DISTANCE)\s*",
        r"\(",
        "write p WITHIN POLYGON (…), p WITHIN BOX (…) or p WITHIN 5 KM OF POINT (lon lat)",
    ),
    rule(
        r"\b(?:ANY|ALL|SOME)\s*",
        r"\(",
        "an attribute with several values holds if one of them does; write the comparison alone",
    ),
    rule(r"=\s*", r"(?:ANY|ALL|SOME)\s*\(", "write IN (…) for several values"),
    rule(
        r"",
        r"(?:NOW|TODAY|CURRENT_DATE|CURRENT_TIMESTAMP|SYSDATE|YESTERDAY)\b",
        "an expression has no clock; write a fixed time such as TIMESTAMP '2026-11-15T08:00:00Z'",
    ),
    rule(
        r"",
        r"INTERVAL\b",
        "an expression has no clock; write a fixed time such as TIMESTAMP '2026-11-15T08:00:00Z'",
    ),
    rule(
        r"(?:=|<|>|\()\s*(?P<n>\d{4})",
        r"-(?P<m>\d\d?)-(?P<d>\d\d?)",
        lambda b, r: f"write a time as DATE '{iso(b['n'], r['m'], r['d'])}'",
    ),
    rule(r"(?:=|<|>|\()\s*(?P<m>\d\d?)", r"/(?P<d>\d\d?)/(?P<y>\d{4})", _american),
    rule(r"", r"(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{4})\b", _european),
    rule(
        r"(?:DATE|TIMESTAMP)\s*\(?\s*", r"'(?P<m>\d\d?)[/.-](?P<d>\d\d?)[/.-](?P<y>\d{4})", _american_quoted
    ),
    rule(
        r"(?:DATE|TIMESTAMP)\s*\(?\s*",
        r"'(?P<y>\d{4})[/.](?P<m>\d\d?)[/.](?P<d>\d\d?)",
        lambda b, r: f"write dashes: '{iso(r['y'], r['m'], r['d'])}'",
    ),
    rule(
        r"(?:DATE|TIMESTAMP)\s*\(?\s*",
        r"'(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)'",
        lambda b, r: f"write dashes: '{iso(r['y'], r['m'], r['d'])}'",
    ),
    rule(
        r"(?:DATE|TIMESTAMP)\s*\(?\s*",
        r"'\d{4}-(?:1[3-9]|[2-9]\d)-",
        "the month stands second and ends at 12",
    ),
    rule(
        r"(?P<w>DATE|TIMESTAMP)\s*",
        r"(?P<t>\d{4}-\d\d?-\d\d?[\w:.+-]*)",
        lambda b, r: f"write the time in single quotes: {b['w'].upper()} '{r['t']}'",
    ),
    rule(
        r"(?:=|<|>)\s*",
        r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?",
        "write an address as a string, and a network as IN CIDR '10.0.0.0/8'",
    ),
    rule(r"\bIN\s+", r"'(?P<b>[0-9a-f:.]+/\d+)'", lambda b, r: f"write IN CIDR '{r['b']}'"),
)
