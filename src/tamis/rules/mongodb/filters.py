"""Import query documents of MongoDB: fields and logical operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from tamis.expression.operands import clean_name, depth_limit, kind_of
from tamis.expression.tree import TRUE, Expr, Not
from tamis.language.eventbridge.place import Place
from tamis.rules.expressions import Expressions
from tamis.rules.mongodb.operators import Field, equal
from tamis.rules.mongodb.values import is_value
from tamis.rules.trees import all_of, either

_WHY = {
    "$where": ": Tamis runs no scripts",
    "$expr": ": Tamis compares no attributes and computes nothing",
    "$text": ": name the field; write $regex, or a Lucene query",
    "$jsonSchema": ": write the conditions themselves",
}


class MongoDB(Expressions):
    """The importer."""

    JSON: ClassVar[bool] = True

    def expression(self, rule: Any, differences: list[str]) -> Expr:
        """Return the tree of a query document."""
        return self._document(rule, Place("", "$", self.limits), 1, differences)

    def _document(self, document: Any, place: Place, depth: int, differences: list[str]) -> Expr:
        if depth > depth_limit(self.limits):
            place.refuse(f"the query is deeper than {depth_limit(self.limits)} levels")
        if not isinstance(document, Mapping):
            place.refuse(f"a query is an object, not {kind_of(document)}")
        parts = list(self._conditions(document, place, depth, differences))
        return all_of(parts) if parts else TRUE

    def _conditions(
        self, document: Mapping[str, Any], place: Place, depth: int, differences: list[str]
    ) -> Iterator[Expr]:
        for key, body in document.items():
            here = place.inside(str(key))
            if key in ("$and", "$or", "$nor"):
                if not isinstance(body, list) or not body:
                    here.refuse("expected a list of at least one query")
                each = [
                    self._document(one, here.inside(at), depth + 1, differences)
                    for at, one in enumerate(body)
                ]
                yield all_of(each) if key == "$and" else either(each) if key == "$or" else Not(either(each))
            elif key == "$comment":
                continue
            elif str(key).startswith("$"):
                here.refuse(f"Tamis has no operator {str(key)[:40]!r}{_WHY.get(str(key), '')}")
            else:
                yield self._field(place.field(key), body, differences)

    def _field(self, place: Place, body: Any, differences: list[str]) -> Expr:
        with place.blamed():
            clean_name(place.name, self.limits)
        if any(part.isdigit() for part in place.name.split(".")):
            place.refuse(
                f"{place.name[:60]!r} may mean an element at its place in an array, which Tamis flattens"
            )
        is_operators = isinstance(body, Mapping) and any(str(key).startswith("$") for key in body)
        if is_operators and not is_value(body):
            return Field(place, body, differences).condition()
        return equal(place.name, body, place)
