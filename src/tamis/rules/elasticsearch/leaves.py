"""Read the queries on one field: term, terms, range, prefix, wildcard, regexp, fuzzy, exists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tamis.errors import ExpressionError, TypeMismatch
from tamis.expression.operands import kind_of
from tamis.expression.predicates import Compare, In, Like, Network, Regex, Text
from tamis.expression.tree import FALSE, Expr
from tamis.language.eventbridge.place import Place
from tamis.language.lucene.regexes import to_re2
from tamis.rules.elasticsearch.fields import DATES, Fields
from tamis.rules.elasticsearch.text import match
from tamis.rules.trees import either, in_range, literal
from tamis.values.text import terms_of

_ISO = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?([T |].*)?")
_WILD = re.compile(r"\\(.)|([*?])|([^*?\\]+|\\)", re.DOTALL)
COMMON = ("boost", "_name")


class Leaves(NamedTuple):
    """A reader of queries on one field; ``differences`` collects where a test decides otherwise."""

    fields: Fields
    differences: list[str]

    def term(self, name: str, value: Any, folded: bool, place: Place) -> Expr:
        """Return the test that a value of the field equals this one."""
        if self.fields.is_text(name):
            return self._word(name, str(value), place)
        if self.fields.type_of(name) == "ip":
            return Network(name, (str(value),))
        found = self.fields.value(name, value, place)
        if folded and isinstance(found, str):
            return Like(name, literal(found), fold=True)
        return Compare(name, "=", found)

    def _word(self, name: str, value: str, place: Place) -> Expr:
        """Return the test that an analysed text has one term."""
        words = terms_of(value)
        if len(words) != 1:
            place.refuse(
                f"{value[:60]!r} is not one word, so a term query on the text field {name} finds nothing"
            )
        if words[0] != value:
            self.differences.append(
                f"{name}: the word {value[:60]!r} is compared without regard to case and accents"
            )
        return Text(name, "any", (words[0],))

    def terms(self, name: str, values: Any, place: Place) -> Expr:
        """Return the test that a value of the field is one of these."""
        if not isinstance(values, list):
            place.refuse(f"expected a list of values, found {kind_of(values)}; Tamis looks no values up")
        if not values:
            return FALSE
        if self.fields.is_text(name) or self.fields.type_of(name) == "ip":
            return either(
                [self.term(name, value, False, place.inside(at)) for at, value in enumerate(values)]
            )
        found = tuple(self.fields.value(name, one, place.inside(at)) for at, one in enumerate(values))
        return In(name, found)

    def range(self, name: str, body: Mapping[str, Any], place: Place) -> Expr:
        """Return the test that one value of the field lies in a range."""
        if body.get("format") not in (
            None,
            "strict_date_optional_time",
            "date_optional_time",
            "epoch_millis",
        ):
            place.refuse(f"the date format {str(body['format'])[:40]!r} is not read; write ISO 8601")
        if body.get("time_zone") not in (None, "UTC", "Z", "+00:00"):
            place.refuse("a time zone other than UTC is not read; write the offset into the dates")
        if str(body.get("relation", "intersects")).lower() != "intersects":
            place.refuse(f"the relation {str(body['relation'])[:40]!r} of ranges is not read")
        low, low_open = self._end(name, body, "gt", place)
        high, high_open = self._end(name, body, "lt", place)
        if self.fields.type_of(name) == "ip":
            place.refuse("a range of addresses is not read; write its blocks as terms")
        if self.fields.is_text(name):
            place.refuse(f"a range of words of the text field {name} is not read")
        with place.blamed():
            return in_range(name, low, high, low_open, high_open)

    def _end(self, name: str, body: Mapping[str, Any], op: str, place: Place) -> tuple[Any, bool]:
        """Return one end of a range, and whether it is open."""
        given = [key for key in (op, f"{op}e") if body.get(key) is not None]
        if len(given) > 1:
            place.refuse(f"a range has {op} or {op}e, not both")
        if not given:
            return None, False
        key, here = given[0], place.inside(given[0])
        value = body[key]
        is_date = self.fields.type_of(name) in DATES
        if not is_date and isinstance(value, str) and not self.fields.type_of(name):
            is_date = _ISO.fullmatch(value) is not None or value.startswith("now")
        if is_date:
            # gt and lte mean the last moment of a day, or of a rounded unit; gte and lt mean the first.
            return self.fields.time(value, here, up=key in ("gt", "lte")), key == op
        found = self.fields.value(name, value, here)
        if isinstance(found, bool):
            here.refuse("a range has no booleans", TypeMismatch)
        return found, key == op

    def prefix(self, name: str, value: Any, folded: bool, place: Place) -> Expr:
        """Return the test that a value, or a word of a text, begins with this."""
        text = self._string(value, place)
        if self.fields.is_text(name):
            return self._pattern_of_word(name, f"{text}*", place)
        return Like(name, literal(text) + "%", folded)

    def wildcard(self, name: str, value: Any, folded: bool, place: Place) -> Expr:
        """Return the test that a value, or a word of a text, is like a pattern."""
        text = self._string(value, place)
        if self.fields.is_text(name):
            return self._pattern_of_word(name, text, place)
        pieces = []
        for escaped, wild, plain in _WILD.findall(text):
            pieces.append({"*": "%", "?": "_"}[wild] if wild else literal(escaped or plain))
        return Like(name, "".join(pieces), folded)

    def regexp(self, name: str, value: Any, folded: bool, place: Place) -> Expr:
        """Return the test that a whole value, or a word of a text, matches an expression."""
        text = self._string(value, place)
        try:
            if self.fields.is_text(name):
                return Text(name, "any", (f"/{to_re2(text)}/",))
            pattern = to_re2(text, folded=False)
        except ExpressionError as bad:
            place.refuse(bad.message, type(bad))
        return Regex(name, f"(?{'i' if folded else ''}s)^(?:{pattern})$")

    def fuzzy(self, name: str, body: Mapping[str, Any], place: Place) -> Expr:
        """Return the test that a word of a text is a few edits away."""
        if self.fields.type_of(name) and not self.fields.is_text(name):
            place.refuse(f"Tamis counts edits in words, and the field {name} is no text")
        words = terms_of(self._string(body.get("value"), place))
        if len(words) != 1:
            place.refuse("fuzzy takes one word")
        return match(name, {"fuzziness": "AUTO", **body, "query": words[0]}, place)

    def _pattern_of_word(self, name: str, pattern: str, place: Place) -> Expr:
        with place.blamed():
            found = Text(name, "any", (pattern,)).checked(place.limits)
        if found.reading.mode != "any" or len(found.reading.terms) != 1:
            place.refuse(f"{pattern[:60]!r} is not one word, and {name} is a text")
        self.differences.append(f"{name}: the words of {pattern[:60]!r} are compared without regard to case")
        return found

    def _string(self, value: Any, place: Place) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            place.refuse(f"expected a text, found {kind_of(value)}", TypeMismatch)
        return str(value)
