"""Refuse the wildcards of other search languages in terms, because a term is always literal here.

A tokenizer drops ``*``, ``?`` and ``~`` as punctuation, so ``coat*`` would silently look for ``coat``. A
question mark behind a word is punctuation in natural language ("what is this?") and stays allowed.
"""

from __future__ import annotations

import re

from tamis.errors import ParseError

# Linear: no part of a pattern repeats text that another part could match.
_STAR = re.compile(r"[^\W_]\*|\*[^\W_]")
_ONE = re.compile(r"[^\W_]\?[^\W_]")
_FUZZY = re.compile(r"[^\W_]['\"]?~[0-9.]*+\s*+\Z")


def wildcard_in(text: str) -> tuple[str, int] | None:
    """Return the sign in ``text`` that looks like a wildcard, and its place; ``None`` if there is none."""
    if not any(sign in text for sign in "*?~"):
        return None
    for pattern, sign in ((_STAR, "*"), (_ONE, "?"), (_FUZZY, "~")):
        found = pattern.search(text)
        if found is not None:
            return sign, found.start() + found[0].index(sign)
    return None


def refuse_wildcards(text: str) -> None:
    """Raise :class:`~tamis.errors.ParseError` if ``text`` has a wildcard."""
    found = wildcard_in(text)
    if found is not None:
        raise wildcard_error(text, found[0])


def wildcard_error(text: str, sign: str, place: int | None = None, whole: str | None = None) -> ParseError:
    """Return the error about ``sign`` in ``text``.

    ``place`` is the offset of the sign in the ``whole`` input, if known.
    """
    what = "fuzzy terms are" if sign == "~" else "wildcards in terms are"
    return ParseError(
        f"{text[:40]!r} holds {sign!r}, and {what} not supported: write whole words, or match the whole "
        "string with LIKE '%…%', ILIKE or RLIKE",
        text=whole,
        position=place,
        sign=sign,
    )
