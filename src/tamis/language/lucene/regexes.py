"""Translate the regular expressions of Lucene, which match whole words, into the syntax of RE2."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from tamis.errors import PatternError
from tamis.values.pattern import quote

_COUNT = re.compile(r"\{[0-9]{1,9}+(?:,[0-9]{0,9}+)?+\}")
_REFUSED = {
    "~": "a complement (~); RE2 has none. Escape it as \\~ if it is meant as a character",
    "&": "an intersection (&); RE2 has none. Write two conditions and AND",
    "<": "a range of numbers (<1-10>); RE2 has none. Write the alternatives",
    "#": "the empty set (#), which no word satisfies",
    "^": "an anchor (^); it matches the whole word anyway. Leave it out",
    "$": "an anchor ($); it matches the whole word anyway. Leave it out",
}


def to_re2(pattern: str, folded: bool = True) -> str:
    """Return the expression for RE2, or raise :class:`~tamis.errors.PatternError` with the place in it.

    If it is ``folded``, letters are folded like words: case and accents do not count.
    """
    return "".join(_pieces(_folded(pattern) if folded else pattern))


def _folded(pattern: str) -> str:
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", pattern).casefold())
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _pieces(pattern: str) -> Iterator[str]:
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        if sign in _REFUSED:
            raise _refusal(_REFUSED[sign], at)
        if sign == "\\":
            yield _escaped(pattern, at)
            at += 2
        elif sign == "[":
            end = _class_end(pattern, at)
            yield _class(pattern[at + 1 : end])
            at = end + 1
        elif sign == '"':
            end = pattern.find('"', at + 1)
            if end < 0:
                raise _refusal('a quotation mark without its partner; escape it as \\"', at)
            yield f"(?:{''.join(map(_literal, pattern[at + 1 : end]))})"
            at = end + 1
        elif sign == "{":
            count = _COUNT.match(pattern, at)
            if count is None:
                raise _refusal("a brace that opens no count such as {2} or {1,3}; escape it as \\{", at)
            yield count[0]
            at = count.end()
        else:
            yield _plain(pattern, at)
            at += 1


def _plain(pattern: str, at: int) -> str:
    sign = pattern[at]
    if sign == "@":
        return "(?:.*)"
    if sign == "(":
        if pattern.startswith("?", at + 1):
            raise _refusal("a group that begins with ?; Lucene has none of these", at)
        return "(?:"
    return sign if sign in ".|*+?)" else _literal(sign)


def _literal(sign: str) -> str:
    if sign.isspace():  # a written term holds no space
        return f"\\x{{{ord(sign):x}}}"
    return "/" if sign == "/" else quote(sign)


def _escaped(pattern: str, at: int) -> str:
    if at + 1 == len(pattern):
        raise _refusal("a backslash at its end", at)
    sign = pattern[at + 1]
    if sign.isalpha() and sign not in "dsw":
        raise _refusal(f"\\{sign}, which Lucene does not know; write the letter alone", at)
    return f"\\{sign}" if sign in "dsw" else _literal(sign)


def _class_end(pattern: str, at: int) -> int:
    end = at + 1 + pattern.startswith("^", at + 1)
    while end < len(pattern) and pattern[end] != "]":
        end += 2 if pattern[end] == "\\" else 1
    if end >= len(pattern):
        raise _refusal("a bracket without its partner; escape it as \\[", at)
    return end


def _class(inside: str) -> str:
    """Return a class of characters; RE2 gives a meaning to more signs in it than Lucene does."""
    negated = inside.startswith("^")
    found = ["[^" if negated else "["]
    at = int(negated)
    while at < len(inside):
        sign = inside[at]
        if sign == "\\":
            found.append(_escaped(inside, at))
            at += 1
        else:
            found.append(sign if sign == "-" or sign.isalnum() else _literal(sign))
        at += 1
    return "".join(found) + "]"


def _refusal(what: str, at: int) -> PatternError:
    return PatternError(f"the expression has {what}", text=None, position=at)
