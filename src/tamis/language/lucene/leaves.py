"""Turn the terms, phrases and ranges of a Lucene query into predicates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from tamis.errors import ExpressionError, ParseError, PatternError
from tamis.expression.predicates import Compare, CompareOp, Exists, Near, Predicate, Text
from tamis.expression.tree import TRUE, And, Expr, Or
from tamis.language.lucene.regexes import to_re2
from tamis.language.lucene.tokens import Token, fail, range_of, unescaped, wildcards_of
from tamis.language.lucene.values import End, compared, end_of, value_of
from tamis.limits import Limits
from tamis.values.analysis import DEFAULT, GAP, Analysers, analyser_of
from tamis.values.terms.edits import MOST_EDITS
from tamis.values.terms.kinds import Regex, one_word
from tamis.values.text import terms_of

ANY_FIELD = "*"
_EXISTS = "_exists_"
_SLOP = re.compile(r"~([0-9]{1,9})?(\.[0-9]{1,9})?")
_COMPARED = re.compile(r"(>=|<=|>|<)(?=.)")


class Leaves(NamedTuple):
    """A maker of predicates for one query.

    ``required`` says whether all words of a term must be there (the default operator is AND), ``typed``
    whether numbers and times are compared as values.
    """

    query: str
    fields: tuple[str, ...]
    required: bool
    typed: bool
    limits: Limits
    analysers: Analysers

    def leaf(self, token: Token, fuzzy: Token | None, name: str | None) -> Expr | None:
        """Return the condition of a token on a field; ``None`` if it holds no word, so Lucene ignores it."""
        if token.kind in ("term", "bare"):
            return self._fuzzy(token, fuzzy, name) if fuzzy is not None else self._term(token, name)
        if token.kind == "quoted":
            return self._phrase(token, fuzzy, name)
        if fuzzy is not None:
            fail(
                "no ~ behind wildcards, expressions and ranges: it follows a word or a phrase",
                self.query,
                fuzzy.start,
            )
        if token.kind == "regex":
            regex = self._regex(token)
            return self._on_fields(name, token, lambda field: _word(field, regex))
        if token.kind == "range":
            return self._range(token, name)
        return self._wildcard(token, name)

    # ---------------------------------------------------------------------------------------- words, phrases

    def _term(self, token: Token, name: str | None) -> Expr | None:
        text = unescaped(token.text, token.start, self.query)
        if name == _EXISTS:
            return self._checked(Exists(text), token)
        if self.typed and name is not None and (sign := _COMPARED.match(text)) is not None:
            return self._comparison(name, sign, text, token)
        fields = self.fields if name is None else (name,)
        found = self._analysed_words(text, fields, token)
        value = value_of(text) if self.typed and name is not None else None
        if value is not None:
            found.insert(0, self._checked(Compare(str(name), "=", value), token))
        return Or(tuple(found)) if found else None

    def _analysed_words(self, text: str, fields: tuple[str, ...], token: Token) -> list[Expr]:
        """Return a condition for each word of a text, or one for all of them if all are required.

        The fields may have analysers that find other words.
        """
        if not self.analysers.keys() & set(fields):
            found: list[Expr] = [self._words(fields, word, token) for word in terms_of(text)]
            return [And(tuple(found))] if found and self.required else found
        found = []
        for field in fields:
            words: list[Expr] = [self._words((field,), word, token) for word in self._surfaces(field, text)]
            found += [And(tuple(words))] if words and self.required else words
        return found

    def _surfaces(self, field: str, text: str) -> list[str]:
        """Return the words of a text as they are written, if the field's analyser keeps them."""
        words = analyser_of(self.analysers.get(field, DEFAULT)).words(text)
        spans = zip(words.terms, words.spans, strict=True)
        return [text[low:high] for low, high in dict.fromkeys(span for term, span in spans if term != GAP)]

    def _comparison(self, name: str, sign: re.Match[str], text: str, token: Token) -> Expr:
        end = end_of(text[sign.end() :])
        if end is None:
            fail(f"a number or a date behind {sign[0]}", self.query, token.start, token)
        op: CompareOp = sign[0]  # type: ignore[assignment]
        return self._checked(Compare(name, op, end.last if op in (">", "<=") else end.value), token)

    def _phrase(self, token: Token, fuzzy: Token | None, name: str | None) -> Expr | None:
        text = unescaped(token.text[1:-1], token.start + 1, self.query)
        slop = 0 if fuzzy is None else int(self._number(fuzzy, 0))
        fields = self.fields if name is None else (name,)
        kept = tuple(field for field in fields if name == ANY_FIELD or self._surfaces(field, text))
        return self._on(kept, token, lambda field: self._phrase_on(field, text, slop)) if kept else None

    def _phrase_on(self, field: str, text: str, slop: int) -> Predicate:
        words = (text,) if field in self.analysers else (" ".join(terms_of(text)),)
        if slop and Text(field, "phrase", words).bound(self.analysers).size > 1:
            return Near(field, "slop", words, slop)
        return Text(field, "phrase", words)

    def _fuzzy(self, token: Token, fuzzy: Token, name: str | None) -> Expr | None:
        text = unescaped(token.text, token.start, self.query)
        if not terms_of(text):
            return None
        number, word = self._number(fuzzy, MOST_EDITS), self._letters(text, token)
        if number >= 1 and number != int(number):
            fail("a whole number of edits, or a similarity below 1, behind ~", self.query, fuzzy.start, fuzzy)
        edits = int(number) if number >= 1 else int((1 - number) * len(word)) if number else 0
        edits = min(edits, MOST_EDITS)  # as in Lucene, which takes ~3 as ~2
        behind = f"~{edits}" if edits else ""
        return self._on_fields(name, token, lambda field: _word(field, self._in(field, word) + behind))

    def _number(self, fuzzy: Token, default: float) -> float:
        written = _SLOP.fullmatch(fuzzy.text)
        if written is None or (written[2] and not written[1]):
            fail("a number behind ~", self.query, fuzzy.start, fuzzy)
        return float(fuzzy.text[1:]) if written[1] else default

    # -------------------------------------------------------------------------------- wildcards, expressions

    def _wildcard(self, token: Token, name: str | None) -> Expr:
        if token.kind == "star" or not token.text.strip("*"):
            if name == ANY_FIELD and token.kind == "star":
                return TRUE
            return self._on_fields(name, token, Exists)
        pieces = wildcards_of(token.text)
        at, found = token.start, []
        for piece in pieces:
            is_sign = piece in ("*", "?")
            found.append(piece if is_sign else self._letters(unescaped(piece, at, self.query), token))
            at += len(piece)
        return self._on_fields(name, token, lambda field: _word(field, self._pattern(field, found)))

    def _pattern(self, field: str, pieces: list[str]) -> str:
        folded = [piece if piece in ("*", "?") else self._in(field, piece) for piece in pieces]
        term = re.sub(r"\*+", "*", "".join(folded))
        if any(map(str.isalnum, term)) and set("*?") & set(term.rstrip("?")):
            return term
        # Our language reads these signs as punctuation, so an expression says it.
        return f"/{term.replace('*', '.*').replace('?', '.')}/"

    def _in(self, field: str, letters: str) -> str:
        """Return the letters of a pattern, folded unless the field's analyser does that in its own way."""
        return letters if field in self.analysers else one_word(letters)

    def _letters(self, text: str, token: Token) -> str:
        """Return a text if it is one word, without any sign."""
        strange = next((sign for sign in text if not (sign.isalnum() or unicodedata.combining(sign))), None)
        if strange is None:
            try:
                one_word(text)
            except PatternError as bad:
                raise self._placed(bad, token) from None
            return text
        reason = (
            f"{str(token)!r}: wildcards, ~ and ranges take one word, and {strange!r} is no letter or digit"
        )
        raise PatternError(f"{reason}; join several words by AND", text=self.query, position=token.start)

    def _regex(self, token: Token) -> str:
        try:
            return Regex(to_re2(token.text[1:-1])).text()
        except PatternError as bad:
            bad.position = token.start + 1 + (bad.position or 0)
            raise self._placed(bad, token) from None

    # ------------------------------------------------------------------------------------------------ ranges

    def _range(self, token: Token, name: str | None) -> Expr:
        written = range_of(token)
        quoted = any(end.startswith('"') for end in (written.low, written.high))
        low, high = (
            None
            if end == "*"
            else unescaped(end[1:-1] if end.startswith('"') else end, token.start, self.query)
            for end in (written.low, written.high)
        )
        if low is None and high is None:
            return self._on_fields(name, token, Exists)
        if self.typed and not quoted:
            first, last = (None if end is None else end_of(end) for end in (low, high))
            if (first is None) == (low is None) and (last is None) == (high is None):
                return self._on_fields(name, token, lambda field: self._values(field, first, last, token))
        ends = [None if end is None else self._letters(end, token) for end in (low, high)]
        opening, closing = "[{"[written.low_open], "]}"[written.high_open]

        def term(field: str) -> str:
            words = ["*" if end is None else self._in(field, end) for end in ends]
            return f"{opening}{words[0]} TO {words[1]}{closing}"

        return self._on_fields(name, token, lambda field: _word(field, term(field)))

    def _values(self, name: str, low: End | None, high: End | None, token: Token) -> Predicate:
        written = range_of(token)
        found = compared(name, low, high, written.low_open, written.high_open)
        if found is None:
            fail("two numbers or two dates; quotes make them words", self.query, token.start, token)
        return found

    # ----------------------------------------------------------------------------------------------- support

    def _words(self, fields: tuple[str, ...], word: str, token: Token) -> Expr:
        return self._on(fields, token, lambda field: _word(field, word))

    def _on_fields(self, name: str | None, token: Token, make: Callable[[str], Predicate]) -> Expr:
        """Return the checked predicate on the field, or on any of the default fields."""
        return self._on(self.fields if name is None else (name,), token, make)

    def _on(self, fields: tuple[str, ...], token: Token, make: Callable[[str], Predicate]) -> Expr:
        if ANY_FIELD in fields:
            fail("*:* for all events; name the field otherwise", self.query, token.start, token)
        return Or(tuple([self._checked(make(field), token) for field in fields]))

    def _checked(self, predicate: Predicate, token: Token) -> Predicate:
        try:
            return predicate.bound(self.analysers).checked(self.limits)
        except ExpressionError as bad:
            raise self._placed(bad, token) from None

    def _placed(self, bad: ExpressionError, token: Token) -> ExpressionError:
        """Return an error with its place in the query."""
        place = token.start if bad.position is None else bad.position
        bad.text, bad.position = self.query, place
        bad.details["position"] = place
        return bad


def _word(field: str, term: str) -> Predicate:
    return Text(field, "any", (term,))


def nothing(query: str) -> ParseError:
    """Return the error that a query holds no word at all."""
    return ParseError("there is nothing to search for; *:* finds all events", text=query, position=0)
