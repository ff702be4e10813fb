"""Find the beginnings and ends of words in a table."""

import numpy as np

from tamis.kernel import kernel
from tamis.space.terms.vocabulary._kernels import look_up, more


@kernel
def affixes(
    begin, word_start, word, backwards, longest, lengths, known, table, shift, secret, start, data, scratch,
    out_word, out_affix,
):  # fmt: skip
    """Write the beginnings of words from ``begin`` that the table holds; return (words done, pairs).

    With ``backwards`` words are read from their ends, as those in the table are written. ``lengths`` marks
    the lengths in bytes that occur there. Stop at a word if the output may overflow.
    """
    count = 0
    for w in range(begin, len(word_start) - 1):
        low, high = word_start[w], word_start[w + 1]
        size = min(high - low, longest)
        if count + size > len(out_word):
            return w, count
        key = np.uint64(0)
        for i in range(size):
            letter = word[high - 1 - i] if backwards else word[low + i]
            scratch[i] = letter
            key = more(key, i + 1, np.uint64(letter), secret)
            if lengths[i + 1]:
                n = look_up(key, 0, i + 1, scratch, known, table, shift, secret, start, data)
                if n >= 0:
                    out_word[count], out_affix[count] = w, n
                    count += 1
    return len(word_start) - 1, count
