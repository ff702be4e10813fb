"""Split UTF-8 texts into words, and find the number of each word in a hash table.

The key of a word of up to eight bytes is these bytes, and equal keys are equal words. The key of a longer
word is a hash, and the bytes are compared. A place of the table holds a key, then the number of the word plus
one, with a bit that says whether the word is long. ``secret`` is odd and known to nobody, so that no text can
provoke collisions. The table has ``2^(64 - shift)`` places.
"""

import numpy as np

from tamis.kernel import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_BYTE = np.uint64(8)
_LONG = np.uint64(1 << 32)
_HALF = np.uint64(32)
SHORT = 8
PAGED = 1


@kernel(inline="always")
def more(key, length, letter, secret):
    """Return the key of a word with one more letter, now of ``length`` in all."""
    if length > SHORT:
        key = (key ^ (key >> np.uint64(29))) * secret
    return (key << _BYTE) ^ letter if length <= SHORT else key ^ letter


@kernel(inline="always")
def slot_of(key, secret, shift):
    """Return the slot where the search for a key begins."""
    mixed = (key ^ (key >> _HALF)) * secret
    return np.int64(((mixed ^ (mixed >> _HALF)) * _MIX) >> shift)


@kernel
def same(data, begin, end, others, first, last):
    """Return whether the bytes of two words are equal."""
    length = end - begin
    if length != last - first:
        return False
    at = 0
    while at < length and data[begin + at] == others[first + at]:
        at += 1
    return at == length


@kernel
def look_up(key, begin, end, letters, count, table, shift, secret, start, data):
    """Return the number of the word letters[begin:end], -1 if it is none of the first ``count`` words."""
    at = slot_of(key, secret, shift)
    mask = len(table) // 2 - 1
    while table[2 * at + 1] != 0:
        found = table[2 * at + 1]
        n = np.int64(found & ~_LONG) - 1
        # A writer may enter words beyond ``count`` meanwhile. Known words come before them.
        if table[2 * at] == key and n < count:
            if end - begin <= SHORT:
                if found & _LONG == 0:
                    return n
            elif found & _LONG != 0 and same(letters, begin, end, data, start[n], start[n + 1]):
                return n
        at = (at + 1) & mask
    return np.int64(-1)


@kernel
def enter(key, length, number, table, shift, secret):
    """Enter a word under its key."""
    at = slot_of(key, secret, shift)
    mask = len(table) // 2 - 1
    while table[2 * at + 1] != 0:
        at = (at + 1) & mask
    table[2 * at] = key
    table[2 * at + 1] = np.uint64(number + 1) | (_LONG if length > SHORT else np.uint64(0))


@kernel
def key_of(letters, begin, end, secret):
    """Return the key of a word."""
    key = np.uint64(0)
    for i in range(begin, end):
        key = more(key, i - begin + 1, np.uint64(letters[i]), secret)
    return key


@kernel
def enter_words(start, data, first, count, table, shift, secret):
    """Enter the words first:count, which are distinct and not in the table."""
    for n in range(first, count):
        key = key_of(data, start[n], start[n + 1], secret)
        enter(key, start[n + 1] - start[n], n, table, shift, secret)


@kernel
def add_words(word_end, letters, begin, count, table, shift, secret, start, data, out):
    """Write the number of each word from ``begin`` to ``out``; add the words that are new.

    Return how many words were read in all, and the new ``count``. Stop before an array overflows or more than
    half of the table is in use.
    """
    for w in range(begin, len(word_end)):
        low = word_end[w - 1] if w > 0 else 0
        high = word_end[w]
        key = key_of(letters, low, high, secret)
        n = look_up(key, low, high, letters, count, table, shift, secret, start, data)
        if n < 0:
            at = start[count]
            if count + 1 == len(start) or 4 * (count + 1) > len(table) or at + high - low > len(data):
                return w, count
            n = count
            data[at : at + high - low] = letters[low:high]
            start[n + 1] = at + high - low
            enter(key, high - low, n, table, shift, secret)
            count += 1
        out[w] = n
    return len(word_end), count


@kernel
def find_words(word_start, letters, count, start, data, table, shift, secret, out):
    """Write the number of each word, -1 for a word that is none of the first ``count``."""
    for w in range(len(word_start) - 1):
        low, high = word_start[w], word_start[w + 1]
        key = key_of(letters, low, high, secret)
        out[w] = look_up(key, low, high, letters, count, table, shift, secret, start, data)


@kernel
def code_point(text, i):
    """Return the code point that begins at byte ``i``, which is not ASCII, and the number of its bytes."""
    lead = np.int64(text[i])
    code = np.int64(text[i + 1]) & 63
    if lead < 0xE0:
        return (lead & 31) << 6 | code, 2
    code = code << 6 | (np.int64(text[i + 2]) & 63)
    if lead < 0xF0:
        return (lead & 15) << 12 | code, 3
    return (lead & 7) << 18 | code << 6 | (np.int64(text[i + 3]) & 63), 4


@kernel
def split(text, begin, end, folded, page, letter_start, letters, secret, missing, out, keys, ends):
    """Write the letters of all words of text[begin:end], the key and the end of each; return their number.

    Mark the pages of characters that are missing, and leave these characters out.
    """
    count, at, first, key = 0, 0, 0, np.uint64(0)
    i = begin
    while i < end:
        byte = text[i]
        if byte < 128:
            letter = folded[byte]
            if letter > PAGED:
                out[at] = letter
                at += 1
                key = more(key, at - first, np.uint64(letter), secret)
                i += 1
                continue
            if letter == 0:
                if at > first:
                    keys[count], ends[count] = key, at
                    count += 1
                    key, first = np.uint64(0), at
                i += 1
                continue
            code, width = np.int64(byte), 1
        else:
            code, width = code_point(text, i)
        i += width
        number = page[code >> 8]
        if number < 0:
            missing[code >> 8] = 1
            continue
        place = np.int64(number) * 256 + (code & 255)
        for j in range(letter_start[place], letter_start[place + 1]):
            letter = letters[j]
            if letter != 0:
                out[at] = letter
                at += 1
                key = more(key, at - first, np.uint64(letter), secret)
            elif at > first:
                keys[count], ends[count] = key, at
                count += 1
                key, first = np.uint64(0), at
    if at > first:
        keys[count], ends[count] = key, at
        count += 1
    return count


@kernel
def read_texts(
    text_start, text, folded, page, letter_start, letters, missing, known, table, shift, secret, start, data,
    out, keys, ends, token_start, token, unknown, unknown_end, unknown_letters, sizes,
):  # fmt: skip
    """Write the number of each word of each text, -1 for words that are not among the first ``known``.

    The places and letters of unknown words are kept as well, if there is room for them (``unknown`` is not
    empty); ``sizes`` gets their number and bytes. The words of a text are split first, then their slots are
    loaded, then looked up, each in a loop of its own, so that many loads are under way at once.
    """
    count, others, room = 0, 0, 0
    for row in range(len(text_start) - 1):
        words = split(
            text, text_start[row], text_start[row + 1], folded, page, letter_start, letters, secret, missing,
            out, keys, ends, )  # fmt: skip
        touched = np.uint64(0)
        for t in range(words):
            touched ^= table[2 * slot_of(keys[t], secret, shift)]
        sizes[2] ^= np.int64(touched & np.uint64(1))
        low = 0
        for t in range(words):
            high = ends[t]
            n = look_up(keys[t], low, high, out, known, table, shift, secret, start, data)
            token[count] = n
            if n < 0 and len(unknown) > 0:
                unknown[others] = count
                unknown_letters[room : room + high - low] = out[low:high]
                room += high - low
                unknown_end[others] = room
                others += 1
            count += 1
            low = high
        token_start[row + 1] = count
    sizes[0], sizes[1] = others, room
    return count
