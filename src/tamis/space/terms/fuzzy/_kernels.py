"""Find the fuzzy terms of ASCII words: words and terms that become equal when each loses some letters."""

import numpy as np

from tamis.kernel import kernel
from tamis.space.terms.vocabulary._kernels import SHORT, key_of, look_up


@kernel
def edits_within(word, low, high, term, first, last, most, rows):
    """Return whether at most ``most`` edits turn word[low:high] into term[first:last].

    An edit inserts, deletes or replaces a letter, or swaps two neighbours (optimal string alignment).
    ``rows`` is scratch memory of three rows, each longer than the term.
    """
    width = last - first
    if abs(width - (high - low)) > most:
        return False
    for column in range(width + 1):
        rows[0, column] = column
    now = 0
    for row in range(1, high - low + 1):
        before, last_row, now = (row - 2) % 3, (row - 1) % 3, row % 3
        rows[now, 0] = row
        letter = word[low + row - 1]
        for column in range(1, width + 1):
            other = term[first + column - 1]
            cost = rows[last_row, column - 1] + (letter != other)
            cost = min(cost, rows[last_row, column] + 1, rows[now, column - 1] + 1)
            if row > 1 and column > 1 and letter == term[first + column - 2] and word[low + row - 2] == other:
                cost = min(cost, rows[before, column - 2] + 1)
            rows[now, column] = cost
    return rows[now, width] <= most


@kernel
def is_similar(word, low, high, term, first, last, most, prefix, rows):
    """Return whether a word begins with the prefix of a fuzzy term, and the rest is few edits away."""
    if high - low < prefix:
        return False
    for i in range(prefix):
        if word[low + i] != term[first + i]:
            return False
    return edits_within(word, low + prefix, high, term, first + prefix, last, most, rows)


@kernel
def is_ascii(word, low, high):
    """Return whether a word has ASCII letters only."""
    bits = 0
    for i in range(low, high):
        bits |= word[i]
    return bits < 128


@kernel(inline="always")
def without(key, place, chosen):
    """Return the key of a short word without the letter at ``place`` from its end, if it is ``chosen``."""
    if not chosen:
        return key
    low, high = np.uint64(8 * place), np.uint64(8 * place + 8)
    rest = key >> high if place < SHORT - 1 else np.uint64(0)
    return rest << low | (key & ((np.uint64(1) << low) - np.uint64(1)))


@kernel
def fuzzy_terms(
    begin, word_start, word, most, longest, known, table, shift, secret, start, data, list_start, lists,
    term_start, term, edits, prefix, tried, rows, out_word, out_term,
):  # fmt: skip
    """Write the fuzzy terms of each word from ``begin``; return the number of words done and of pairs.

    The table holds each term without any of its letters up to its edits; ``lists`` are the terms of each such
    string. ``tried`` is zeros, one for each term. Words beyond ASCII have none. Stop at a word if the output
    may overflow.
    """
    count = 0
    letters = np.empty(longest + 1, np.uint8)
    for w in range(begin, len(word_start) - 1):
        low, high = word_start[w], word_start[w + 1]
        size = high - low
        if count + len(tried) > len(out_word):
            return w, count
        if size > longest or not is_ascii(word, low, high):
            continue
        whole = key_of(word, low, high, secret)
        for one in range(-1, size if most > 0 else 0):
            for two in range(one, size if most > 1 and one >= 0 else one + 1):
                # Leave out letter ``one``, and ``two`` if it is another; -1 is none.
                length = size - (one >= 0) - (two > one)
                if size <= SHORT:
                    key = without(whole, size - 1 - two, two >= 0)
                    key = without(key, length - one, two > one)
                    n = look_up(key, 0, length, word, known, table, shift, secret, start, data)
                else:
                    at = 0
                    for i in range(size):
                        if i != one and i != two:
                            letters[at] = word[low + i]
                            at += 1
                    key = key_of(letters, 0, length, secret)
                    n = look_up(key, 0, length, letters, known, table, shift, secret, start, data)
                if n < 0:
                    continue
                for k in range(list_start[n], list_start[n + 1]):
                    t = lists[k]
                    if tried[t] == w + 1:
                        continue
                    tried[t] = w + 1
                    first, last = term_start[t], term_start[t + 1]
                    if is_similar(word, low, high, term, first, last, edits[t], prefix[t], rows):
                        out_word[count], out_term[count] = w, t
                        count += 1
    return len(word_start) - 1, count
