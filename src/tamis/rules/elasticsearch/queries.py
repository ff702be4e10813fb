"""Import the queries of Elasticsearch: compound queries, and the way to those on one field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import msgspec

from tamis.errors import InputError
from tamis.expression.operands import depth_limit, kind_of
from tamis.expression.predicate import Predicate
from tamis.expression.predicates import Exists, In
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or, predicates_of
from tamis.language.eventbridge.place import Place
from tamis.language.lucene import weighted
from tamis.limits import Limits
from tamis.rules.elasticsearch import geo, text
from tamis.rules.elasticsearch.fields import Fields
from tamis.rules.elasticsearch.leaves import COMMON, Leaves
from tamis.rules.expressions import Entry, Expressions
from tamis.rules.imported import Place as Line
from tamis.rules.trees import all_of, either

_FOLDED = ("case_insensitive", *COMMON)
_BOOL = ("must", "filter", "should", "must_not", "minimum_should_match", *COMMON)
_FUNCTIONS = ("query", "functions", "weight", "filter", "score_mode", "boost_mode", "max_boost", *COMMON)
_SCORED = ("random_score", "script_score", "field_value_factor", "gauss", "linear", "exp")
_GEO_FIELD = ("distance", *geo.SETTINGS)
_MOST_COMBINATIONS = 64


class Elasticsearch(Expressions):
    """The importer; ``mapping`` is that of the index, which says the types of its fields."""

    JSON: ClassVar[bool] = True

    def __init__(self, limits: Limits, *, mapping: Mapping[str, Any] | None = None) -> None:
        super().__init__(limits)
        if mapping is not None and not isinstance(mapping, Mapping):
            raise InputError("mapping is an object; on the command line: --option mapping=@mapping.json")
        self._fields = Fields(mapping)

    def entry(self, value: Any, name: str, place: Line) -> Entry:
        """Return the entry of a query alone, of a stored document, or of an object with id and rule."""
        source = value.get("_source") if isinstance(value, Mapping) else None
        if isinstance(source, Mapping) and "_id" in value:
            metadata = {key: one for key, one in source.items() if key != "query"}
            return Entry(str(value["_id"]), source, place, metadata)
        return super().entry(value, name, place)

    def expression(self, rule: Any, differences: list[str]) -> Expr:
        """Return the tree of a query."""
        place = Place("", "$", self.limits)
        if isinstance(rule, Mapping) and "query" in rule:
            rule, place = rule["query"], place.inside("query")
        return _Queries(Leaves(self._fields, differences), self.limits).read(rule, place, 1)


class _Queries:
    """A reader of one query."""

    def __init__(self, leaves: Leaves, limits: Limits) -> None:
        self._leaves, self._differences = leaves, leaves.differences
        self._deepest = depth_limit(limits)

    def read(self, query: Any, place: Place, depth: int) -> Expr:
        """Return the tree of ``{name: body}``."""
        if depth > self._deepest:
            place.refuse(f"the query is deeper than {self._deepest} levels")
        if not isinstance(query, Mapping) or len(query) != 1:
            what = f"{len(query)} keys" if isinstance(query, Mapping) else kind_of(query)
            place.refuse(f"a query is an object with one key, not {what}")
        ((name, body),) = query.items()
        here = place.inside(str(name))
        if name in _COMPOUND:
            return _COMPOUND[name](self, self._object(body, here), here, depth)
        if name in _ON_FIELD:
            return self._on_field(name, self._object(body, here), here)
        place.refuse(f"Tamis has no query {str(name)[:40]!r}{_WHY.get(str(name), '')}")

    # ----------------------------------------------------------------------------------- compound queries

    def _bool(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        self._allow(body, _BOOL, place)
        must, filters, should, denied = (
            self._several(body.get(key, []), place.inside(key), depth) for key in _BOOL[:4]
        )
        default = 0 if must or filters or not should else 1
        given = body.get("minimum_should_match", default)
        needed = text.minimum(given, len(should), place.inside("minimum_should_match"))
        parts = [*must, *(weighted(one, 0) for one in filters), *(Not(one) for one in denied)]
        parts += self._at_least(should, needed, place)
        return self._boosted(all_of(parts), body)

    def _at_least(self, should: list[Expr], needed: int, place: Place) -> list[Expr]:
        """Return conditions that hold if at least ``needed`` of some parts do."""
        if needed == 0:
            return [Or((one, TRUE)) for one in should]  # they only count in the score
        if needed > len(should):
            return [FALSE]
        if needed == len(should):
            return should
        if needed == 1:
            return [either(should)]
        return [self._combinations(should, needed, place)]

    def _combinations(self, should: list[Expr], needed: int, place: Place) -> Expr:
        # At least k of n hold if, of any n - k + 1, one does.
        width = len(should) - needed + 1
        if comb(len(should), width) > _MOST_COMBINATIONS:
            place.refuse(f"at least {needed} of {len(should)} conditions are too many combinations")
        return And(tuple(Or(group) for group in combinations(should, width)))

    def _several(self, queries: Any, place: Place, depth: int) -> list[Expr]:
        if isinstance(queries, Mapping):
            return [self.read(queries, place, depth + 1)]
        if not isinstance(queries, list):
            place.refuse(f"expected a query or a list of queries, found {kind_of(queries)}")
        return [self.read(query, place.inside(at), depth + 1) for at, query in enumerate(queries)]

    def _match_all(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        self._allow(body, COMMON, place)
        return TRUE

    def _match_none(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        return FALSE

    def _constant_score(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        self._allow(body, ("filter", *COMMON), place)
        found = self.read(body.get("filter"), place.inside("filter"), depth + 1)
        if isinstance(found, Predicate):
            return weighted(msgspec.structs.replace(found, weight=1.0), self._boost(body, place))
        self._differences.append("constant_score: the boost of several conditions does not count")
        return weighted(found, 0)

    def _dis_max(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        self._allow(body, ("queries", "tie_breaker", *COMMON), place)
        parts = self._several(body.get("queries", []), place.inside("queries"), depth)
        return self._boosted(either(parts), body) if parts else FALSE

    def _boosting(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        self._allow(body, ("positive", "negative", "negative_boost", *COMMON), place)
        self.read(body.get("negative"), place.inside("negative"), depth + 1)
        self._differences.append("boosting: the negative query does not lower the score")
        return self._boosted(self.read(body.get("positive"), place.inside("positive"), depth + 1), body)

    def _function_score(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        if "min_score" in body:
            place.refuse("min_score excludes by score; Tamis excludes by conditions only")
        self._allow(body, (*_FUNCTIONS, *_SCORED), place)
        found = self.read(body["query"], place.inside("query"), depth + 1) if "query" in body else TRUE
        functions = body.get("functions", [{key: body[key] for key in ("weight", *_SCORED) if key in body}])
        if not isinstance(functions, list):
            place.refuse("'functions' is a list")
        parts = [found]
        for at, function in enumerate(functions):
            here = place.inside("functions").inside(at)
            self._allow(self._object(function, here), ("filter", "weight", *_SCORED), here)
            if any(key in function for key in _SCORED):
                self._differences.append("function_score: only functions with a weight count in the score")
            elif "filter" in function:
                weight = self._number(function.get("weight", 1), here.inside("weight"))
                chosen = self.read(function["filter"], here.inside("filter"), depth + 1)
                parts.append(Or((self._counted(chosen, weight), TRUE)))
        modes = (body.get("score_mode", "multiply"), body.get("boost_mode", "multiply"))
        if len(parts) > 1 and modes != ("sum", "sum"):
            self._differences.append("function_score: weights are added to the score, whatever the modes say")
        return self._boosted(all_of(parts), body)

    def _counted(self, expr: Expr, weight: float) -> Expr:
        """Return a condition that counts ``weight`` once in the score."""
        predicates = list(predicates_of(expr))
        if isinstance(expr, Predicate):
            return msgspec.structs.replace(expr, weight=weight)
        if isinstance(expr, And) and predicates and isinstance(expr.children[0], Predicate):
            first, *others = expr.children
            counted = msgspec.structs.replace(first, weight=weight)
            return And((counted, *(weighted(one, 0) for one in others)))
        self._differences.append("function_score: a filter with alternatives counts by its conditions")
        return weighted(expr, weight)

    def _nested(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        self._allow(body, ("path", "query", "score_mode", "ignore_unmapped", "inner_hits", *COMMON), place)
        found = self.read(body.get("query"), place.inside("query"), depth + 1)
        positive = not any(isinstance(node, Not) for node in _nodes(found))
        if sum(1 for _ in predicates_of(found)) > 1 or not positive:
            place.refuse(
                "the conditions of a nested query must hold in one element of an array; Tamis flattens"
                " arrays, so only one condition can be nested"
            )
        return found

    def _ids(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        self._allow(body, ("values", "index", "id", "path", "routing", *COMMON), place)
        values = body.get("values")
        if not isinstance(values, list):
            place.refuse("'values' is a list of ids")
        return In("_id", tuple(str(value) for value in values)) if values else FALSE

    def _exists(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        self._allow(body, ("field", *COMMON), place)
        return self._boosted(Exists(str(body.get("field") or place.refuse("'field' is missing"))), body)

    def _multi_match(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        self._allow(body, text.SEVERAL, place)
        return self._boosted(text.multi_match(body, place), body)

    def _query_string(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        self._allow(body, text.QUERY_STRING, place)
        return self._boosted(text.query_string(body, place), body)

    def _geo_distance(self, body: Mapping[str, Any], place: Place, depth: int) -> Expr:
        name, field = self._geo_field(body, place)
        return self._boosted(geo.distance(name, field, body.get("distance"), place), body)

    def geo(self, kind: str, body: Mapping[str, Any], place: Place) -> Expr:
        """Return the test of a box, a polygon or a shape."""
        name, field = self._geo_field(body, place)
        return self._boosted(_SHAPES[kind](name, field, place.inside(name)), body)

    def _geo_field(self, body: Mapping[str, Any], place: Place) -> tuple[str, Any]:
        names = [name for name in body if name not in _GEO_FIELD]
        if len(names) != 1:
            place.refuse(f"a query on the map names one field, not {len(names)}")
        return names[0], body[names[0]]

    # ------------------------------------------------------------------------------------------- on one field

    def _on_field(self, kind: str, body: Mapping[str, Any], place: Place) -> Expr:
        names = [name for name in body if name not in COMMON]
        if len(names) != 1:
            place.refuse(f"{kind} names one field, not {len(names)}")
        name, here = str(names[0]), place.inside(str(names[0]))
        short, allowed, read = _ON_FIELD[kind]
        given = body[names[0]]
        if not isinstance(given, Mapping):
            if short is None:
                here.refuse(f"expected an object, found {kind_of(given)}")
            given = {short: given}
        self._allow(given, allowed, here)
        with here.blamed():
            return self._boosted(read(self, name, given, here), {**given, "boost": self._both(given, body)})

    def _both(self, given: Mapping[str, Any], body: Mapping[str, Any]) -> Any:
        return given.get("boost", body.get("boost", 1))

    def term(self, name: str, given: Mapping[str, Any], place: Place) -> Expr:
        """Return the test of an equality."""
        folded = bool(given.get("case_insensitive"))
        return self._leaves.term(name, given.get("value"), folded, place)

    def match(self, name: str, given: Mapping[str, Any], place: Place, prefix: bool = False) -> Expr:
        """Return the test of words; on a field that is not analysed, of an equality."""
        fields = self._leaves.fields
        is_words = isinstance(given.get("query"), str) if not fields.type_of(name) else fields.is_text(name)
        if not is_words:
            return self._leaves.term(name, given.get("query"), False, place)
        return text.match(name, given, place, prefix)

    # ------------------------------------------------------------------------------------------------ support

    def _object(self, body: Any, place: Place) -> Mapping[str, Any]:
        if not isinstance(body, Mapping):
            place.refuse(f"expected an object, found {kind_of(body)}")
        return body

    def _allow(self, body: Mapping[str, Any], known: tuple[str, ...], place: Place) -> None:
        for key in body:
            if key not in known:
                place.refuse(f"Tamis does not know the parameter {str(key)[:40]!r} here")

    def _number(self, value: Any, place: Place) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            place.refuse(f"a boost is a number of at least 0, not {str(value)[:40]}")
        return float(value)

    def _boost(self, body: Mapping[str, Any], place: Place) -> float:
        return self._number(body.get("boost", 1), place.inside("boost"))

    def _boosted(self, expr: Expr, body: Mapping[str, Any]) -> Expr:
        boost = body.get("boost", 1)
        return weighted(expr, self._number(boost, Place("", "$.boost", Limits()))) if boost != 1 else expr


def _nodes(expr: Expr) -> list[Expr]:
    found = [expr]
    for node in found:  # grows while it is read
        found.extend(node.children)
    return found


def _of_shape(kind: str) -> Callable[..., Expr]:
    return lambda queries, body, place, depth: queries.geo(kind, body, place)


_SHAPES = {"geo_bounding_box": geo.bounding_box, "geo_polygon": geo.polygon, "geo_shape": geo.shape}
_COMPOUND: dict[str, Callable[..., Expr]] = {
    "bool": _Queries._bool,
    "match_all": _Queries._match_all,
    "match_none": _Queries._match_none,
    "constant_score": _Queries._constant_score,
    "dis_max": _Queries._dis_max,
    "boosting": _Queries._boosting,
    "function_score": _Queries._function_score,
    "nested": _Queries._nested,
    "ids": _Queries._ids,
    "exists": _Queries._exists,
    "multi_match": _Queries._multi_match,
    "query_string": _Queries._query_string,
    "geo_distance": _Queries._geo_distance,
    **{kind: _of_shape(kind) for kind in _SHAPES},
}
_RANGE = ("gt", "gte", "lt", "lte", "format", "time_zone", "relation", *COMMON)
# The key of a short form, the parameters, and the reader of each query on one field.
_ON_FIELD: dict[str, tuple[str | None, tuple[str, ...], Callable[..., Expr]]] = {
    "term": ("value", ("value", *_FOLDED), _Queries.term),
    "range": (None, _RANGE, lambda q, name, given, place: q._leaves.range(name, given, place)),
    "terms": (
        "values",
        ("values", "index", "id", "path", "routing", *COMMON),
        lambda q, name, given, at: q._leaves.terms(name, given.get("values", given), at),
    ),
    "prefix": (
        "value",
        ("value", "rewrite", *_FOLDED),
        lambda q, n, g, at: q._leaves.prefix(n, g.get("value"), bool(g.get("case_insensitive")), at),
    ),
    "wildcard": (
        "value",
        ("value", "wildcard", "rewrite", *_FOLDED),
        lambda q, n, g, at: q._leaves.wildcard(
            n, g.get("value", g.get("wildcard")), bool(g.get("case_insensitive")), at
        ),
    ),
    "regexp": (
        "value",
        ("value", "flags", "max_determinized_states", "rewrite", *_FOLDED),
        lambda q, n, g, at: q._leaves.regexp(n, g.get("value"), bool(g.get("case_insensitive")), at),
    ),
    "fuzzy": (
        "value",
        ("value", "fuzziness", "prefix_length", "max_expansions", "rewrite", *COMMON),
        lambda q, n, g, at: q._leaves.fuzzy(n, g, at),
    ),
    "match": ("query", text.MATCH, _Queries.match),
    "match_bool_prefix": ("query", text.MATCH, lambda q, n, g, at: q.match(n, g, at, prefix=True)),
    "match_phrase": ("query", text.PHRASE, lambda q, n, g, at: text.phrase(n, g, at)),
    "match_phrase_prefix": (
        "query",
        text.PHRASE,
        lambda q, n, g, at: text.phrase(n, g, at, last_is_prefix=True),
    ),
}
_EVENTS = ": it asks for other documents, and Tamis sees one event at a time"
_WHY = {
    "script": ": Tamis runs no scripts",
    "script_score": ": Tamis runs no scripts",
    "percolate": ": it searches stored queries",
    "simple_query_string": ": its syntax differs from that of query_string; write a query_string",
    **dict.fromkeys(("has_child", "has_parent", "parent_id", "more_like_this", "knn"), _EVENTS),
}
