"""Read queries of Lucene's classic query parser: ``title:(wool AND coat*) -size:XS price:[10 TO 50}``.

A query is a list of clauses. Each clause is required, optional or prohibited, by Lucene's own rules: in ``a
AND b OR c``, a and b are required, and c is optional. Optional clauses exclude nothing if another one is
required.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, NoReturn

import msgspec

from tamis.errors import InputError, ParseError
from tamis.expression.operands import clean_name, depth_limit, over
from tamis.expression.tree import TRUE, And, Expr, Not, Or
from tamis.language.check import check_tree
from tamis.language.lucene.leaves import ANY_FIELD, Leaves, nothing
from tamis.language.lucene.tokens import Token, fail, tokens_of, unescaped
from tamis.language.parse import utf8_size
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.analysis import NO_ANALYSERS, Analysers

Occur = Literal["must", "should", "must not"]
_TERMS = ("term", "bare", "star", "prefix", "wildcard", "regex", "range", "quoted")


def from_lucene(
    text: str,
    default_field: str | Sequence[str] = "text",
    default_operator: str = "OR",
    typed: bool = True,
    limits: Limits = DEFAULT_LIMITS,
    analysers: Analysers = NO_ANALYSERS,
) -> Expr:
    """Return the tree of a query in the syntax of Lucene's classic query parser.

    A term without a field looks into ``default_field``, or any of several. ``default_operator`` says whether
    terms without an operator between them are required (AND) or optional (OR). Unless ``typed`` is false,
    ranges between numbers or ISO dates compare values, and a number behind a field name also equals a number.
    """
    if not isinstance(text, str):
        raise ParseError(f"a Lucene query is a string, not a {type(text).__name__}")
    if (size := utf8_size(text)) > limits.expression_bytes:
        raise over("expression_bytes", limits.expression_bytes, f"the query has {size} bytes")
    fields = (default_field,) if isinstance(default_field, str) else tuple(default_field)
    if not fields:
        raise InputError("default_field names no field; name one, or several")
    if default_operator not in ("AND", "OR"):
        raise InputError(f"default_operator is 'AND' or 'OR', not {default_operator!r}")
    names = tuple(clean_name(name, limits) for name in fields)
    leaves = Leaves(text, names, default_operator == "AND", typed, limits, analysers)
    tree = _Parser(leaves).whole()
    return check_tree(tree, limits, analysers)


class _Clause(NamedTuple):
    occur: Occur
    expr: Expr
    start: int


class _Parser:
    """A reader of the tokens of one query."""

    def __init__(self, leaves: Leaves) -> None:
        self._leaves = leaves
        self._text = leaves.query
        self._tokens = tokens_of(leaves.query)
        self._at = 0
        self._deepest = depth_limit(leaves.limits)

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def whole(self) -> Expr:
        """Return the tree of the whole query."""
        if len(self._tokens) == 1:
            raise nothing(self._text)
        found = self._query(None, 1)
        if self._at < len(self._tokens) - 1:
            self._fail("a term, or the end")
        if found is None:
            raise nothing(self._text)
        return found

    def _query(self, name: str | None, depth: int) -> Expr | None:
        """Read clauses up to a closing parenthesis or the end; ``None`` if they hold no word."""
        if depth > self._deepest:
            bad = over("expression_depth", self._deepest, f"the query is at least {depth} levels deep")
            bad.text, bad.position = self._text, self._token.start
            raise bad
        clauses: list[_Clause] = []
        first = True
        while first or self._token.kind not in (")", "end"):
            joined = "" if first else self._one_of("and", "or")
            start = self._token.start
            modifier = self._one_of("+", "-", "not")
            found = self._clause(name, depth)
            self._add(clauses, joined, modifier, found, start)
            first = False
        return self._joined(clauses)

    def _add(self, clauses: list[_Clause], joined: str, modifier: str, expr: Expr | None, start: int) -> None:
        """Add a clause as Lucene does: AND also requires the clause before it."""
        required = self._leaves.required
        if clauses and clauses[-1].occur != "must not":
            if joined == "and":
                clauses[-1] = clauses[-1]._replace(occur="must")
            elif joined == "or" and required:
                clauses[-1] = clauses[-1]._replace(occur="should")
        if expr is None:
            return
        occur: Occur = "should"
        if modifier in ("-", "not"):
            occur = "must not"
        elif (required and joined != "or") or (not required and (modifier == "+" or joined == "and")):
            occur = "must"
        clauses.append(_Clause(occur, expr, start))

    def _joined(self, clauses: list[_Clause]) -> Expr | None:
        if not clauses:
            return None
        must, should, denied = (
            [clause.expr for clause in clauses if clause.occur == occur]
            for occur in ("must", "should", "must not")
        )
        if not must and not should:
            what = "a query, or a group, of prohibited clauses alone finds nothing in Lucene"
            hint = "write *:* before it to find all other events: *:* -leather"
            raise ParseError(f"{what}; {hint}", text=self._text, position=clauses[0].start)
        found: list[Expr] = list(must)
        found += [_any_of(one, TRUE) for one in should] if must else [_any_of(*should)]
        return _bare(And((*(one for one in found if one != TRUE), *map(Not, denied))))

    def _clause(self, name: str | None, depth: int) -> Expr | None:
        token = self._token
        if token.kind in ("term", "star") and self._tokens[self._at + 1].kind == ":":
            self._at += 2
            name = ANY_FIELD if token.kind == "star" else unescaped(token.text, token.start, self._text)
            token = self._token
        if token.kind == "(":
            self._at += 1
            inner = self._query(name, depth + 1)
            if self._token.kind != ")":
                self._fail(f"')' for the parenthesis at {token.start}")
            self._at += 1
            return self._boosted(inner, self._one_token("boost"))
        if token.kind not in _TERMS:
            self._fail("a term, a phrase, a range or a group")
        self._at += 1
        boost, fuzzy = self._one_token("boost"), self._one_token("fuzzy")
        boost = boost or self._one_token("boost")
        found = self._leaves.leaf(token, fuzzy, name)
        return self._boosted(None if found is None else _bare(found), boost)

    def _boosted(self, expr: Expr | None, boost: Token | None) -> Expr | None:
        if expr is None or boost is None:
            return expr
        factor = float(boost.text[1:])
        try:
            return check_tree(weighted(expr, factor), self._leaves.limits, self._leaves.analysers)
        except ParseError as bad:
            bad.text, bad.position = self._text, boost.start
            raise

    def _one_of(self, *kinds: str) -> str:
        """Consume the current token and return its kind if it is one of these; return '' otherwise."""
        kind = self._token.kind
        if kind not in kinds:
            return ""
        self._at += 1
        return kind

    def _one_token(self, kind: str) -> Token | None:
        token = self._token
        return token if self._one_of(kind) else None

    def _fail(self, expected: str) -> NoReturn:
        fail(expected, self._text, self._token.start, self._token)


def _any_of(*parts: Expr) -> Expr:
    """Return the disjunction of the parts, without disjunctions inside it."""
    flat = [one for part in parts for one in (part.children if isinstance(part, Or) else (part,))]
    return _bare(Or(tuple(flat)))


def _bare(expr: Expr) -> Expr:
    """Return the only child of a conjunction or disjunction of one."""
    while isinstance(expr, And | Or) and len(expr.children) == 1:
        expr = expr.children[0]
    return expr


def weighted(expr: Expr, factor: float) -> Expr:
    """Return a tree whose predicates count ``factor`` times as much."""
    if isinstance(expr, And | Or):
        return type(expr)(tuple([weighted(child, factor) for child in expr.children]))
    if isinstance(expr, Not):
        return expr
    return msgspec.structs.replace(expr, weight=expr.weight * factor)
