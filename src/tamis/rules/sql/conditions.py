"""Import the condition behind WHERE, in the dialect of another database.

SQL has three truth values: a comparison with NULL is unknown, and so is its denial. A row is found if the
whole condition is true. So NOT is carried down to the comparisons, and the denial of a comparison needs the
attribute.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tamis.errors import InputError, ParseError, TypeMismatch
from tamis.expression.operands import over
from tamis.expression.predicate import Predicate
from tamis.expression.predicates import Affix, Between, Compare, Exists, In, Like, Likes, Network, Regex
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or
from tamis.limits import Limits
from tamis.rules.expressions import Expressions
from tamis.rules.sql.guards import is_all, refuse_ambiguous, refuse_unknown
from tamis.rules.sql.operands import bare, is_column, is_constant, name_of, sql_of, value_of, values_of
from tamis.rules.trees import all_of, denied, either, literal

DIALECTS = ("postgres", "mysql", "bigquery", "snowflake", "duckdb", "spark", "trino")
_NO_ESCAPE = ("snowflake", "duckdb", "trino")  # a backslash in LIKE is a backslash
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_FOLDED = (exp.Lower, exp.Upper)
_COLLATION = "strings are compared by code point; the collation of MySQL may ignore case and accents"
_FOLD_RULE = "LOWER and UPPER become ILIKE, which folds case by Unicode's rules (ß is ss)"
_STATEMENT = re.compile(
    r"\s*(?:select\s|with\s+\w+\s+as\s*\(|insert\s+into\s|delete\s+from\s|update\s+\w+\s+set\s)",
    re.IGNORECASE,
)


class SQL(Expressions):
    """The importer; ``dialect`` is one of :data:`DIALECTS`."""

    def __init__(self, limits: Limits, *, dialect: str = "postgres") -> None:
        super().__init__(limits)
        if dialect not in DIALECTS:
            raise InputError(f"dialect is one of {', '.join(DIALECTS)}, not {dialect!r:.40}")
        self._dialect = dialect

    def expression(self, rule: Any, differences: list[str]) -> Expr:
        """Return the tree of a condition."""
        text = re.sub(r"^\s*where\b", "", rule, count=1, flags=re.IGNORECASE)
        if _STATEMENT.match(text):
            raise ParseError("a rule is the condition behind WHERE, not a statement")
        try:
            found = sqlglot.parse_one(text, dialect=self._dialect, into=exp.Condition)
        except SqlglotError as bad:
            raise ParseError(f"sqlglot cannot read the condition: {_plain(str(bad))}") from None
        if isinstance(found, exp.Query):
            raise ParseError("a rule is the condition behind WHERE, not a statement")
        return _Condition(self._dialect, differences, self.limits).read(found, False)


def _plain(message: str) -> str:
    """Return the first line of a message of sqlglot, without the escapes that underline."""
    return re.sub(r"\x1b\[[0-9;]*m", "", message.split("\n")[0])[:200]


class _Condition:
    """A reader of one condition; ``negated`` asks when it is false instead of when it is true."""

    def __init__(self, dialect: str, differences: list[str], limits: Limits) -> None:
        self._dialect, self._differences, self._limits = dialect, differences, limits
        self._reads = 0

    def read(self, node: Any, negated: bool) -> Expr:
        self._reads += 1  # XOR reads both of its sides twice
        if self._reads > 4 * (most := self._limits.expression_predicates):
            raise over("expression_predicates", most, "the condition has too many parts")
        node = bare(node)
        refuse_unknown(node)
        if node.args.get("negate"):
            refuse_ambiguous(node)
            negated = not negated
        match node:
            case exp.And() | exp.Or():
                parts = [self.read(one, negated) for one in node.flatten()]
                return (either if isinstance(node, exp.Or) != negated else all_of)(parts)
            case exp.Not():
                refuse_ambiguous(node.this)
                return self.read(node.this, not negated)
            case exp.Xor():
                one, two = node.this, node.expression
                differ = (self.read(one, False), self.read(two, not negated))
                other = (self.read(one, True), self.read(two, negated))
                return Or((And(differ), And(other)))
            case exp.Boolean():
                return TRUE if bool(node.this) != negated else FALSE
            case exp.Null():
                return FALSE
        if is_column(node):
            return Compare(name_of(node), "=", not negated)
        reader = _READERS.get(type(node))
        if reader is None:
            name_of(node)
        assert reader is not None
        return reader(self, node, negated)

    # ------------------------------------------------------------------------------------------- comparisons

    def comparison(self, node: Any, negated: bool) -> Expr:
        sign = _SIGNS[type(node)]
        left, right = bare(node.this), bare(node.expression)
        if isinstance(right, exp.Any) or is_all(right):
            return self._quantified(left, sign, right, negated)
        if isinstance(left, exp.StrPosition):
            return self._position(left, sign, value_of(right), negated)
        if is_constant(left) and not is_constant(right):
            left, right, sign = right, left, _FLIPPED[sign]
        if is_constant(left):
            return self._constants(value_of(left), sign, value_of(right), negated)
        if isinstance(left, _FOLDED):
            return self._folded(left, sign, value_of(right), negated)
        return self._compared(name_of(left), sign, value_of(right), negated)

    def _compared(self, name: str, sign: Any, value: Any, negated: bool) -> Expr:
        if value is None:
            return FALSE  # unknown, and so is its denial
        self._about(value, sign)
        return self._leaf(Compare(name, sign, value), negated)

    def _leaf(self, predicate: Predicate, negated: bool) -> Expr:
        return denied(predicate) if negated else predicate

    def _about(self, value: Any, sign: str) -> None:
        """State where the database may compare a string otherwise."""
        if not isinstance(value, str):
            return
        if self._dialect == "mysql":
            self._differences.append(_COLLATION)
        if sign not in ("=", "!=") and _ISO.match(value):
            self._differences.append(
                f"{value[:40]!r} is compared as a string; write TIMESTAMP before it for a time"
            )

    def _constants(self, left: Any, sign: str, right: Any, negated: bool) -> Expr:
        if left is None or right is None:
            return FALSE
        numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (left, right))
        if not numbers and type(left) is not type(right):
            raise TypeMismatch(f"constants of different types are compared: {left!r:.40} and {right!r:.40}")
        verdict = {
            "=": left == right,
            "!=": left != right,
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
        }[sign]
        return TRUE if verdict != negated else FALSE

    def _folded(self, node: Any, sign: str, value: Any, negated: bool) -> Expr:
        """Return the test of a lower-case or upper-case form."""
        if value is None:
            return FALSE
        if sign not in ("=", "!=") or not isinstance(value, str):
            raise ParseError(f"Tamis compares {sql_of(node)} with = and LIKE only")
        self._differences.append(_FOLD_RULE)
        if value != (value.lower() if isinstance(node, exp.Lower) else value.upper()):
            raise ParseError(
                f"{sql_of(node)} never equals {value[:40]!r}, which has letters of the other case"
            )
        return self._leaf(Like(name_of(node.this), literal(value), fold=True), negated != (sign == "!="))

    def _position(self, node: Any, sign: str, value: Any, negated: bool) -> Expr:
        """Return the test that a string holds another: its position is greater than 0."""
        if (sign, value) not in ((">", 0), (">=", 1), ("!=", 0), ("=", 0)) or node.args.get("position"):
            raise ParseError(f"Tamis does not compute {sql_of(node)}; compare it with > 0")
        return self._affix(node.this, node.args["substr"], "contains", negated != (sign == "="))

    def _quantified(self, left: Any, sign: str, right: Any, negated: bool) -> Expr:
        is_any = isinstance(right, exp.Any)
        inner = bare(right.this if is_any else right.expressions[0])
        if is_column(inner) and sign == "=" and is_any and is_constant(left):
            return self._compared(name_of(inner), "=", value_of(left), negated)
        values = values_of(inner.expressions) if isinstance(inner, exp.Array | exp.Tuple) else None
        if values is None or (is_any, sign) not in ((True, "="), (False, "!=")):
            raise ParseError(f"Tamis has = ANY and <> ALL of a list: {sql_of(right)}")
        return self._among(name_of(left), values, negated != (sign == "!="))

    def null_safe(self, node: Any, negated: bool) -> Expr:
        """Return the test of IS [NOT] DISTINCT FROM, which is never unknown."""
        left, right = bare(node.this), bare(node.expression)
        if is_constant(left):
            left, right = right, left
        name, value = name_of(left), value_of(right)
        found: Expr = self.is_null(name, False) if value is None else Compare(name, "=", value)
        return Not(found) if negated != isinstance(node, exp.NullSafeNEQ) else found

    def is_null(self, name: str, negated: bool) -> Expr:
        return Exists(name, negated=not negated)

    def is_(self, node: Any, negated: bool) -> Expr:
        name, value = name_of(node.this), value_of(node.expression)
        if value is None:
            return self.is_null(name, negated)
        if not isinstance(value, bool):
            raise ParseError(f"IS takes NULL, TRUE or FALSE: {sql_of(node)}")
        found = Compare(name, "=", value)
        return Not(found) if negated else found

    def between(self, node: Any, negated: bool) -> Expr:
        low, high = value_of(node.args["low"]), value_of(node.args["high"])
        if low is None or high is None:
            raise ParseError("an end of BETWEEN is NULL")
        if type(low) is not type(high) and str in (type(low), type(high)):
            raise TypeMismatch(f"the ends of BETWEEN have different types: {sql_of(node)}")
        if node.args.get("symmetric") and low > high:
            low, high = high, low
        for value in (low, high):
            self._about(value, "<")
        return self._leaf(Between(name_of(node.this), low, high), negated)

    def in_(self, node: Any, negated: bool) -> Expr:
        unnest = node.args.get("unnest")
        if unnest is not None:
            inner = bare(unnest.expressions[0])
            if is_column(inner):
                return self._compared(name_of(inner), "=", value_of(node.this), negated)
            return self._among(name_of(node.this), values_of(inner.expressions), negated)
        if node.args.get("query") is not None or node.args.get("field") is not None:
            raise ParseError(f"Tamis has no tables to look up: {sql_of(node)}")
        values = values_of(node.expressions)
        left = bare(node.this)
        if isinstance(left, _FOLDED):
            parts = [self._folded(left, "=", value, negated) for value in values]
            return all_of(parts) if negated else either(parts)
        return self._among(name_of(left), values, negated)

    def _among(self, name: str, values: list[Any], negated: bool) -> Expr:
        if negated and None in values:
            return FALSE  # NOT IN with NULL is never true
        plain = tuple(value for value in values if value is not None)
        for value in plain:
            self._about(value, "=")
        if not plain:
            return FALSE
        return self._leaf(In(name, plain), negated)

    # ----------------------------------------------------------------------------------------------- strings

    def like(self, node: Any, negated: bool, escape: str | None = None) -> Expr:
        left, right = bare(node.this), node.expression
        fold = isinstance(node, exp.ILike)
        if isinstance(left, _FOLDED):
            self._differences.append(_FOLD_RULE)
            left, fold = left.this, True
        if isinstance(right, exp.Any | exp.All):
            inner = bare(right.this)
            nodes = inner.expressions if isinstance(inner, exp.Tuple | exp.Array) else [inner]
            patterns = tuple(self._pattern(value_of(one), escape) for one in nodes)
            quantifier: Any = "any" if isinstance(right, exp.Any) else "all"
            return self._leaf(Likes(name_of(left), quantifier, fold, patterns), negated)
        value = value_of(right)
        if value is None:
            return FALSE
        return self._leaf(Like(name_of(left), self._pattern(value, escape), fold), negated)

    def escape(self, node: Any, negated: bool) -> Expr:
        sign = value_of(node.expression)
        if not isinstance(sign, str) or len(sign) > 1:
            raise ParseError("ESCAPE takes one character")
        refuse_unknown(node.this)
        if node.this.args.get("negate"):
            refuse_ambiguous(node.this)
            negated = not negated
        return self.like(node.this, negated, sign)

    def _pattern(self, value: Any, escape: str | None) -> str:
        """Return a LIKE pattern whose escape is the backslash."""
        if not isinstance(value, str):
            raise TypeMismatch(f"a pattern is a string, not {value!r:.40}")
        self._about(value, "=")
        if escape is None:
            escape = "" if self._dialect in _NO_ESCAPE else "\\"
        found, signs = [], iter(value)
        for sign in signs:
            if escape and sign == escape:
                found.append(literal(next(signs, "\\")))
            else:
                found.append("\\\\" if sign == "\\" else sign)
        return "".join(found)

    def regex(self, node: Any, negated: bool) -> Expr:
        pattern = value_of(node.expression)
        if not isinstance(pattern, str):
            raise TypeMismatch("a regular expression is a string")
        flag = node.args.get("flag")
        flags = set(value_of(flag)) if flag is not None else set()
        if isinstance(node, exp.RegexpILike):
            flags.add("i")
        if flags - set("cims"):
            raise ParseError(f"Tamis does not know the flags {''.join(sorted(flags))!r} of {sql_of(node)}")
        if self._dialect == "mysql":
            self._differences.append(_COLLATION)
        if node.args.get("full_match") or self._dialect == "snowflake":
            pattern = f"^(?:{pattern})$"
        shown = "".join(sorted(flags - {"c"}))
        return self._leaf(Regex(name_of(node.this), f"(?{shown}){pattern}" if shown else pattern), negated)

    def affix(self, node: Any, negated: bool) -> Expr:
        return self._affix(node.this, node.expression, _PLACES[type(node)], negated)

    def _affix(self, column: Any, node: Any, place: Any, negated: bool) -> Expr:
        value = value_of(node)
        if value is None:
            return FALSE
        self._about(value, "=")
        return self._leaf(Affix(name_of(column), place, value), negated)

    # --------------------------------------------------------------------------------- arrays and addresses

    def contains_all(self, node: Any, negated: bool) -> Expr:
        name, values = name_of(node.this), self._array(node.expression)
        parts = [self._leaf(Compare(name, "=", value), negated) for value in values]
        return either(parts) if negated else all_of(parts)

    def overlaps(self, node: Any, negated: bool) -> Expr:
        return self._among(name_of(node.this), self._array(node.expression), negated)

    def array_contains(self, node: Any, negated: bool) -> Expr:
        return self._compared(name_of(node.this), "=", value_of(node.expression), negated)

    def _array(self, node: Any) -> list[Any]:
        node = bare(node)
        if not isinstance(node, exp.Array) or not node.expressions:
            raise ParseError(f"expected a list of values, found {sql_of(node)}")
        values = values_of(node.expressions)
        if None in values:
            raise ParseError("a list of values holds NULL")
        return values

    def in_network(self, node: Any, negated: bool) -> Expr:
        block = bare(node.expression)
        if not (isinstance(block, exp.Cast) and block.to.this is exp.DType.INET):
            raise ParseError(f"Tamis computes nothing: {sql_of(node)}")
        return self._leaf(Network(name_of(node.this), (str(value_of(block)),)), negated)


_PLACES = {exp.StartsWith: "prefix", exp.EndsWith: "suffix", exp.Contains: "contains"}
_READERS: dict[type[Any], Callable[[_Condition, Any, bool], Expr]] = {
    **dict.fromkeys(_SIGNS, _Condition.comparison),
    exp.NullSafeEQ: _Condition.null_safe,
    exp.NullSafeNEQ: _Condition.null_safe,
    exp.Is: _Condition.is_,
    exp.Between: _Condition.between,
    exp.In: _Condition.in_,
    exp.Like: _Condition.like,
    exp.ILike: _Condition.like,
    exp.Escape: _Condition.escape,
    exp.RegexpLike: _Condition.regex,
    exp.RegexpILike: _Condition.regex,
    **dict.fromkeys(_PLACES, _Condition.affix),
    exp.ArrayContainsAll: _Condition.contains_all,
    exp.ArrayOverlaps: _Condition.overlaps,
    exp.ArrayContains: _Condition.array_contains,
    exp.BitwiseLeftShift: _Condition.in_network,
}
