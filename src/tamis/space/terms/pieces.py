"""Find the fuzzy words within a distance of a word, by pieces that both must share.

A fuzzy word of ``d`` edits is cut into ``d + 1`` pieces. ``d`` edits leave one of them as it is, and move it
by few places (Pass-Join, Li et al., VLDB 2011). A word looks up the pieces that it holds near their places.
Only the fuzzy words that are found are compared, and only if the sets of letters do not differ by too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from tamis.values.terms import Fuzzy


class _Form(NamedTuple):
    """The property of fuzzy words that decides where their pieces lie."""

    length: int
    edits: int
    moves: bool  # whether edits may move a piece

    def bounds(self) -> list[int]:
        """Return where the pieces begin, and the end of the last one."""
        count = self.edits + 1
        return [self.length * at // count for at in range(count + 1)]


_Entry = tuple[str, Fuzzy, int]


class PieceTable:
    """Fuzzy words by their pieces; words with fewer letters than pieces are listed by their length."""

    def __init__(self) -> None:
        self._forms: dict[int, tuple[_Form, ...]] = {}  # by the length of the words that they may find
        self._pieces: dict[tuple[_Form, int, str], list[_Entry]] = {}
        self._short: dict[_Form, list[_Entry]] = {}
        self.compared = 0  # words that were compared letter by letter

    def __bool__(self) -> bool:
        return bool(self._forms)

    def add(self, text: str, term: Fuzzy) -> None:
        """Add a fuzzy word with its written form."""
        word, moves = term.word, term.distance != "hamming"
        form = _Form(len(word), term.edits, moves)
        entry = text, term, _letters(word)
        if len(word) <= term.edits:
            self._short.setdefault(form, []).append(entry)
        else:
            for at, (low, high) in enumerate(pairwise(form.bounds())):
                self._pieces.setdefault((form, at, word[low:high]), []).append(entry)
        change = term.edits if moves else 0
        for length in range(len(word) - change, len(word) + change + 1):
            forms = self._forms.get(length, ())
            if form not in forms:
                self._forms[length] = (*forms, form)  # last: a reader may look it up meanwhile

    def find(self, word: str) -> Iterator[str]:
        """Yield the written forms of all fuzzy words that are near enough to ``word``."""
        forms = self._forms.get(len(word), ())
        if not forms:
            return
        letters = _letters(word)
        for form in forms:
            for text, term, others in dict.fromkeys(self._candidates(form, word)):
                most = term.edits
                if (others & ~letters).bit_count() <= most and (letters & ~others).bit_count() <= most:
                    self.compared += 1
                    if term.matches(word):
                        yield text

    def _candidates(self, form: _Form, word: str) -> Iterator[_Entry]:
        yield from self._short.get(form, ())
        if form.length <= form.edits:
            return
        change = len(word) - form.length
        for at, (low, high) in enumerate(pairwise(form.bounds())):
            first = last = low
            if form.moves:  # at most ``at`` edits lie before the piece, or the rest of them behind it
                rest = form.edits - at
                first = max(low - at, low + change - rest, 0)
                last = min(low + at, low + change + rest, len(word) - (high - low))
            for begin in range(first, last + 1):
                yield from self._pieces.get((form, at, word[begin : begin + high - low]), ())


def _letters(word: str) -> int:
    """Return the set of the letters as bits; several letters may share a bit."""
    found = 0
    for letter in word:
        found |= 1 << (ord(letter) & 63)
    return found
