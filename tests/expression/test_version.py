"""Test versions: their orders, every written form, and the implied predicates."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, advise, attr, parse, to_json, to_text
from tamis.errors import ParseError, PatternError, TypeMismatch
from tamis.expression import Version
from tamis.expression.truth import matches
from tamis.language import from_json
from tamis.normal.passes import implies
from tamis.values.event import event_from
from tamis.values.version import LONGEST, Scheme, version_key

# Each list ascends; the versions of an inner list are equal.
ASCENDING: dict[Scheme, list[list[str]]] = {
    "semver": [
        ["0"], ["1.0.0-0"], ["1.0.0-2"], ["1.0.0-10"], ["1.0.0-alpha"], ["1.0.0-alpha.1"],
        ["1.0.0-alpha.beta"], ["1.0.0-beta.2"], ["1.0.0-beta.11"], ["1.0.0-rc.1", "1-rc.1+b5"],
        ["1.0.0-rc-1"],
        ["1", "1.0", "v1.0.0", "01.0.0", "1.0.0+build.7"], ["1.0.1-x"], ["1.2"],
        ["1.10"], ["18446744073709551617"],
    ],
    "pep440": [
        ["1.dev1"], ["1a1.dev1"], ["1a1", "1.0-alpha_1", "1.0.A1"], ["1a1.post1.dev2"], ["1a1.post1"],
        ["1b2", "1beta2"], ["1rc1", "1c1", "1.0preview1"], ["1", "v1.0.0", " 1.0"], ["1+abc"],
        ["1+abc.1", "1+abc-1"], ["1+1"], ["1.post2.dev3"], ["1.post2", "1-2", "1.0r2", "1.rev2"], ["1.0.0.1"],
        ["1.9"], ["1.10"], ["1!0.1"],
    ],
    "debian": [
        ["1~~"], ["1~rc1"], ["1~rc1-1"], ["1", "0:1-0", "01"], ["1-1~bpo12+1"], ["1-1"], ["1a"], ["1+b1"],
        ["1.0", "1.00", "1."], ["1.0.1"], ["1.9"], ["1.10"], ["1:0.1"], ["1:0:1"],
    ],
}  # fmt: skip
NONE: dict[Scheme, list[str]] = {
    "semver": [
        "",
        "latest",
        "1.2.3.4",
        "1..2",
        "1.2-",
        "1.2+",
        "-1",
        "1.2.3-a..b",
        "١.٢",
        "1" * (LONGEST + 1),
    ],
    "pep440": ["", "latest", "1.0-", "1.0+", "1.0x", "!1", "1.0.dev1.post1", "1.0-a-b"],
    "debian": ["", "a1", "1:", ":1", "1-", "1_2", "1 2", "0:1-é", "1:2-3:4"],
}
FORMS = {
    "a VERSION >= '2.10.0-beta.1'": Version("a", "semver", ">=", "2.10.0-beta.1"),
    "a VERSION != '2'": Version("a", "semver", "=", "2", True),
    "a NOT VERSION < '2' ^ 3": Version("a", "semver", "<", "2", True, 3.0),
    "a PEP440 VERSION <= '2rc1'": Version("a", "pep440", "<=", "2rc1"),
    "a DEBIAN VERSION = '1:2-3'": Version("a", "debian", "=", "1:2-3"),
}


@pytest.mark.parametrize("scheme", ASCENDING)
def test_keys_have_the_order_of_versions(scheme: Scheme) -> None:
    keys = [{version_key(scheme, one) for one in equal} for equal in ASCENDING[scheme]]
    assert all(len(equal) == 1 for equal in keys)
    ordered = [equal.pop() for equal in keys]
    assert None not in ordered
    assert all(low < high for low, high in itertools.pairwise(ordered))  # type: ignore[operator]


@pytest.mark.parametrize(("scheme", "text"), [(scheme, text) for scheme in NONE for text in NONE[scheme]])
def test_text_that_is_no_version_is_refused_as_operand_and_accepted_by_none(
    scheme: Scheme, text: str
) -> None:
    assert version_key(scheme, text) is None
    with pytest.raises(PatternError, match="is not a"):
        Index.build([("s", attr("a").version("<", text, scheme))])
    event = event_from({"a": text})
    assert not matches(Version("a", scheme, "<", "9999"), event)
    assert matches(Version("a", scheme, "<", "9999", True), event)


@pytest.mark.parametrize("text", FORMS)
def test_text_json_and_python_give_the_predicate_back(text: str) -> None:
    tree = FORMS[text]
    assert parse(text) == parse(re.sub(r" ([<>=!]+) ", r"\1", text.replace("VERSION", "Version"))) == tree
    assert to_text(tree) == text
    assert from_json(to_json(tree)) == tree
    if not tree.negated:
        assert attr("a").version(tree.op, tree.value, tree.scheme) == tree


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        ("a VERSION '2'", ParseError, "expected =, ==, !=, <>, <, <=, > or >=, found '2'"),
        ("a VERSION >= 2", ParseError, "expected semantic version in single quotes, found 2"),
        ("a PEP440 >= '2'", ParseError, "expected VERSION"),
        ("a VERSION >= 'new'", PatternError, "'new' is not a semantic version such as"),
    ],
)
def test_mistake_names_what_is_expected(text: str, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=re.escape(why)):
        parse(text)


def test_python_refuses_what_the_text_cannot_say() -> None:
    with pytest.raises(TypeMismatch, match="expected a version, found a number"):
        Index.build([("s", attr("a").version("<", 2))])  # type: ignore[arg-type]
    for wrong in (attr("a").version("~", "2"), attr("a").version("<", "2", "calver")):  # type: ignore[arg-type]
        with pytest.raises(ParseError, match="the schemes are semver, pep440, debian, the comparisons = <"):
            Index.build([("s", wrong)])


def test_order_of_strings_that_look_like_versions_is_advised_against() -> None:
    assert any("write VERSION" in one.text for one in advise("app >= '2.10.0'").warnings)


@given(
    *[st.sampled_from(["=", "<", "<=", ">", ">="])] * 2,
    *[st.sampled_from(["1", "1.0", "1-rc", "2", "10"])] * 2,
)
def test_implied_version_holds_wherever_the_other_does(op: str, other: str, value: str, base: str) -> None:
    strong, weak = Version("a", "semver", op, value), Version("a", "semver", other, base)  # type: ignore[arg-type]
    if implies(strong, weak):
        for text in ("0", "1-a", "1-rc", "1", "1.0.1", "2-x", "2", "9", "10", "11", "none"):
            event = event_from({"a": text})
            assert matches(weak, event) or not matches(strong, event)
