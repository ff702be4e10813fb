"""Find the highlights of a match: the words of an event because of which a subscription matches.

``docs/text.md`` defines them. They come from the positive predicates that make the expression true. Whether
an expression is true is decided by :mod:`tamis.expression.truth`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

from tamis.errors import InputError
from tamis.expression.predicates import Predicate
from tamis.expression.tree import And, Expr, Not, Or
from tamis.expression.truth import holds, matches
from tamis.limits import DEFAULT_LIMITS
from tamis.values.event import Event
from tamis.values.marks import MarkStyle, marked_pieces, snippet, with_marks
from tamis.values.value import Value, short

SNIPPET = 200  # characters
SNIPPETS = 20  # of one attribute, in plain data


class Highlight(NamedTuple):
    """A part of a value: the number of the value, its characters, and the term that they satisfy."""

    value: int
    start: int
    end: int
    term: str


class Highlights(dict[str, list[Highlight]]):
    """The highlights of a subscription in an event, by attribute, in the order of the text.

    ``texts`` has the texts of the values with highlights, in NFC, as the offsets count them. ``more`` is true
    if the limit ``highlights`` left some out.
    """

    def __init__(self, found: dict[str, list[Highlight]], event: Event, more: bool) -> None:
        super().__init__({name: sorted(some) for name, some in found.items()})
        self.more = more
        self.texts: dict[str, dict[int, str]] = {
            name: {one.value: str(event.attributes[name][one.value]) for one in some}
            for name, some in self.items()
        }

    def __repr__(self) -> str:
        return f"Highlights({super().__repr__()}{', more=True' if self.more else ''})"

    def pieces(self, attribute: str) -> dict[int, list[str]]:
        """Return each text of an attribute that has highlights, in unmarked and marked pieces in turn."""
        return pieces_of(self.get(attribute, ()), self.texts.get(attribute, {}))

    def marked(
        self, attribute: str, style: MarkStyle = "html", *, characters: int | None = None
    ) -> list[str]:
        """Return the texts of an attribute with marks, as escaped HTML or as text with ``**``.

        Texts without highlights are left out. With ``characters``, each text is cut to so many around its
        first mark.
        """
        if characters is not None and (type(characters) is not int or characters < 1):
            raise InputError(f"characters is a whole number of at least 1, not {short(characters)}")
        return [
            with_marks(pieces if characters is None else snippet(pieces, characters), style)
            for pieces in self.pieces(attribute).values()
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the highlights as plain data, ready for JSON, with a snippet of each text."""
        return {
            "attributes": {
                name: [plain(one, self.texts[name][one.value]) for one in some] for name, some in self.items()
            },
            "snippets": [one for name in self for one in snippets_of(name, self.pieces(name))],
            "more": self.more,
        }


def plain(one: Highlight, text: str) -> dict[str, Any]:
    """Return a highlight as plain data, with its characters."""
    return {**one._asdict(), "text": text[one.start : one.end]}


def pieces_of(some: Iterable[Highlight], texts: Mapping[int, Value]) -> dict[int, list[str]]:
    """Return the text of each value that has highlights, in unmarked and marked pieces in turn."""
    return {
        number: marked_pieces(str(texts[number]), [(one.start, one.end) for one in group])
        for number, group in groupby(sorted(some), itemgetter(0))
    }


def snippets_of(attribute: str, pieces: dict[int, list[str]]) -> list[dict[str, Any]]:
    """Return snippets of the first texts of an attribute as plain data."""
    return [
        {"attribute": attribute, "value": number, "pieces": snippet(one, SNIPPET)}
        for number, one in islice(pieces.items(), SNIPPETS)
    ]


def highlights(expr: Expr, event: Event, most: int = DEFAULT_LIMITS.highlights) -> Highlights | None:
    """Return at most ``most`` highlights of ``expr`` in ``event``; ``None`` if it does not match.

    Predicates are looked at in the order of the expression, until there are too many highlights.
    """
    true = _true_predicates(expr, event)
    if true is None:
        return None
    found: dict[str, dict[Highlight, None]] = {}
    left = most
    for predicate in true:
        known = found.setdefault(predicate.attribute, {})
        for one in found_by(predicate, event.attributes.get(predicate.attribute, ())):
            if one in known:
                continue
            if not left:
                return _gathered(found, event, more=True)
            known[one] = None
            left -= 1
    return _gathered(found, event, more=False)


def _gathered(found: dict[str, dict[Highlight, None]], event: Event, *, more: bool) -> Highlights:
    return Highlights({name: list(some) for name, some in found.items() if some}, event, more)


def found_by(predicate: Predicate, values: tuple[Value, ...]) -> Iterator[Highlight]:
    """Yield the parts of values because of which the positive form of a predicate holds."""
    for number, value in enumerate(values):
        if predicate.accepts(value):
            for start, end, term in predicate.occurrences(value):
                yield Highlight(number, start, end, term)


def _true_predicates(expr: Expr, event: Event) -> list[Predicate] | None:
    """Return the positive predicates that make ``expr`` true, none below NOT; ``None`` if it is false."""
    if isinstance(expr, And):
        parts = [_true_predicates(child, event) for child in expr.children]
        return None if None in parts else [one for part in parts for one in part or ()]
    if isinstance(expr, Or):
        true = [part for child in expr.children if (part := _true_predicates(child, event)) is not None]
        return [one for part in true for one in part] if true else None
    if isinstance(expr, Not):
        return None if matches(expr.child, event) else []
    if not holds(expr, event.attributes.get(expr.attribute, ())):
        return None
    return [] if expr.is_negative else [expr]
