"""Schemathesis: generate valid and invalid requests from the OpenAPI description and check the responses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import negative_data_rejection

from tamis.limits import Limits
from tamis.service import openapi
from tamis.service.app import OPERATIONS
from tests.databases import KINDS, new_of_kind
from tests.service.service import Running, running

QUIET = list(HealthCheck)
EXAMPLES = 10
# A schema cannot express an unreadable expression, another version, a cursor of no page, or an expired
# key.
FINE = ["2xx", "304", "400", "404", "409", "412", "422"]
CONFIG: dict[str, Any] = {
    "checks": {
        "positive_data_acceptance": {"expected-statuses": FINE},
        "negative_data_rejection": {"expected-statuses": ["400", "404", "405", "409", "412", "415", "422"]},
    },
    # test_access tests the scopes; here all requests use one key.
    "generation": {"deterministic": True, "max-examples": EXAMPLES, "with-security-parameters": False},
}


@schemathesis.serializer("application/x-ndjson")
def lines(context: Any, value: Any) -> bytes:
    """Return one line."""
    return value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n"


def loaded(**checks: Any) -> Any:
    description = openapi.describe(OPERATIONS)
    del description["paths"]["/v1/stream"]  # it is endless; test_stream reads it
    config = CONFIG | {"checks": CONFIG["checks"] | checks}
    return schemathesis.openapi.from_dict(description, config=SchemathesisConfig.from_dict(config))


schema = loaded()


@pytest.fixture(scope="module", params=KINDS)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    limits = Limits(owner_requests=1_000_000, owner_events=1_000_000)
    with running(new_of_kind(request, tmp_path_factory.mktemp("schema")), limits) as started:
        yield started


@schema.parametrize()
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=QUIET)
def test_operations_follow_their_description(case: Any, served: Running) -> None:
    headers = {"authorization": f"Bearer {served.admin.key}"}
    if case.operation.label == "DELETE /v1/keys/{id}":
        headers = {"authorization": f"Bearer {served.key('other', 'admin')}"}
    response = case.call(base_url=str(served.http.base_url), headers=headers)
    a_line = case.media_type == "application/x-ndjson"  # the report refuses the line, not the request
    case.validate_response(response, headers=headers, excluded_checks=[negative_data_rejection] * a_line)


def test_created_resource_can_be_used(served: Running) -> None:
    """Follow the links of the description: create, read, change, remove."""
    linked = loaded(ignored_auth={"enabled": False}, negative_data_rejection={"enabled": False})

    class Sequences(linked.as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            key = served.key("root", "admin")  # a sequence may list keys, and revoke any of them
            return {"base_url": str(served.http.base_url), "headers": {"authorization": f"Bearer {key}"}}

    Sequences.run(
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=6,
            derandomize=True,
            deadline=None,
            suppress_health_check=QUIET,
            phases=[Phase.generate],
        )
    )


def test_description_is_complete(served: Running) -> None:
    found = served.http.get("/openapi.json").json()
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            assert {"500", "503"} <= set(operation["responses"])
            names = {one["name"] for one in operation["parameters"] if one["in"] == "path"}
            assert names == {part[1:-1] for part in path.split("/") if part.startswith("{")}
    ids = [one["operationId"] for methods in found["paths"].values() for one in methods.values()]
    assert len(ids) == len(set(ids)) == len(OPERATIONS)
