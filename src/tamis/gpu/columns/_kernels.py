"""Locate values on a card: a thread takes a value and writes its cell.

A row of ``columns`` describes a column: its kind, where its values begin (in units of their size), where its
validity begins (in bits, or -1), the lowest and highest cut of its dimension, the first cell of numbers, the
cell of anything else, and where its table of cells begins, if it has one.
"""

import numpy as np

from tamis.gpu.cuda import cuda

KIND, VALUES, VALID, LOW, HIGH, BASE, OTHER, TABLE = range(8)
INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT32, FLOAT64, BIT, CODE8, CODE16, CODE32 = (
    range(14)
)
REFUSED, KNOWN = range(2)  # places in ``state``
EXACT = 9007199254740992.0  # from here on, floats do not hold every integer
MIX = np.uint64(0x9E3779B97F4A7C15)
FOLD = np.uint64(0xBF58476D1CE4E5B9)
ASCII = 127


@cuda.jit(device=True)
def cell_of(number, low, high, base, other, cuts):
    """Return the cell of a number among the sorted cuts low:high."""
    if base == 0:
        return other
    first = low
    while low < high:
        middle = (low + high) >> 1
        if cuts[middle] <= number:
            low = middle + 1
        else:
            high = middle
    return base + low - first


@cuda.jit(device=True)
def is_set(bits, at):
    """Return whether one bit is set."""
    return (np.int64(bits[at >> 3]) >> (at & 7)) & 1 != 0


@cuda.jit
def locate_columns(
    events, columns, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, cuts, tables,
    matrix, state,
):  # fmt: skip
    """Write the cells of all columns to ``matrix``, 0 for nulls.

    Set ``state[REFUSED]`` if a number is not finite, or so large that a float may not hold it: the processor
    decides about such a table.
    """
    k = cuda.blockIdx.y
    row = columns[k]
    kind, at, valid = row[KIND], row[VALUES], row[VALID]
    low, high, base, other, table = row[LOW], row[HIGH], row[BASE], row[OTHER], row[TABLE]
    for e in range(cuda.grid(1), events, cuda.gridDim.x * cuda.blockDim.x):
        found = np.int64(0)
        if valid < 0 or is_set(uint8, valid + e):
            number = 0.0
            if kind >= BIT:
                if kind == BIT:
                    code = np.int64(1) if is_set(uint8, at + e) else np.int64(0)
                elif kind == CODE8:
                    code = np.int64(int8[at + e])
                elif kind == CODE16:
                    code = np.int64(int16[at + e])
                else:
                    code = np.int64(int32[at + e])
                found = np.int64(tables[table + code])
            else:
                if kind == INT8:
                    number = np.float64(int8[at + e])
                elif kind == INT16:
                    number = np.float64(int16[at + e])
                elif kind == INT32:
                    number = np.float64(int32[at + e])
                elif kind == INT64:
                    number = np.float64(int64[at + e])
                elif kind == UINT8:
                    number = np.float64(uint8[at + e])
                elif kind == UINT16:
                    number = np.float64(uint16[at + e])
                elif kind == UINT32:
                    number = np.float64(uint32[at + e])
                elif kind == UINT64:
                    number = np.float64(uint64[at + e])
                elif kind == FLOAT32:
                    number = np.float64(float32[at + e])
                else:
                    number = float64[at + e]
                if number > -EXACT and number < EXACT:
                    found = cell_of(number, low, high, base, other, cuts)
                else:
                    state[REFUSED] = 1
        matrix[k * events + e] = found


@cuda.jit(device=True)
def mix(state, word):
    """Return one step of a 64-bit hash."""
    state = np.uint64(np.uint64(state ^ np.uint64(word)) * MIX)
    return np.uint64(np.uint64(state ^ (state >> np.uint64(29))) * FOLD)


@cuda.jit(device=True)
def hash_bytes(data, first, last, seed):
    """Return the hash of ``space._kernels.hash_bytes``."""
    state = mix(seed, np.uint64(last - first))
    word = np.uint64(0)
    for k in range(first, last):
        word = np.uint64(word << np.uint64(8)) | np.uint64(data[k])
        if (k - first) & 7 == 7:
            state = mix(state, word)
            word = np.uint64(0)
    state = mix(state, word)
    return np.uint64(state ^ (state >> np.uint64(32)))


@cuda.jit(device=True)
def is_name(name_start, name_data, n, data, first, last):
    """Return whether name ``n`` equals data[first:last]."""
    at = np.int64(name_start[n])
    if np.int64(name_start[n + 1]) - at != last - first:
        return False
    for k in range(last - first):  # noqa: SIM110  (no generators on a card)
        if name_data[at + k] != data[first + k]:
            return False
    return True


@cuda.jit
def locate_map(
    items, kind, key_first, key_data, at, longest, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float32, float64, name_start, name_data, seed, names, cut_low, base, other, cuts, dimension, cell, seen,
    state,
):  # fmt: skip
    """Write dimension and cell of each item of a map column; cell 0 if no predicate mentions its key.

    Key ``i`` begins at ``int32[key_first + i]`` of ``uint8[key_data:]``. Set ``state[REFUSED]`` if a key is
    long or not ASCII, or a number is one that ``locate_columns`` refuses; count the others in
    ``state[KNOWN]``.
    """
    mask = len(names) - 1
    known = np.int64(0)
    for i in range(cuda.grid(1), items, cuda.gridDim.x * cuda.blockDim.x):
        first = key_data + np.int64(int32[key_first + i])
        last = key_data + np.int64(int32[key_first + i + 1])
        if last - first > longest:
            state[REFUSED] = 1
            last = first
        for k in range(first, last):
            if uint8[k] > ASCII:
                state[REFUSED] = 1
        place = np.int64(hash_bytes(uint8, first, last, seed) & np.uint64(mask))
        d = np.int64(-1)
        while names[place] >= 0:
            if is_name(name_start, name_data, names[place], uint8, first, last):
                d = np.int64(names[place])
                break
            place = (place + 1) & mask
        if kind == INT32:
            number = np.float64(int32[at + i])
        elif kind == INT64:
            number = np.float64(int64[at + i])
        elif kind == FLOAT32:
            number = np.float64(float32[at + i])
        elif kind == FLOAT64:
            number = float64[at + i]
        elif kind == INT8:
            number = np.float64(int8[at + i])
        elif kind == INT16:
            number = np.float64(int16[at + i])
        elif kind == UINT8:
            number = np.float64(uint8[at + i])
        elif kind == UINT16:
            number = np.float64(uint16[at + i])
        elif kind == UINT32:
            number = np.float64(uint32[at + i])
        else:
            number = np.float64(uint64[at + i])
        found = np.int64(0)
        if not (number > -EXACT and number < EXACT):
            state[REFUSED] = 1
        elif d >= 0:
            found = cell_of(
                number,
                np.int64(cut_low[d]),
                np.int64(cut_low[d + 1]),
                np.int64(base[d]),
                np.int64(other[d]),
                cuts,
            )
            seen[d] = 1
            known += 1
        dimension[i] = d
        cell[i] = found
    cuda.atomic.add(state, KNOWN, known)


@cuda.jit
def find_repeats(events, entry_start, dimension, cell, skipped):
    """Mark the events in which two items have the same dimension."""
    for e in range(cuda.blockIdx.x, events, cuda.gridDim.x):
        first, last = np.int64(entry_start[e]), np.int64(entry_start[e + 1])
        for i in range(first + cuda.threadIdx.x, last, cuda.blockDim.x):
            for j in range(first, i):
                if dimension[i] == dimension[j] and cell[i] != 0:
                    skipped[e] = 1
