"""Make up words: a different one for every rank, frequent ones short."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwz", "aeiou"


@lru_cache(maxsize=4)
def vocabulary(count: int) -> pa.Array:
    """Return ``count`` words of one syllable, then of two, …"""
    syllables = pa.array([c + v for c in _CONSONANTS for v in _VOWELS], pa.string())
    base, parts, made, length = len(syllables), [], 0, 1
    while made < count:
        rank = np.arange(min(base**length, count - made))
        digits = [syllables.take(pa.array(rank // base**at % base)) for at in range(length)]
        parts.append(pc.binary_join_element_wise(*digits, ""))
        made, length = made + len(rank), length + 1
    return pa.concat_arrays(parts)
