"""Test the condition of each modifier of Sigma, and the reason of each refusal."""

from __future__ import annotations

from typing import Any

import pytest

from tamis import rules

HEAD = "title: T\nlogsource: {service: system}\ndetection:\n  a:\n"


def imported(detection: str, **options: Any) -> str:
    """Return the text of a rule that tests ``detection``, or the reason of its refusal."""
    body = "\n".join(f"    {line}" for line in detection.splitlines())
    found = rules.read("sigma", f"{HEAD}{body}\n  condition: a\n", unmapped="ignore", **options)
    (one,) = [*found.rules, *found.refused]
    return one.text if isinstance(one, rules.Rule) else f"refused: {one.error.message}"


EXPRESSED = [
    ("x: Abc", "x ILIKE 'Abc'"),
    ("x: [a, b]", "x ILIKE ANY ('a', 'b')"),
    ("x: 5", "x = 5 OR x ILIKE '5'"),
    ("x: '5'", "x = 5 OR x ILIKE '5'"),
    ("x: '05'", "x ILIKE '05'"),
    ("x: true", "x = TRUE OR x ILIKE 'true'"),
    ("x: null", "x IS NULL"),
    ("x: ''", "x ILIKE ''"),
    ("x: '*'", "x IS NOT NULL"),
    ("x: 'a?b*'", "x ILIKE 'a_b%'"),
    (r"x: 'a\*b_%\c'", r"x ILIKE 'a*b\_\%\\c'"),
    ("x|contains: a", "x ILIKE '%a%'"),
    ("x|startswith: a", "x ILIKE 'a%'"),
    (r"x|endswith: '\cmd.exe'", r"x ILIKE '%\\cmd.exe'"),
    ("x|contains|all: [a, b]", "x ILIKE '%a%' AND x ILIKE '%b%'"),
    ("x|cased: AbC", "x LIKE 'AbC'"),
    ("x|contains|cased: AbC", "x LIKE '%AbC%'"),
    (r"x|re: '\*a*?b\d'", r"x RLIKE '\*a*?b\d'"),
    ("x|re|i|m|s: 'a.b'", "x RLIKE '(?ims)a.b'"),
    ("x|cidr: 10.0.0.0/8", "x IN CIDR '10.0.0.0/8'"),
    ("x|exists: true", "x IS NOT NULL"),
    ("x|exists: false", "x IS NULL"),
    ("x|gt: 5", "x > 5"),
    ("x|lte: 5.5", "x <= 5.5"),
    ("x|neq: abc", "NOT x ILIKE 'abc'"),
    ("x|windash: -f", "x ILIKE ANY ('-f', '/f', '–f', '—f', '―f')"),
    ("x|base64: foo", "x ILIKE 'Zm9v'"),
    ("x|base64offset|contains: foo", "x ILIKE ANY ('%Zm9v%', '%Zvb%', '%mb2%')"),
    ("x|wide|base64offset|contains: foo", "x ILIKE ANY ('%ZgBvAG8A%', '%YAbwBvA%', '%mAG8Abw%')"),
    ("- foo\n- 'b*r'\n- 7", "message ILIKE ANY ('%foo%', '%b%r%', '%7%')"),
    ("'|all':\n  - foo\n  - bar", "message ILIKE '%foo%' AND message ILIKE '%bar%'"),
    ("'|re': 'a.b'", "message RLIKE 'a.b'"),
    ("x|expand: '%admins%'", "x ILIKE ANY ('root', 'svc-%')"),
    ("x|expand: 'CORP/%admins%'", "x ILIKE ANY ('CORP/root', 'CORP/svc-%')"),
]


@pytest.mark.parametrize(("detection", "text"), EXPRESSED)
def test_modifier_becomes_a_condition(detection: str, text: str) -> None:
    assert imported(detection, keywords="message", placeholders={"admins": ["root", "svc-*"]}) == text


REFUSED = [
    ("x|fieldref: y", "does not compare an attribute with the attribute y"),
    ("x|fieldref|startswith: y", "does not compare an attribute with the attribute y"),
    ("x|hour: 5", "does not compare the hour of a time"),
    ("x|minute|gt: 5", "does not compare the minute of a time"),
    ("x|re: 'a(?=b)'", "invalid perl operator"),
    ("x|re: '(a'", "missing ): (a"),
    ("x|re|expand: '%admins%'", "puts no values into a regular expression"),
    ("x|expand: '%admins%'", "the placeholder %admins% has no values"),
    ("x|cidr: 10.0.0.0/99", "10.0.0.0/99"),
    ("x|gt: abc", "incompatible"),
    ("x|nosuch: abc", "Unknown modifier 'nosuch'"),
    ("x: []", "x: the list of values is empty"),
    ("x: 99999999999999999999", "beyond the integers of 64 bits"),
    ("x|lt: 99999999999999999999", "beyond the integers of 64 bits"),
    ("x: {a: 1}", "Unsupported type"),
    ("- foo", "name the attribute that holds its text"),
]


@pytest.mark.parametrize(("detection", "reason"), REFUSED)
def test_value_without_a_condition_is_refused_with_the_reason(detection: str, reason: str) -> None:
    found = imported(detection)
    assert found.startswith("refused: ")
    assert reason in found
