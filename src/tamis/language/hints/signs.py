"""Hints on signs and structure: connectives, comparisons, names, paths, parentheses of other languages."""

from __future__ import annotations

from tamis.language.hints.rule import VALUE, Rule, literal, rule

_WORDED = {
    "eq": "=", "equals": "=", "equal": "=", "is_equal": "=", "ne": "!=", "neq": "!=", "gt": ">", "gte": ">=",
    "ge": ">=", "lt": "<", "lte": "<=", "le": "<=",
}  # fmt: skip
_TYPED = {"≠": "!=", "≤": "<=", "≥": ">=", "＝": "=", "⩽": "<=", "⩾": ">="}


RULES: tuple[Rule, ...] = (
    # the whole text is in another language
    rule(r"\A\s*", r"\{", 'this looks like JSON; the JSON form begins with {"and": […]} or {"attribute": …}'),
    rule(r"\A\s*SELECT\b.*", r"", "write only what follows WHERE"),
    rule(
        r"\A\s*(?:WHERE|FILTER|HAVING)\s+",
        r"",
        "leave out the first word; an expression is only the condition",
    ),
    rule(
        r"\A\s*(?:IF|WHEN|CASE)\s+(?:WHEN\s+)?",
        r"",
        "an expression is only the condition; there is no IF, WHEN or CASE",
    ),
    rule(r"", r"(?:--|//|/\*|#)", "comments are not allowed in an expression"),
    rule(
        r"",
        r"(?:ORDER\s+BY|GROUP\s+BY|LIMIT|OFFSET)\b",
        "an expression is only the condition; leave out what follows it",
    ),
    rule(r"", r";", "leave out the semicolon"),
    # connectives
    rule(r"", r"&&?", lambda b, r: f"write AND instead of {r[0]}"),
    rule(r"", r"\|\|?", lambda b, r: f"write OR instead of {r[0]}"),
    rule(r"", r"!(?=[\s(A-Za-z_\"])(?!~)", "write NOT instead of !"),
    rule(r"", r"¬", "write NOT"),
    rule(r"", r"[∧⋀]", "write AND"),
    rule(r"", r"[∨⋁]", "write OR"),
    rule(r"", r"XOR\b", "there is no XOR; write (x AND NOT y) OR (NOT x AND y)"),
    rule(r"", r"(?:UNLESS|EXCEPT|BUT|WITHOUT|MINUS)\b", "write AND NOT"),
    rule(r"", r"(?:UND|ET|Y|PLUS|ALSO)\b", "write AND"),
    rule(r"", r"(?:ODER|OU|ELSE)\b", "write OR"),
    # comparisons
    rule(r"!=\s*", r"=", "write != instead of !=="),
    rule(r"==\s*", r"=", "write = instead of ==="),
    rule(r"<=\s*", r">", "write = instead of <=>"),
    rule(r"=\s*", r"(?P<s>[<>])(?!=)", lambda b, r: f"write {r['s']}= instead of ={r['s']}"),
    rule(r">\s*", r"<", "write != or <>"),
    rule(r"<\s*", r"<", "for an address in a network write IN CIDR '10.0.0.0/8'"),
    rule(r"=\s*", r"~", "for a regular expression write RLIKE"),
    rule(r"", r"!~~?\*?", "for a regular expression write NOT RLIKE, for a pattern NOT LIKE"),
    rule(r"", r"~~\*?", "for a pattern write LIKE, or ILIKE if case does not matter"),
    rule(
        r"", r"~[=*]?", "for a regular expression write RLIKE, and for blindness to case begin it with (?i)"
    ),
    rule(r"", r"@>|<@|\?\||\?&", "to test whether one of several values is 'x', write the attribute = 'x'"),
    rule(r"", r":=", "write = instead of :="),
    rule(r"", r"(?P<s>[≠≤≥＝⩽⩾])", lambda b, r: f"write {_TYPED[r['s']]} instead of {r['s']}"),
    rule(
        r"",
        r"(?:IS_)?(?P<w>eq|equals?|ne|neq|gte?|ge|lte?|le|is_equal)\b",
        lambda b, r: f"write {_WORDED.get(r['w'].lower(), 'a sign')} instead of {r['w']}",
    ),
    rule(
        r"",
        r"\$(?P<w>eq|ne|gte?|lte?|in|nin|and|or|not)\b",
        "write the sign or word itself: =, !=, <, >, IN, AND, OR, NOT",
    ),
    rule(r"", r"DISTINCT\s+FROM\b", "write NOT a = v, which also holds if the attribute is absent"),
    rule(
        r"IS\s+(?:NOT\s+)?",
        r"EQUAL\s+TO\b|GREATER\b|LESS\b|BIGGER\b|SMALLER\b",
        "write the sign: = != < <= > >=",
    ),
    rule(r"IS\s+(?:NOT\s+)?", r"(?:NUL|NULLS|NULLL|NIULL|NUUL)\b", "did you mean NULL?"),
    rule(r"IS\s+", r"(?:NONE|NIL|UNDEFINED|MISSING|EMPTY|ABSENT|BLANK|UNSET)\b", "write IS NULL"),
    rule(r"IS\s+NOT\s+", r"(?:NONE|NIL|UNDEFINED|MISSING|EMPTY|ABSENT|BLANK|UNSET)\b", "write IS NOT NULL"),
    rule(r"IS\s+", r"(?:PRESENT|SET|DEFINED|THERE)\b", "write IS NOT NULL"),
    rule(r"IS\s+", r"(?P<b>TRUE|FALSE)\b", lambda b, r: f"write = {r['b'].upper()}"),
    rule(r"IS\s+NOT\s+", r"(?P<b>TRUE|FALSE)\b", lambda b, r: f"write != {r['b'].upper()}"),
    rule(
        r"IS\s+NOT\s+",
        r"(?P<w>IN|LIKE|BETWEEN|WITHIN)\b",
        lambda b, r: f"write NOT {r['w'].upper()}, without IS",
    ),
    rule(r"IS\s+", r"(?P<w>IN|LIKE|BETWEEN|WITHIN)\b", lambda b, r: f"write {r['w'].upper()}, without IS"),
    rule(r"IS\s+NOT\s+", VALUE, lambda b, r: f"IS tests only for NULL; write != {literal(r['value'])}"),
    rule(r"IS\s+", VALUE, lambda b, r: f"IS tests only for NULL; write = {literal(r['value'])}"),
    rule(r"NOT\s+", r"(?:=|==)", "write !="),
    rule(r"NOT\s+", r"NOT\b", "write NOT once"),
    rule(r"NOT\s+", r"(?:NULL|EMPTY)\b", "write IS NOT NULL"),
)
