"""Know the types of fields, from the mapping of an Elasticsearch index."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tamis.errors import InputError, TypeMismatch
from tamis.expression.operands import kind_of
from tamis.language.eventbridge.place import Place
from tamis.rules.elasticsearch.dates import time_of

TEXTS = ("text", "match_only_text", "search_as_you_type", "annotated_text")
KEYWORDS = ("keyword", "constant_keyword", "wildcard")
WHOLE = ("long", "integer", "short", "byte", "unsigned_long")
FLOATS = ("double", "float", "half_float", "scaled_float")
DATES = ("date", "date_nanos")
_EXPECTED = {"whole": "a whole number", "float": "a number", "boolean": "true or false"}


class Fields:
    """The types of fields by name; an unknown field takes values as the query writes them."""

    def __init__(self, mapping: Mapping[str, Any] | None) -> None:
        self._types: dict[str, str] = {}
        if mapping is not None:
            self._collect("", _properties(mapping))

    def _collect(self, prefix: str, properties: Mapping[str, Any]) -> None:
        for name, field in properties.items():
            if not isinstance(field, Mapping):
                raise InputError(f"the mapping of the field {prefix}{name} is no object")
            if "type" in field:
                self._types[prefix + name] = str(field["type"])
            for key in ("properties", "fields"):
                self._collect(f"{prefix}{name}.", field.get(key) or {})

    def type_of(self, name: str) -> str:
        """Return the type of a field; empty if the mapping does not have it."""
        return self._types.get(name, "")

    def is_text(self, name: str) -> bool:
        """Return whether a field is analysed."""
        return self.type_of(name) in TEXTS

    def value(self, name: str, value: Any, place: Place) -> Any:
        """Return a value as the type of the field holds it."""
        if isinstance(value, Mapping | list) or value is None:
            place.refuse(f"expected a value, found {kind_of(value)}", TypeMismatch)
        kind = self.type_of(name)
        if kind in WHOLE:
            return self._number(value, place, whole=True)
        if kind in FLOATS:
            return self._number(value, place, whole=False)
        if kind == "boolean":
            if value in ("true", "false"):
                return value == "true"
            return value if isinstance(value, bool) else place.refuse("expected true or false", TypeMismatch)
        if kind in DATES:
            return self.time(value, place)
        if kind in KEYWORDS or kind in TEXTS or kind == "ip":
            return str(value).lower() if isinstance(value, bool) else str(value)
        return value

    def time(self, value: Any, place: Place, up: bool = False) -> datetime:
        """Return the time that a value of a date field says."""
        try:
            return time_of(value, up=up)
        except ValueError as bad:
            place.refuse(str(bad), TypeMismatch)

    def _number(self, value: Any, place: Place, whole: bool) -> int | float:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            place.refuse(f"expected a number, found {kind_of(value)}", TypeMismatch)
        try:
            number = float(value)
            if whole and number == int(number):
                return int(value) if not isinstance(value, float) and "." not in str(value) else int(number)
        except (ValueError, OverflowError):
            place.refuse(f"{str(value)[:40]!r} is no number", TypeMismatch)
        return number


def _properties(mapping: Any) -> Mapping[str, Any]:
    """Return the properties of a mapping, also of one that an index returns."""
    found = mapping
    for _ in range(3):
        if not isinstance(found, Mapping):
            break
        if isinstance(found.get("properties"), Mapping):
            properties: Mapping[str, Any] = found["properties"]
            return properties
        found = found["mappings"] if "mappings" in found else next(iter(found.values()), None)
    raise InputError("a mapping is an object with 'properties', as GET /index/_mapping returns it")
