"""Find the prefixes or suffixes of many words at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.columns.literals import StringColumn
from tamis.space.terms.affixes._kernels import affixes
from tamis.space.terms.vocabulary import words_of

Ints = npt.NDArray[np.int64]


class Affixes:
    """Prefixes, or suffixes, each with the number of its term."""

    def __init__(self, numbers: dict[str, int], *, backwards: bool) -> None:
        raw = [text.encode()[:: -1 if backwards else 1] for text in numbers]
        start = np.cumsum([0, *map(len, raw)])
        self._backwards = backwards
        self._words = words_of(StringColumn(start, np.frombuffer(b"".join(raw), np.uint8)))
        self._term = np.array(list(numbers.values()), np.int64)
        self._longest = max(map(len, raw))
        self._lengths = np.zeros(self._longest + 1, np.bool_)
        self._lengths[[len(one) for one in raw]] = True

    def of(self, words: StringColumn) -> tuple[Ints, Ints]:
        """Return the place of each word that begins (or ends) so, and the number of the term."""
        done, own, found = 0, self._words, []
        scratch = np.empty(self._longest, np.uint8)
        while done < words.count:
            word, affix = np.empty((2, words.count + self._longest), np.int64)
            done, pairs = affixes(
                done, words.start, words.data, self._backwards, self._longest, self._lengths, own.used,
                own.table, own.shift, own.secret, own.start, own.data, scratch, word, affix,
            )  # fmt: skip
            found.append((word[:pairs], self._term[affix[:pairs]]))
        places, terms = zip(*found, strict=True) if found else ((), ())
        none = np.empty(0, np.int64)
        return np.concatenate([none, *places]), np.concatenate([none, *terms])
