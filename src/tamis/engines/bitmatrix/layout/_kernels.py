"""Lay out the rows of ``bitmatrix``: choose columns and grains, fill rows and summaries.

A *column* is a dimension in a slab. Its rows are those of absence (the first), of each block of 2^grain
cells, and of clauses with several literals on the dimension (the last). ``column`` holds dimension, first row
and grain of each column.
"""

import numpy as np

from tamis.engines._kernels import ABSENT_OK, MANY, NEGATIVE, hull_of
from tamis.kernel import kernel

ROW = 8  # words of a row
SLAB = 64 * ROW  # clauses of a slab
CHUNK = 64  # slabs of a chunk: a row of its summary is a word
FIELDS = 3  # of a column
TOGETHER = 4  # columns that the search reads at once
FIXED = 2  # rows of a column besides those of its blocks

_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def grain_of(cells, most):
    """Return the smallest grain that divides ``cells`` into at most ``most`` blocks."""
    grain = np.int64(0)
    while (np.int64(cells) + (np.int64(1) << grain) - 1) >> grain > most:
        grain += 1
    return grain


@kernel
def blocks_of(cells, grain):
    """Return the number of blocks of 2^grain cells."""
    return (np.int64(cells) + (np.int64(1) << grain) - 1) >> grain


@kernel
def count_dimensions(begin, end, start, literal, count, touched):
    """Count the clauses of a slab on each dimension; write the dimensions, and return their number."""
    found = 0
    for c in range(begin, end):
        before = np.int64(-1)
        for i in range(np.int64(start[c]), np.int64(start[c + 1])):
            d = np.int64(literal[i, 0])
            if d != before:
                if count[d] == 0:
                    touched[found] = d
                    found += 1
                count[d] += 1
            before = d
    return found


@kernel
def fitting_blocks(touched, found, cells, most, rows):
    """Return the greatest number of blocks, halved as often as needed, with which all columns fit."""
    while most > 1:
        total = np.int64(0)
        for k in range(found):
            total += blocks_of(cells[touched[k]], grain_of(cells[touched[k]], most)) + FIXED
        if total <= rows:
            return most
        most >>= 1
    return np.int64(1)


@kernel
def choose_columns(start, literal, cells, most, budget, least, slab_start, column, whole):
    """Write the columns of every slab; return their number and that of all rows.

    ``budget`` is the number of rows for each 64 clauses. The dimensions of most clauses come first, because
    they rule out most. If not even columns of one block fit, the last dimensions get no column. ``whole``
    marks columns on whose dimension every clause of the slab has a literal. The last column is repeated up to
    a multiple of ``TOGETHER``.
    """
    clauses = len(start) - 1
    count = np.zeros(len(cells), np.int64)
    touched = np.empty(max(len(cells), 1), np.int64)
    columns, row = 0, np.int64(0)
    for slab in range(len(slab_start) - 1):
        slab_start[slab] = columns
        begin, end = slab * SLAB, min((slab + 1) * SLAB, clauses)
        found = count_dimensions(begin, end, start, literal, count, touched)
        rows = max(budget * (end - begin) // 64, least)
        here = fitting_blocks(touched, found, cells, most, rows)
        order = np.argsort(-count[touched[:found]])
        for k in range(found):
            d = touched[order[k]]
            grain = grain_of(cells[d], here)
            size = blocks_of(cells[d], grain) + FIXED
            if size <= rows:
                rows -= size
                column[columns, 0], column[columns, 1], column[columns, 2] = d, row, grain
                whole[columns] = count[d] == end - begin
                row += size
                columns += 1
        while columns > slab_start[slab] and (columns - slab_start[slab]) % TOGETHER != 0:
            column[columns] = column[columns - 1]
            whole[columns] = False
            columns += 1
        for k in range(found):
            count[touched[k]] = 0
    slab_start[len(slab_start) - 1] = columns
    return columns, row


@kernel
def dead_blocks(flags, lo, hi, cells, grain):
    """Return the blocks that one range leaves dead: those below and above, or those inside; and its truth.

    The result is (last block below, first block above, first inside, last inside, whether blocks decide).
    """
    blocks = blocks_of(cells, grain)
    inner = np.int64(1) << grain
    aligned = (lo - 1) % inner == 0 and (hi % inner == 0 or hi == cells)
    low, high = ((lo - 1) >> grain) + 1, ((hi - 1) >> grain) + 1
    if not flags & NEGATIVE:
        return low - 1, high + 1, np.int64(1), np.int64(0), aligned
    if (lo - 1) % inner != 0:
        low += 1
    if hi % inner != 0 and hi != cells:
        high -= 1
    return np.int64(0), blocks + 1, low, high, aligned


@kernel
def clear(matrix, first, begin, end, word, bit):
    """Clear a bit in the rows begin..end of a column."""
    for block in range(begin, end + 1):
        matrix[ROW * (first + block) + word] &= ~bit


@kernel
def clear_set(matrix, first, flags, at, count, set_lo, set_hi, cells, grain, word, bit):
    """Clear a bit in the rows that a literal of many ranges leaves dead; return whether blocks decide."""
    decides, negative = True, flags & NEGATIVE
    next_block = np.int64(1)
    for r in range(at, at + count):
        low, high, begin, end, aligned = dead_blocks(
            flags, np.int64(set_lo[r]), np.int64(set_hi[r]), cells, grain
        )
        decides &= aligned
        if negative:
            clear(matrix, first, begin, end, word, bit)
        else:
            clear(matrix, first, next_block, low, word, bit)
            next_block = max(next_block, high)
    if not negative:
        clear(matrix, first, next_block, blocks_of(cells, grain), word, bit)
    return decides


@kernel
def toggle(matrix, first, begin, end, blocks, word, bit):
    """Toggle a bit where a run of dead blocks begins and behind its end."""
    if begin <= end:
        matrix[ROW * (first + begin) + word] ^= bit
        if end < blocks:
            matrix[ROW * (first + end + 1) + word] ^= bit


@kernel
def runs_to_rows(matrix, first, blocks, row):
    """Turn toggles into bits: from dead runs to the clauses that each block leaves alive."""
    for block in range(2, blocks + 1):
        for w in range(ROW):
            matrix[ROW * (first + block) + w] ^= matrix[ROW * (first + block - 1) + w]
    for block in range(blocks + 1):
        for w in range(ROW):
            matrix[ROW * (first + block) + w] = row[w] & ~matrix[ROW * (first + block) + w]


@kernel
def fill_rows(start, literal, set_lo, set_hi, cells, slab_start, column, matrix, doubtful):
    """Write the rows of all slabs, and the bits of clauses that rows alone do not decide.

    ``matrix`` is zero before. Most literals are the only one of their clause on a dimension and plain ranges.
    They cost two toggles, whatever their width. The others are cleared block by block.
    """
    clauses = len(start) - 1
    of = np.zeros(max(len(cells), 1), np.int64)  # the column of each dimension, plus one
    row = np.empty(ROW, np.uint64)
    for slab in range(len(slab_start) - 1):
        begin, end = slab * SLAB, min((slab + 1) * SLAB, clauses)
        row[:] = 0
        for c in range(begin, end):
            row[(c - begin) >> 6] |= _ONE << np.uint64((c - begin) & 63)
        for k in range(slab_start[slab + 1] - 1, slab_start[slab] - 1, -1):
            of[column[k, 0]] = k + 1
        for several in (False, True):
            if several:
                for k in range(slab_start[slab], slab_start[slab + 1]):
                    d = column[k, 0]
                    if of[d] == k + 1:
                        blocks = blocks_of(cells[d], np.int64(column[k, 2]))
                        runs_to_rows(matrix, np.int64(column[k, 1]), blocks, row)
            for c in range(begin, end):
                at = ROW * slab + ((c - begin) >> 6)
                bit = _ONE << np.uint64((c - begin) & 63)
                decides = fill_clause(
                    start[c], start[c + 1], literal, set_lo, set_hi, cells, column, matrix, of, several,
                    (c - begin) >> 6, bit,
                )  # fmt: skip
                if not decides:
                    doubtful[at] |= bit
        for k in range(slab_start[slab], slab_start[slab + 1]):
            of[column[k, 0]] = 0


@kernel
def fill_clause(
    begin, end, literal, set_lo, set_hi, cells, column, matrix, of, several, word, bit
):  # fmt: skip
    """Write the toggles or (``several``) clear the bits of a clause; return whether blocks decide it."""
    decides = True
    i = np.int64(begin)
    while i < np.int64(end):
        first_literal, d = i, np.int64(literal[i, 0])
        while i < np.int64(end) and literal[i, 0] == d:
            i += 1
        if of[d] == 0:
            decides = False
            continue
        k = of[d] - 1
        first, grain = np.int64(column[k, 1]), np.int64(column[k, 2])
        size = np.int64(cells[d])
        blocks = blocks_of(size, grain)
        simple = i - first_literal == 1 and not literal[first_literal, 1] & MANY
        if simple == several:
            continue
        for at in range(first_literal, i):
            flags, lo, hi = np.int64(literal[at, 1]), np.int64(literal[at, 2]), np.int64(literal[at, 3])
            absent = ROW * first + word
            if simple:
                low, high, inner, last, aligned = dead_blocks(flags, lo, hi, size, grain)
                toggle(matrix, first, np.int64(1), low, blocks, word, bit)
                toggle(matrix, first, high, blocks, blocks, word, bit)
                toggle(matrix, first, inner, last, blocks, word, bit)
                if not flags & ABSENT_OK:
                    matrix[absent] ^= bit  # inverted with the other rows
                decides &= aligned
                continue
            if not flags & ABSENT_OK:
                matrix[absent] &= ~bit
            if flags & MANY:
                decides &= clear_set(
                    matrix, first, flags, lo, hi, set_lo, set_hi, size, grain, word, bit
                )  # fmt: skip
            else:
                low, high, inner, last, aligned = dead_blocks(flags, lo, hi, size, grain)
                clear(matrix, first, np.int64(1), low, word, bit)
                clear(matrix, first, high, blocks, word, bit)
                clear(matrix, first, inner, last, word, bit)
                decides &= aligned
        if i - first_literal > 1:
            matrix[ROW * (first + blocks + 1) + word] |= bit
    return decides


@kernel
def choose_summaries(slab_start, column, whole, cells, most, chunk_start, summary_column):
    """Write the columns of every chunk; return their number and that of all words.

    A chunk has a column for each dimension on which some slab can be ruled out: every clause there has a
    literal on it.
    """
    seen = np.zeros(max(len(cells), 1), np.int64)
    columns, word = 0, np.int64(0)
    slabs = len(slab_start) - 1
    for chunk in range(len(chunk_start) - 1):
        chunk_start[chunk] = columns
        last = min((chunk + 1) * CHUNK, slabs)
        for k in range(slab_start[chunk * CHUNK], slab_start[last]):
            d = np.int64(column[k, 0])
            if whole[k] and seen[d] != chunk + 1:
                seen[d] = chunk + 1
                grain = grain_of(cells[d], most)
                summary_column[columns, 0], summary_column[columns, 1] = d, word
                summary_column[columns, 2] = grain
                word += blocks_of(cells[d], grain) + FIXED
                columns += 1
    chunk_start[len(chunk_start) - 1] = columns
    return columns, word


@kernel
def fill_summaries(
    start, literal, set_lo, set_hi, cells, slab_start, column, whole, chunk_start, summary_column, summary
):  # fmt: skip
    """Write the summaries: bit ``s`` of a row says whether an event in this block may match in slab ``s``."""
    clauses, slabs = len(start) - 1, len(slab_start) - 1
    of = np.zeros(max(len(cells), 1), np.int64)
    most = 0
    for k in range(chunk_start[len(chunk_start) - 1]):
        most = max(most, blocks_of(cells[summary_column[k, 0]], np.int64(summary_column[k, 2])))
    change = np.zeros((max(chunk_start[1:] - chunk_start[:-1]) if slabs else 0, most + 3), np.int64)
    for slab in range(slabs):
        chunk = slab // CHUNK
        bit = _ONE << np.uint64(slab % CHUNK)
        first_column, end_column = chunk_start[chunk], chunk_start[chunk + 1]
        for k in range(slab_start[slab], slab_start[slab + 1]):
            if whole[k]:
                of[column[k, 0]] = 1
        for k in range(first_column, end_column):
            d = summary_column[k, 0]
            if of[d]:
                of[d] = k - first_column + 2
                change[k - first_column] = 0
        for c in range(slab * SLAB, min((slab + 1) * SLAB, clauses)):
            add_clause(
                start[c], start[c + 1], literal, set_lo, set_hi, cells, summary_column, first_column, of,
                change,
            )  # fmt: skip
        for k in range(first_column, end_column):
            d, word = summary_column[k, 0], np.int64(summary_column[k, 1])
            blocks = blocks_of(cells[d], np.int64(summary_column[k, 2]))
            counted = change[k - first_column]
            for block in range(2, blocks + 1):
                counted[block] += counted[block - 1]
            for block in range(blocks + FIXED):
                if of[d] == 0 or counted[block] > 0:
                    summary[word + block] |= bit
            of[d] = 0


@kernel
def add_clause(
    begin, end, literal, set_lo, set_hi, cells, summary_column, first_column, of, change
):  # fmt: skip
    """Count a clause in the blocks that it leaves alive, as a change at the first and behind the last."""
    i = np.int64(begin)
    while i < np.int64(end):
        d, first = np.int64(literal[i, 0]), i
        low, high, absent = np.int64(1), np.int64(cells[d]), True
        while i < np.int64(end) and literal[i, 0] == d:
            lo, hi = hull_of(literal, i, cells, set_lo, set_hi)
            low, high = max(low, lo), min(high, hi)
            absent &= (literal[i, 1] & ABSENT_OK) != 0
            i += 1
        if of[d] == 0:
            continue
        k = of[d] - 2
        grain = np.int64(summary_column[first_column + k, 2])
        blocks = blocks_of(cells[d], grain)
        if low <= high:
            change[k, ((low - 1) >> grain) + 1] += 1
            if ((high - 1) >> grain) + 1 < blocks:
                change[k, ((high - 1) >> grain) + 2] -= 1
        if absent:
            change[k, 0] += 1
        if i - first > 1:
            change[k, blocks + 1] += 1
