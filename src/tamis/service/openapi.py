"""Builds the OpenAPI description from the operations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from tamis.contract.names import LOCAL, OWNER
from tamis.service import problems
from tamis.service.bodies import JSON
from tamis.service.operation import Operation, Stream
from tamis.service.problems import Problem
from tamis.version import __version__

_REF = "#/components/schemas/{name}"
_PATHS = {"id": f"^{LOCAL}$", "owner": f"^{OWNER}$", "number": "^[0-9]{1,18}$"}  # names in paths


def describe(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the complete description."""
    types = _types(operations)
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    by_type = dict(zip(types, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        described = _operation(operation, by_type, components)
        if "201" in described["responses"] and (links := _links(operation, operations)):
            described["responses"]["201"]["links"] = links
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    components["Problem"]["additionalProperties"] = True
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tamis",
            "version": __version__,
            "description": "Standing searches over streams of events.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "tamis_…"}},
        },
    }


def _types(operations: Sequence[Operation]) -> list[Any]:
    found: list[Any] = [Problem]
    for operation in operations:
        found += [operation.body, operation.query]
        for answer in operation.answers.values():
            found += answer if isinstance(answer, tuple) else [answer]
    unique = dict.fromkeys(kind for kind in found if kind is not None and not isinstance(kind, Stream))
    return list(unique)


def _operation(operation: Operation, schemas: dict[Any, Any], components: dict[str, Any]) -> dict[str, Any]:
    summary, _, more = operation.about.partition("\n\n")
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": " ".join(summary.split()),
        "parameters": _parameters(operation, components),
        "responses": _responses(operation, schemas),
        "security": [{"key": []}] if operation.scope else [],
    }
    needs = f"Needs the scope `{operation.scope}`." if operation.scope else ""
    described["description"] = "\n\n".join(filter(None, [" ".join(more.split()), needs]))
    if operation.body is not None:
        content = {media: {"schema": schemas[operation.body]} for media in operation.media}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _links(operation: Operation, operations: Sequence[Operation]) -> dict[str, Any]:
    """Return links to the operations on a resource that was just created."""
    return {
        other.name: {"operationId": other.name, "parameters": {"id": "$response.body#/id"}}
        for other in operations
        if other.path.startswith(f"{operation.path}/{{id}}") and "{number}" not in other.path
    }


def _parameters(operation: Operation, components: dict[str, Any]) -> list[dict[str, Any]]:
    path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "pattern": _PATHS[name]}}
        for name in re.findall(r"{(\w+)}", operation.path)
    ]
    headers = [
        {
            "name": header.name,
            "in": "header",
            "description": header.about,
            "schema": {"type": "string", "pattern": header.pattern},
        }
        for header in operation.headers
    ]
    if operation.query is None:
        return path + headers
    fields = components[operation.query.__name__]["properties"]
    query = [{"name": name, "in": "query", **_parameter(dict(schema))} for name, schema in fields.items()]
    return path + query + headers


def _parameter(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a query parameter without null among its values: a query cannot contain null."""
    if "anyOf" in schema:
        one = next(choice for choice in schema["anyOf"] if choice != {"type": "null"})
        schema = {**one, **{key: value for key, value in schema.items() if key != "anyOf"}}
    if isinstance(schema.get("enum"), list):
        schema["enum"] = [value for value in schema["enum"] if value is not None]
    if schema.get("default", ...) is None:
        del schema["default"]
    description = schema.pop("description", None)
    return {"schema": schema} | ({"description": description} if description else {})


def _responses(operation: Operation, schemas: dict[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for status, answer in operation.answers.items():
        described: dict[str, Any] = {"description": HTTPStatus(status).phrase}
        for one in answer if isinstance(answer, tuple) else (answer,):
            if isinstance(one, Stream):
                described.setdefault("content", {})[one.media] = {"schema": {"type": "string"}}
                described["description"] = one.about
            elif one is not None:
                described.setdefault("content", {})[JSON] = {"schema": schemas[one]}
                described["description"] = (inspect.getdoc(one) or "").partition("\n")[0]
        found[str(status)] = described
    for status in sorted(_refusals(operation) - operation.answers.keys()):
        found[str(status)] = {
            "description": HTTPStatus(status).phrase,
            "content": {problems.MEDIA: {"schema": {"$ref": _REF.format(name="Problem")}}},
        }
    return found


def _refusals(operation: Operation) -> set[int]:
    """Return the statuses with which this operation can fail."""
    found = {500, 503, *operation.refusals}
    if operation.scope is not None:
        found |= {401, 403, 429}
    if operation.query is not None or operation.headers or "{" in operation.path:
        found |= {400}
    if operation.body is not None:
        found |= {400, 408, 413, 415}
    return found
