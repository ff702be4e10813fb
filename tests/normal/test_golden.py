"""Test the golden file of the normal forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis.expression.tree import And
from tamis.language import parse, to_text
from tamis.normal import clauses_of
from tests.golden import golden_pairs

CASES = golden_pairs(Path(__file__).parent / "golden" / "dnf.txt")


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[case[0][:60] for case in CASES])
def test_golden_file_gives_the_expected_output(text: str, expected: str) -> None:
    found = clauses_of(parse(text))
    assert found.exact
    written = " OR ".join(to_text(clause[0] if len(clause) == 1 else And(clause)) for clause in found.clauses)
    assert (written if found.kind == "clauses" else found.kind) == expected
