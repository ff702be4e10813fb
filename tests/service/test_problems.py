"""Errors as problem documents: one complete table that agrees with the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tamis import errors
from tamis.errors import TamisError
from tamis.service.app import OPERATIONS
from tamis.service.problems import is_ours, problem_of, response_of, status_of


def family(error: type[TamisError]) -> list[type[TamisError]]:
    return [error, *(member for child in error.__subclasses__() for member in family(child))]


ERRORS = family(TamisError)


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_has_a_status_and_a_title(kind: type[TamisError]) -> None:
    error = kind("said", limit="page_items")
    found = problem_of(error)
    assert 400 <= found["status"] == status_of(error) <= 503
    assert (found["code"], found["type"]) == (kind.code, f"urn:tamis:{kind.code}")
    assert found["title"]
    if is_ours(error):
        assert "said" not in found["detail"]
        assert "limit" not in found
    else:
        assert (found["detail"], found["limit"]) == ("said", "page_items")


# The first is raised when a service starts; a client raises the others when no response came.
NEVER_ANSWERED = ("data-in-use", "service-unreachable", "answer-lost", "answer-invalid")


def test_documentation_lists_every_status(repo_root: Path) -> None:
    page = (repo_root / "docs" / "errors.md").read_text(encoding="utf-8")
    documented = dict(re.findall(r"^\| `([a-z-]+)` \| `\w+` \| (\d{3}) \|", page, re.MULTILINE))
    ours = {kind.code: str(status_of(kind("x"))) for kind in family(errors.ServiceError)}
    assert documented == {code: status for code, status in ours.items() if code not in NEVER_ANSWERED}
    table = (repo_root / "docs" / "service.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\d{3}) \| (`.*`.*) \|$", table, re.MULTILINE))
    for kind in ERRORS:
        status = str(status_of(kind("x")))
        if status != "500" and kind.code not in ("expression-error", "event-invalid"):
            shown = rows[status].replace("`expression-…`", kind.code if "expression" in kind.code else "")
            assert kind.code in shown, f"{kind.code} is not beside {status} in docs/service.md"


def test_documentation_lists_every_operation(repo_root: Path) -> None:
    page = (repo_root / "docs" / "service.md").read_text(encoding="utf-8")
    missing = [f"{one.method} {one.path}" for one in OPERATIONS if f"`{one.method} {one.path}`" not in page]
    assert missing == []


def test_details_cannot_replace_the_fields_of_a_problem() -> None:
    error = errors.RequestInvalid("said", status=200, code="fine", type="x", retry_after=7)
    found = problem_of(error)
    assert (found["status"], found["code"]) == (400, "request-invalid")
    assert "retry_after" not in found
    assert response_of(error).headers["retry-after"] == "7"
