"""The analyser: cuts texts into runs, and turns each run into terms."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import groupby
from typing import Any, NamedTuple

from tamis.values.analysis.settings import Analysis
from tamis.values.analysis.uax29 import cut_run, is_word_character
from tamis.values.text import SEPARATOR, folded_words, terms_of

GAP = ""
"""The term of a word that is left out. It keeps its position, and satisfies no term of a search."""

MEMO_RUNS = 65_536
_SPACE = re.compile(r"[^\s\0]+")


class Words(NamedTuple):
    """The terms of a text, position by position, and the characters that each of them came from."""

    terms: list[str]
    spans: list[tuple[int, int]]


Piece = tuple[str, int, int]  # a term, and the beginning and end of its characters


class Analyser:
    """A way to turn texts into terms."""

    def __init__(self, name: str, settings: Analysis) -> None:
        self.name = name
        self.settings = settings
        self._stemmer = _stemmer(settings.stemmer)
        normal = self._normal
        self._stop = frozenset(map(normal, settings.stop_words))
        stems = {word: self._stem(normal(word)) for group in settings.synonyms for word in group}
        self._same = {stems[word]: stems[group[0]] for group in settings.synonyms for word in group}
        self._known: dict[str, list[Piece]] = {}

    def __repr__(self) -> str:
        return f"Analyser({self.name!r})"

    @property
    def is_plain(self) -> bool:
        """Whether runs of letters and digits are folded and nothing else, which kernels can do."""
        return self.settings == Analysis("folding")

    @property
    def takes_patterns(self) -> bool:
        """Whether ``*``, ``?``, ``~`` and the like have a meaning in the terms of a search."""
        return self.settings.cut in ("folding", "standard") and not self.settings.ngrams

    @property
    def has_runs(self) -> bool:
        """Whether separators cut a text into runs, which kernels can do."""
        return self.settings.cut != "keyword"

    def letters_of(self, character: str) -> str:
        """Return a character as it stands in a run; a separator as :data:`~tamis.values.text.SEPARATOR`."""
        match self.settings.cut:
            case "folding":
                return SEPARATOR if character.isascii() and not character.isalnum() else character
            case "standard":
                return character if is_word_character(character) else SEPARATOR
        return SEPARATOR if character.isspace() or character == "\0" else character

    # -- texts -------------------------------------------------------------------------------------------

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in order, with :data:`GAP` for each word that is left out."""
        if self.is_plain:
            return terms_of(text)
        return [term for run, _ in self.runs(text) for term, _, _ in self.pieces(run)]

    def words(self, text: str) -> Words:
        """Return the terms of a text with their places."""
        terms, spans = [], []
        for run, begin in self.runs(text):
            for term, low, high in self.pieces(run):
                terms.append(term)
                spans.append((begin + low, begin + high))
        return Words(terms, spans)

    def runs(self, text: str) -> list[tuple[str, int]]:
        """Return the runs of characters between separators, each with its beginning."""
        if self.settings.cut == "keyword":
            return [(text, 0)] if text.strip() else []
        if self.settings.cut == "whitespace":
            return [(found[0], found.start()) for found in _SPACE.finditer(text)]
        if self.settings.cut == "folding":
            return [(found[0], found.start()) for found in _FOLDING_RUN.finditer(text)]
        return _stretches_of(text, is_word_character)

    def pieces(self, run: str) -> list[Piece]:
        """Return the terms of one run; each is worked out once and then remembered."""
        known = self._known
        found = known.get(run)
        if found is None:
            found = [piece for word in self._cut(run) for piece in self._filtered(run, *word)]
            if len(known) >= MEMO_RUNS:
                known.clear()
            known[run] = found
        return found

    # -- the steps ---------------------------------------------------------------------------------------

    def _cut(self, run: str) -> list[Piece]:
        """Return the words of a run in the form in which they are compared."""
        match self.settings.cut:
            case "folding":
                return folded_words(run)
            case "standard":
                return [(self._normal(run[low:high]), low, high) for low, high in cut_run(run)]
        return [(unicodedata.normalize("NFC", run), 0, len(run))]  # tables may hold other forms

    def _normal(self, word: str) -> str:
        """Return a word in the form of stop words, synonyms and the letters of patterns."""
        match self.settings.cut:
            case "folding":
                return "".join(terms_of(word))
            case "standard":
                return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
        return word

    def _filtered(self, run: str, word: str, low: int, high: int) -> list[Piece]:
        settings = self.settings
        if settings.cjk and (pairs := _pairs(letters := unicodedata.normalize("NFC", word))):
            return self._placed(run[low:high], letters, low, pairs)
        if word in self._stop:
            return [(GAP, low, high)]
        word = self._stem(word)
        word = self._same.get(word, word)
        if settings.ngrams and len(word) > settings.ngrams:
            size = settings.ngrams
            parts = [(at, at + size) for at in range(len(word) - size + 1)]
            return self._placed(run[low:high], word, low, parts)
        return [(word, low, high)]

    def _placed(self, source: str, word: str, low: int, parts: list[tuple[int, int]]) -> list[Piece]:
        """Return parts of a word with their places, or that of the whole word if its letters have moved."""
        normal = [unicodedata.normalize("NFC", self._normal(char)) for char in source]
        if normal[: len(word)] == list(word):
            return [(word[begin:end], low + begin, low + end) for begin, end in parts]
        return [(word[begin:end], low, low + len(source)) for begin, end in parts]

    def _stem(self, word: str) -> str:
        return self.letters(word if self._stemmer is None else self._stemmer.stemWord(word))

    def letters(self, text: str) -> str:
        """Return the letters of a pattern as they stand in terms; they are not stemmed."""
        text = self._normal(text)
        return _without_accents(text) if self.settings.fold_accents else text


def _stemmer(language: str) -> Any:
    if not language:
        return None
    import Stemmer

    return Stemmer.Stemmer(language)


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))


# Only ASCII separators end a run; the others separate words inside it.
_FOLDING_RUN = re.compile(r"(?:[^\W_]|[^\x00-\x7f])+")


def _stretches_of(text: str, is_inside: Callable[[str], bool]) -> list[tuple[str, int]]:
    """Return the stretches of characters that are inside, each with its beginning."""
    found, begin = [], -1
    for at, char in enumerate(text):
        if is_inside(char):
            begin = at if begin < 0 else begin
        elif begin >= 0:
            found.append((text[begin:at], begin))
            begin = -1
    return found if begin < 0 else [*found, (text[begin:], begin)]


def _is_ideograph(char: str) -> bool:
    code = ord(char)
    return (
        0x2E80 <= code <= 0x9FFF  # radicals, kana and ideographs
        or 0xAC00 <= code <= 0xD7AF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x3FFFF
    )


def _pairs(word: str) -> list[tuple[int, int]]:
    """Return pairs of neighbours in stretches of ideographs, other stretches whole; nothing without any."""
    if not any(map(_is_ideograph, word)):
        return []
    found: list[tuple[int, int]] = []
    for is_east, group in groupby(range(len(word)), lambda at: _is_ideograph(word[at])):
        first, *rest = group
        if is_east and rest:
            found += [(at - 1, at + 1) for at in rest]
        else:
            found.append((first, first + 1 + len(rest)))
    return found
