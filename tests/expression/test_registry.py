"""Test the registry of predicates: complete, without clashes, and read by all users of operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis.columns import _kernels as column_kernels
from tamis.columns.codes import NAMES, STRUCTURAL
from tamis.expression.predicate import Operator
from tamis.expression.predicates import BY_CODE, OPERATORS, PREDICATES, Between, In, Predicate
from tamis.language.spellings import SIGNS, WORDS
from tamis.space.cutting import _kernels as cutting_kernels

FOLDER = Path(__file__).parents[2]
CODES = {
    "=": 0, "<": 2, "<=": 4, ">": 6, ">=": 8, "between": 10, "in": 12, "like": 14, "ilike": 16, "rlike": 18,
    "has any": 20, "has all": 22, "has phrase": 24, "within": 26, "in network": 28, "exists": 30,
    "starts with": 32, "ends with": 34, "contains": 36, "has near": 38, "has near ordered": 40,
    "has sloppy phrase": 42, "has at least": 44, "like any": 46, "like all": 48, "ilike any": 50,
    "ilike all": 52,
    "version =": 54, "version <": 56, "version <=": 58, "version >": 60, "version >=": 62,
    "pep440 version =": 64, "pep440 version <": 66, "pep440 version <=": 68, "pep440 version >": 70,
    "pep440 version >=": 72, "debian version =": 74, "debian version <": 76, "debian version <=": 78,
    "debian version >": 80, "debian version >=": 82,
}  # fmt: skip


def test_codes_never_change() -> None:
    # Segments hold these numbers. A new operator adds a line here; no line is ever altered.
    assert {operator.name: operator.code for _, operator in OPERATORS} == CODES


def test_codes_are_even_distinct_and_below_the_structural_ones() -> None:
    codes = [operator.code for _, operator in OPERATORS]
    assert len(set(codes)) == len(codes) == len(BY_CODE)
    assert all(code % 2 == 0 and code < STRUCTURAL for code in codes)


def test_kernels_use_the_codes_of_the_definitions() -> None:
    assert column_kernels.BETWEEN == cutting_kernels.BETWEEN == Between.OPERATORS[0].code
    assert In.OPERATORS[0].code == cutting_kernels.IN
    assert column_kernels.STRUCTURAL == cutting_kernels.STRUCTURAL == STRUCTURAL


def test_every_file_of_the_folder_is_registered() -> None:
    folder = FOLDER / "src/tamis/expression/predicates"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert files == {kind.__module__.rpartition(".")[2] for kind in PREDICATES}


@pytest.mark.parametrize("kind", PREDICATES, ids=lambda kind: kind.__name__)
def test_kind_defines_what_has_no_default(kind: type[Predicate]) -> None:
    # msgspec's structs ignore abstract methods: without its own ``accepts``, a kind would accept nothing.
    assert {"accepts", "with_clean_operands", "OPERATORS", "OPERANDS"} <= vars(kind).keys()
    assert kind.ACCESS != "atoms" or "atoms" in vars(kind)


@pytest.mark.parametrize(("kind", "operator"), OPERATORS, ids=lambda one: getattr(one, "name", ""))
def test_operator_is_read_in_every_form(kind: type[Predicate], operator: Operator) -> None:
    for spelling in operator.spellings:
        step = SIGNS.get(spelling.words) or WORDS.at(spelling.words.split()).meaning
        assert step is not None
        if step.operator is not operator:  # HAS PHRASE with a number behind it
            step = step.numbered
            assert step is not None
        assert (step.kind, step.operator) == (kind, operator)
    assert operator.operand.kind == "shape" or NAMES[operator.name] == operator.code


def test_docs_list_every_operator() -> None:
    page = (FOLDER / "docs/language.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    for _, operator in OPERATORS:
        for spelling in operator.spellings:
            assert any(spelling.words in row for row in rows), f"docs/language.md has no {spelling.words}"
        assert any(f"`{operator.name}`" in row for row in rows), f"docs/language.md has no {operator.name}"
