"""The kinds of terms: each tests one word, and has one written form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tamis.errors import PatternError
from tamis.values.pattern import compiled, quote
from tamis.values.terms.edits import MOST, MOST_EDITS, is_within
from tamis.values.text import terms_of


class Word(NamedTuple):
    """A word as it is."""

    word: str

    def matches(self, word: str) -> bool:
        """Return whether a folded word is this one."""
        return word == self.word

    def text(self) -> str:
        """Return the written form."""
        return self.word


class Gap(NamedTuple):
    """A place in a phrase where any word may stand: the word that the search had there is left out."""

    def matches(self, word: str) -> bool:
        """Return true: every word fits."""
        return True

    def text(self) -> str:
        """Return the written form."""
        return ""


class Literal(NamedTuple):
    """A term as an analyser made it, which may have signs that mean more in the other kinds of terms."""

    word: str

    def matches(self, word: str) -> bool:
        """Return whether a term of a text is this one."""
        return word == self.word

    def text(self) -> str:
        """Return the written form."""
        return f"={self.word}"


class Wildcard(NamedTuple):
    """Pieces of a word, with ``*`` and ``?`` between them."""

    pattern: str

    def matches(self, word: str) -> bool:
        """Return whether a folded word fits the pattern."""
        if self.is_prefix:
            return word.startswith(self.pattern[:-1])
        if self.is_suffix:
            return word.endswith(self.pattern[1:])
        return compiled(self.regex).search(word) is not None

    @property
    def is_prefix(self) -> bool:
        """Whether the only wildcard is a ``*`` at the end."""
        return self.pattern.endswith("*") and _is_word(self.pattern[:-1])

    @property
    def is_suffix(self) -> bool:
        """Whether the only wildcard is a ``*`` at the beginning."""
        return self.pattern.startswith("*") and _is_word(self.pattern[1:])

    @property
    def regex(self) -> str:
        """The regular expression that the whole word matches."""
        signs = {"*": ".*", "?": "."}
        return "(?s)^" + "".join(signs.get(sign) or quote(sign) for sign in self.pattern) + "$"

    def text(self) -> str:
        """Return the written form."""
        return self.pattern


class Fuzzy(NamedTuple):
    """A word that may differ by some edits behind a prefix that may not."""

    word: str
    edits: int
    prefix: int = 0
    distance: str = ""  # the name of another distance

    def matches(self, word: str) -> bool:
        """Return whether a folded word is at most so many edits away, and begins alike."""
        kept = self.word[: self.prefix]
        rest = self.word[self.prefix :], word[len(kept) :]
        return word.startswith(kept) and is_within(self.distance, *rest, self.edits)

    def text(self) -> str:
        """Return the written form."""
        prefix, name = f",{self.prefix}" if self.prefix else "", f":{self.distance}" if self.distance else ""
        return f"{self.word}~{self.edits}{prefix}{name}"


class Regex(NamedTuple):
    """A regular expression that the whole word matches."""

    pattern: str

    def matches(self, word: str) -> bool:
        """Return whether the whole folded word matches."""
        return compiled(self.regex).search(word) is not None

    @property
    def regex(self) -> str:
        """The regular expression for a whole word."""
        return f"^(?:{self.pattern})$"

    def text(self) -> str:
        """Return the written form."""
        return f"/{self.pattern.replace('/', chr(92) + '/')}/"


class Range(NamedTuple):
    """Words from ``low`` to ``high`` in the order of their characters; ``None`` is open."""

    low: str | None
    high: str | None
    low_open: bool = False
    high_open: bool = False

    def matches(self, word: str) -> bool:
        """Return whether a folded word lies in the range."""
        if self.low is not None and (word < self.low or (self.low_open and word == self.low)):
            return False
        return self.high is None or word < self.high or (not self.high_open and word == self.high)

    def text(self) -> str:
        """Return the written form."""
        ends = "[{"[self.low_open], "]}"[self.high_open]
        return f"{ends[0]}{self.low or '*'} TO {self.high or '*'}{ends[1]}"


Term = Word | Wildcard | Fuzzy | Regex | Range | Literal | Gap
Letters = Callable[[str], str]

_FUZZY = re.compile(r"(.+)~([0-9]*)(?:,([0-9]{1,9}))?(?::([A-Za-z]++))?\Z", re.DOTALL)
_RANGE = re.compile(r"([\[{])\s*+(\S++)\s++TO\s++(\S+?)\s*+([\]}])\Z")


def as_word(text: str) -> str | None:
    """Return the word that a term asks for; ``None`` if it is a pattern."""
    if text.startswith("="):
        return text[1:]
    return text if text.isalnum() else None


def one_word(text: str) -> str:
    """Return the one folded word that a text consists of."""
    words = terms_of(text)
    if len(words) != 1:
        found = "no word" if not words else f"{len(words)} words ({', '.join(words[:5])})"
        raise PatternError(f"{text[:80]!r} holds {found} where one is expected")
    return words[0]


@lru_cache(maxsize=65_536)
def read_term(text: str, letters: Letters = one_word) -> Term:
    """Return the term with this written form, or raise :class:`~tamis.errors.PatternError`.

    ``letters`` turns the letters of a pattern into the form that they have in the terms of texts.
    """
    if text.startswith("="):
        return Literal(text[1:])
    if not text:
        return Gap()
    if text.startswith("/"):
        return _regex(text)
    if text[:1] in ("[", "{"):
        return _range(text, letters)
    fuzzy = _FUZZY.match(text)
    if fuzzy is not None:
        return _fuzzy(text, letters, *fuzzy.groups())
    if "*" in text or "?" in text:
        return _wildcard(text, letters)
    return Word(letters(text))


def _is_word(text: str) -> bool:
    return bool(text) and not any(sign in text for sign in "*?")


def _regex(text: str) -> Regex:
    if len(text) < 3 or not text.endswith("/"):
        raise PatternError(
            f"a regular expression of words stands between slashes: /colou?r/, not {text[:80]!r}"
        )
    found = Regex(text[1:-1].replace("\\/", "/"))
    compiled(found.regex)  # raises an error if RE2 does not take it
    return found


def _range(text: str, letters: Letters) -> Range:
    found = _RANGE.match(text)
    if found is None:
        raise PatternError(f"a range of words is [low TO high] or {{low TO high}}, not {text[:80]!r}")
    low, high = (None if end == "*" else letters(end) for end in (found[2], found[3]))
    if low is None and high is None:
        raise PatternError("a range of words needs an end; every word lies in [* TO *]")
    return Range(low, high, found[1] == "{" and low is not None, found[4] == "}" and high is not None)


def _fuzzy(
    text: str, letters: Letters, word: str, edits: str, prefix: str | None, name: str | None
) -> Fuzzy | Word:
    distance = (name or "").lower()
    if distance not in MOST:
        known = " and ".join(f":{one}" for one in MOST if one)
        raise PatternError(f"{text[:80]!r}: there is no distance :{distance[:40]}; there are {known}")
    most = MOST[distance]
    if len(edits) > 1 or int(edits or MOST_EDITS) > most:
        more = f"; {MOST['levenshtein']} are allowed as ~3:levenshtein, without swaps" if not distance else ""
        raise PatternError(f"{text[:80]!r}: a fuzzy word is at most {most} edits away{more}")
    near, count = letters(word), int(edits or MOST_EDITS)
    return Fuzzy(near, count, min(int(prefix or 0), len(near)), distance) if count else Word(near)


def _wildcard(text: str, letters: Letters) -> Wildcard:
    pieces = [
        piece if piece in ("*", "?") else letters(piece) for piece in re.split(r"([*?])", text) if piece
    ]
    if all(piece in ("*", "?") for piece in pieces):
        raise PatternError(f"{text[:80]!r} has no letter; IS NOT NULL asks whether there is a value")
    return Wildcard(re.sub(r"\*+", "*", "".join(pieces)))


def has_phrase(words: list[str], phrase: Sequence[Term]) -> bool:
    """Return whether the terms of a phrase are satisfied by consecutive words.

    A word that was left out of the text satisfies no term, but may stand in a gap of the phrase.
    """
    return any(True for _ in phrase_places(words, phrase))


def phrase_places(words: list[str], phrase: Sequence[Term]) -> Iterator[int]:
    """Yield the place of the first word of each occurrence of a phrase."""
    for at in range(len(words) - len(phrase) + 1):
        if all(
            isinstance(term, Gap) or (word and term.matches(word))
            for term, word in zip(phrase, words[at : at + len(phrase)], strict=True)
        ):
            yield at


def term_places(words: list[str], terms: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (place, term) for each word that satisfies a term, term by term.

    Each distinct word is tested once for a pattern. A term that is a word is looked up.
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        if word:
            places.setdefault(word, []).append(place)
    for term in dict.fromkeys(terms):
        wanted = as_word(term)
        held = filter(read_term(term).matches, places) if wanted is None else (wanted,)
        for word in held:
            for place in places.get(word, ()):
                yield place, term
