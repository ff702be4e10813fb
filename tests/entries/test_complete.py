"""Every entry point has a row: a new one that the table does not list fails here.

A name is either covered by the table, or it is listed below with the reason why no strange input reaches it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

import tamis
import tamis.spark
from tamis import language
from tamis.cli import main
from tamis.language import forms
from tamis.service.app import OPERATIONS
from tests.entries.event_entries import EVENT_ENTRIES
from tests.entries.subscription_entries import SUBSCRIPTION_ENTRIES

# Rows of the table that other modules hold, by module.
ELSEWHERE = {
    "test_subscriptions.py": {
        "Index.remove", "Index.subscription", "Index.expression", "Index.versions",
        "from_query_string", "from_search_box", "from_eventbridge", "from_lucene",
    },
    "test_files.py": {"Index.open", "Index.save", "Index.check", "tamis check", "tamis info"},
    "test_service_events.py": {
        "POST /v1/events", "POST /v1/match",
        "Client.publish", "Client.match", "Client.top_k", "Client.explain",
    },
    "test_service_subscriptions.py": {
        "POST /v1/subscriptions", "PUT /v1/subscriptions/{id}", "PATCH /v1/subscriptions/{id}",
        "POST /v1/subscriptions/validate", "POST /v1/subscriptions/import",
        "Client.add", "Client.put", "Client.update", "Client.validate", "Client.import_",
    },
    "test_spark.py": {
        "spark.match", "spark.match_with_notes", "spark.events", "spark.refused_events",
        "spark.subscriptions", "spark.build", "spark.register",
    },
    "tests/planning": {"suggest", "tamis backtest", "tamis suggest"},  # they read events as match_many does
    "tests/rules": {"tamis import", "tamis export"},  # damaged rules of every format, and files of all kinds
    "tests/spark": {  # the same code as the functions above, driven through their own options
        "tamis spark build", "tamis spark match", "tamis spark stream", "tamis spark digest",
        "tamis spark profile", "spark.match_stream", "spark.digest", "spark.profile", "spark.refused_of",
        "spark.observed",
    },
}  # fmt: skip
# Names that take no events, subscriptions or files, and why each is harmless.
NO_INPUT = {
    "Index.typical_events": "gives out", "Index.merge": "no arguments", "Index.info": "no arguments",
    "Index.merge_in_background": "no arguments", "Index.analysers": "gives out",
    "tamis config": "options only, tests/cli/test_config.py",
    "tamis serve": "options only, tests/service/test_serve.py", "tamis notify": "options only",
    "tamis keys create": "options only", "tamis keys list": "options only", "tamis keys revoke": "a name",
    "tamis spark generate": "options only", "tamis spark submit-example": "a folder",
    "spark.generate": "numbers", "spark.session": "settings",
}  # fmt: skip
SCHEMATHESIS = "tests/service/test_schema.py sends every route bodies, parameters and headers of every kind"
CLIENT_NO_INPUT = {"acting_for", "aclose", "close"}


def _covered() -> set[str]:
    rows = [entry.name for entry in EVENT_ENTRIES] + [entry.name for entry in SUBSCRIPTION_ENTRIES]
    found = {name.split(",")[0].split(" --")[0] for name in rows}
    return found.union(*ELSEWHERE.values())


def _methods(kind: type) -> Iterator[str]:
    return (name for name, _ in inspect.getmembers(kind) if not name.startswith("_"))


def _commands(group: click.Group, prefix: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}"


def test_every_method_of_an_index_has_a_row() -> None:
    names = {f"Index.{name}" for name in _methods(tamis.Index)}
    assert names - _covered() - NO_INPUT.keys() == set()


def test_every_reader_of_expressions_has_a_row() -> None:
    names = {*tamis.__all__, *language.__all__}
    readers = {name for name in names if name.startswith("from_") or name in ("parse", "advise")}
    assert readers - _covered() == set()
    assert set(forms.FORMS) == {"text", "json", "query-string", "search-box", "eventbridge", "lucene"}


def test_every_command_has_a_row() -> None:
    assert set(_commands(main, "tamis")) - _covered() - NO_INPUT.keys() == set()


def test_every_function_on_spark_has_a_row() -> None:
    functions = {name for name in tamis.spark.__all__ if not inspect.isclass(getattr(tamis.spark, name))}
    assert {f"spark.{name}" for name in functions} - _covered() - NO_INPUT.keys() == set()


def test_every_route_with_a_body_has_a_row() -> None:
    """The other routes take only names and numbers in paths and parameters: see SCHEMATHESIS."""
    assert SCHEMATHESIS
    bodies = {f"{one.method} {one.path}" for one in OPERATIONS if one.body is not None}
    others = {
        "POST /v1/keys",
        "PUT /v1/owners/{owner}",
    }  # tests/service/test_admin.py covers them
    assert bodies - _covered() - others == set()


def test_every_method_of_the_client_that_takes_data_has_a_row() -> None:
    takes = {
        name
        for kind in (tamis.Client, tamis.AsyncClient)
        for name in _methods(kind)
        if {"event", "expression", "rows"} & set(inspect.signature(getattr(kind, name)).parameters)
    }
    assert {f"Client.{name}" for name in takes - CLIENT_NO_INPUT} - _covered() == set()


def test_every_row_is_of_an_existing_entry_point() -> None:
    known = {f"Index.{name}" for name in _methods(tamis.Index)} | set(_commands(main, "tamis"))
    known |= {f"spark.{name}" for name in tamis.spark.__all__} | {*tamis.__all__, *language.__all__}
    known |= {f"Client.{name}" for name in _methods(tamis.Client)}
    known |= {f"{one.method} {one.path}" for one in OPERATIONS}
    assert (_covered() | NO_INPUT.keys()) - known == set()
