"""Search the postings of ``hybrid`` on a card.

A block of threads takes one event at a time. It enters the event's cells into a table in shared memory,
writes down the lists that the event visits, filters their postings, and checks what is left. The
subscriptions that it finds collect in shared memory. One atomic step reserves a place for all of them, so
those of an event stand together. An event with more of them than fit is searched twice: first to count, then
to write.
"""

from functools import cache

import numpy as np

from tamis.engines import _kernels as kernels
from tamis.gpu.cuda import cuda, on_card, types, with_registers

CLAUSE = 0x7FFFFFFF  # of a posting; the bit above says that the clause is decided
NEGATIVE, ABSENT_OK, MANY = 1, 2, 4
DOUBTFUL = 0x80000000  # beside a subscription: the tree must decide
REPEATED = 0x40000000  # beside a subscription: the event has found it already
NUMBER = 0x3FFFFFFF
LISTS, ZONES, FOUND, KEPT = range(4)  # places in ``counter``
PROBED, VERIFIED, VISITED, CROWDED = range(4)  # places in ``work``
LEFT = -1  # the number of subscriptions of an event that the processor must match: it visits too many lists
REGISTERS = 64  # of a thread: with fewer, more events are under way at once
HASH = 40503  # times a dimension: an odd number near 2**16 divided by the golden ratio


@cuda.jit(device=True, inline=True)
def first_slot(dimension, mask):
    """Return the place at which the search for a dimension in the hash table begins."""
    return ((np.int64(dimension) * HASH) >> 4) & mask


@cuda.jit(device=True, inline=True)
def dense_place(keys, dimension):
    """Return the place of a dimension in the table: there is one for each."""
    return dimension


@cuda.jit(device=True)
def hashed_place(keys, dimension):
    """Return the place of a dimension in the open hash table; -1 if the event does not have it."""
    mask = len(keys) - 1
    at = first_slot(dimension, mask)
    while keys[at] != 0:
        if keys[at] == dimension + 1:
            return at
        at = (at + 1) & mask
    return np.int64(-1)


@cuda.jit(device=True, inline=True)
def dense_enter(keys, dimension):
    """Return the place of a dimension that the event has."""
    return dimension


@cuda.jit(device=True)
def hashed_enter(keys, dimension):
    """Take a free place of the hash table for a dimension; no other thread has the same one."""
    mask = len(keys) - 1
    at = first_slot(dimension, mask)
    while cuda.atomic.cas(keys, at, np.uint32(0), np.uint32(dimension + 1)) != 0:
        at = (at + 1) & mask
    return at


in_set = on_card(kernels.in_set)


@cuda.jit(device=True, inline=True)
def triangle(one, two, width):
    """Return the place of a pair of zones, ``one`` before ``two``, in a triangle of ``width`` zones."""
    return one * (2 * width - one - 1) // 2 + two - one - 1


@cache
def search_kernel(exact_type, table_type, is_hashed, is_wide, registers=REGISTERS):
    """Return the kernel for tables of two types, dense or hashed, and records of 32 or 64 bits."""
    place_of = hashed_place if is_hashed else dense_place
    enter = hashed_enter if is_hashed else dense_enter
    word = np.uint64 if is_wide else np.uint32
    most_shift = np.uint32(63 if is_wide else 31)

    @cuda.jit(device=True, inline=True)
    def satisfied(record, dimension_bits, cell_bits, keys, table):
        """Return whether the event satisfies a record (dimension, lowest cell, width)."""
        one = np.uint32(1)
        dimension = np.int64(record & word((word(one) << dimension_bits) - word(one)))
        rest = word(record >> dimension_bits)
        low = np.uint32(rest & word((word(one) << cell_bits) - word(one)))
        width = np.uint32(rest >> cell_bits)
        at = place_of(keys, dimension)
        value = np.uint32(table[at]) if at >= 0 else np.uint32(0)
        return value >= low and np.uint32(value - low) <= width

    @cuda.jit(device=True)
    def holds(literal, at, keys, exact, set_lo, set_hi):
        """Return whether one literal holds for the event."""
        row = 4 * at
        place = place_of(keys, np.int64(literal[row]))
        value = np.int64(exact[place]) if place >= 0 else np.int64(0)
        flags = np.int64(literal[row + 1])
        low, high = np.int64(literal[row + 2]), np.int64(literal[row + 3])
        if flags == 0:
            return low <= value and value <= high
        if value == 0:
            return flags & ABSENT_OK != 0
        if flags & MANY:
            inside = in_set(value, low, high, set_lo, set_hi)
        else:
            inside = low <= value and value <= high
        return inside != (flags & NEGATIVE != 0)

    @cuda.jit(device=True)
    def all_hold(literal, begin, end, keys, exact, set_lo, set_hi):
        """Return whether the literals begin:end hold for the event."""
        for at in range(begin, end):  # noqa: SIM110  (no generators on a card)
            if not holds(literal, at, keys, exact, set_lo, set_hi):
                return False
        return True

    @cuda.jit(device=True)
    def may_hold(literal, at, keys, exact):
        """Return whether the first literal is no plain range, or holds."""
        place = place_of(keys, np.int64(literal[4 * at]))
        value = np.int64(exact[place]) if place >= 0 else np.int64(0)
        inside = np.int64(literal[4 * at + 2]) <= value and value <= np.int64(literal[4 * at + 3])
        return inside or literal[4 * at + 1] != 0

    @cuda.jit(device=True)
    def take(clause, owner_start, owner, revise, dead, counter, found, out, place, is_direct):
        """Write the subscriptions in force that own a clause, or count them if there is no room."""
        first, last = np.int64(clause), np.int64(clause) + 1
        if len(owner_start) > 0:
            first, last = np.int64(owner_start[clause]), np.int64(owner_start[clause + 1])
        doubt = np.uint32(0)
        if len(revise) > 0 and revise[clause] & 1:
            doubt = np.uint32(DOUBTFUL)
        for at in range(first, last):
            number = owner[at]
            if len(dead) > 0 and dead[number]:
                continue
            to = cuda.atomic.add(counter, FOUND, 1)
            if is_direct:
                if place + to < len(out):
                    out[place + to] = np.uint32(number | doubt)
            elif to < len(found):
                found[to] = np.uint32(number | doubt)

    @cuda.jit(device=True)
    def check_posting(
        i, rows, stride, dimension_bits, cell_bits, keys, table, exact, start, literal, set_lo, set_hi, until,
        owner_start, owner, revise, dead, counter, found, out, place, is_direct,
    ):  # fmt: skip
        """Check a posting that its first record let pass; return 1 if its clause's literals were checked."""
        row = np.uint64(i) * np.uint64(stride)
        for n in range(row + np.uint64(1), row + np.uint64(stride)):
            if not satisfied(rows[n], dimension_bits, cell_bits, keys, table):
                return 0
        posting = np.int64(rows[row])
        clause = posting & CLAUSE
        verified = 0
        if posting <= CLAUSE:
            begin = np.int64(start[clause])
            if not may_hold(literal, begin, keys, exact):
                return 0
            verified = 1
            if not all_hold(literal, begin, np.int64(until[clause]), keys, exact, set_lo, set_hi):
                return verified
        take(clause, owner_start, owner, revise, dead, counter, found, out, place, is_direct)
        return verified

    @with_registers(registers)
    def search(
        events, entry_start, width, dimension, cell, matrix_dimension, matrix, skipped,
        start, literal, set_lo, set_hi, cells, heads, levels, list_start, residual, until, inline, rows,
        owner_start, owner, revise, dead, shape, rooms, out, total, place_of_event, count_of_event, work,
    ):  # fmt: skip
        """Write the subscriptions of every event to ``out``, and where they stand.

        ``total`` counts all of them, even if there is no room. An event that is ``LEFT`` has none. An event
        has ``width`` cells in ``matrix``, one row for each dimension of ``matrix_dimension``, and the entries
        of ``entry_start``, if there are any.
        """
        dimension_bits, cell_bits = np.uint32(shape[0]) & most_shift, np.uint32(shape[1]) & most_shift
        zones, zone_width, first_pair, stride = shape[2], shape[3], shape[4], shape[5]
        size, is_rounded, is_distinct = shape[6], shape[7] != 0, shape[8] != 0
        found_room, list_room, zone_room, lane_bits = rooms[0], rooms[1], rooms[2], rooms[3]
        words = cuda.shared.array(0, types.uint32)
        found = words[0:found_room]
        base = found_room
        begins = words[base : base + list_room]
        base += list_room
        ends = words[base : base + list_room]
        base += list_room
        zone = words[base : base + zone_room]
        base += zone_room
        keys = words[base : base + size] if is_hashed else words[0:0]
        base += size if is_hashed else 0
        exact_all = cuda.shared.array(0, exact_type)
        table_all = cuda.shared.array(0, table_type)
        exact = exact_all[rooms[4] : rooms[4] + size]
        table = table_all[rooms[5] : rooms[5] + size]
        counter = cuda.shared.array(4, types.int32)
        reserved = cuda.shared.array(1, types.int64)

        tid, threads = cuda.threadIdx.x, cuda.blockDim.x
        lanes = 1 << lane_bits
        group, groups, lane = tid >> lane_bits, threads >> lane_bits, tid & (lanes - 1)
        probed, verified, visited = np.int64(0), np.int64(0), np.int64(0)
        for i in range(tid, size, threads):
            exact[i] = 0
            table[i] = 0
            if is_hashed:
                keys[i] = 0
        if tid < 4:
            counter[tid] = 0
        cuda.syncthreads()
        for e in range(cuda.blockIdx.x, events, cuda.gridDim.x):
            if len(skipped) > 0 and skipped[e] != 0:
                if tid == 0:
                    place_of_event[e] = 0
                    count_of_event[e] = 0
                continue
            a, b = np.int64(0), np.int64(0)
            if len(entry_start) > 0:
                a, b = np.int64(entry_start[e]), np.int64(entry_start[e + 1])
            n = width + b - a
            for k in range(tid, n, threads):
                if k < width:
                    d, value = np.int64(matrix_dimension[k]), np.int64(matrix[k * events + e])
                else:
                    d, value = np.int64(dimension[a + k - width]), np.int64(cell[a + k - width])
                if value != 0:
                    at = enter(keys, d)
                    exact[at] = value
                    if is_rounded:
                        table[at] = value >> ((np.int64(heads[4 * d]) >> 8) & 255)
                    slot = np.int64(heads[4 * d + 3]) - 1
                    if slot >= 0:
                        # The zones of a dimension divide its cells (and absence) evenly.
                        zone[cuda.atomic.add(counter, ZONES, 1)] = slot * zones + value * zones // (
                            np.int64(cells[d]) + 1
                        )
            cuda.syncthreads()
            place = np.int64(0)
            for turn in range(2):  # the second only if there was no room for all
                for k in range(tid, n, threads):
                    if k < width:
                        d, value = np.int64(matrix_dimension[k]), np.int64(matrix[k * events + e])
                    else:
                        d, value = np.int64(dimension[a + k - width]), np.int64(cell[a + k - width])
                    if value == 0:
                        continue
                    first = np.int64(heads[4 * d + 2])
                    for level in range(first, first + (np.int64(heads[4 * d]) & 255)):
                        at = np.int64(levels[2 * level + 1]) + (value >> np.int64(levels[2 * level]))
                        low, high = np.int64(list_start[at]), np.int64(list_start[at + 1])
                        if turn == 0:
                            visited += 1
                            probed += high - low
                        if low < high:
                            to = cuda.atomic.add(counter, LISTS, 1)
                            if to < list_room:
                                begins[to] = low
                                ends[to] = high
                pairs = counter[ZONES]
                for one in range(tid >> 5, pairs, max(threads >> 5, 1)):
                    for two in range(one + 1 + (tid & 31), pairs, min(threads, 32)):
                        low = np.int64(min(zone[one], zone[two]))
                        at = first_pair + triangle(low, np.int64(max(zone[one], zone[two])), zone_width)
                        low, high = np.int64(list_start[at]), np.int64(list_start[at + 1])
                        if turn == 0:
                            visited += 1
                            probed += high - low
                        if low < high:
                            to = cuda.atomic.add(counter, LISTS, 1)
                            if to < list_room:
                                begins[to] = low
                                ends[to] = high
                cuda.syncthreads()
                lists = np.int64(counter[LISTS])
                if lists > list_room:  # in every thread
                    if tid == 0:
                        place_of_event[e] = 0
                        count_of_event[e] = LEFT
                    break
                for r in range(group, lists, groups):
                    p, end = np.uint64(begins[r]) + np.uint64(lane), np.uint64(ends[r])
                    while p < end:  # an unsigned index saves the check for negative ones
                        if satisfied(inline[p], dimension_bits, cell_bits, keys, table):
                            verified += (1 - turn) * check_posting(
                                p, rows, stride, dimension_bits, cell_bits, keys, table, exact, start,
                                literal, set_lo, set_hi, until, owner_start, owner, revise, dead, counter,
                                found, out, place, turn == 1,
                            )  # fmt: skip
                        p += np.uint64(lanes)
                for r in range(tid, len(residual), threads):
                    c = np.int64(residual[r])
                    if turn == 0:
                        probed += 1
                        verified += 1
                    if all_hold(
                        literal, np.int64(start[c]), np.int64(start[c + 1]), keys, exact, set_lo, set_hi
                    ):
                        take(c, owner_start, owner, revise, dead, counter, found, out, place, turn == 1)
                cuda.syncthreads()
                if turn == 1:
                    break
                number = np.int64(counter[FOUND])
                fits = number <= found_room
                if fits and is_distinct and number > 1:
                    for i in range(tid, number, threads):
                        mine = found[i] & ~np.uint32(REPEATED)
                        repeated = False
                        for j in range(number):
                            other = found[j] & ~np.uint32(REPEATED)
                            if (other ^ mine) & NUMBER == 0 and (other < mine or (other == mine and j < i)):
                                repeated = True
                        if repeated:
                            found[i] = mine | np.uint32(REPEATED)
                        else:
                            cuda.atomic.add(counter, KEPT, 1)
                    cuda.syncthreads()
                    number = np.int64(counter[KEPT])
                if tid == 0:
                    reserved[0] = cuda.atomic.add(total, 0, number)
                    place_of_event[e] = reserved[0]
                    count_of_event[e] = number
                    if not fits and is_distinct:
                        work[CROWDED] = 1
                cuda.syncthreads()
                place = reserved[0]
                listed = np.int64(counter[FOUND])
                cuda.syncthreads()
                if tid == 0:
                    counter[LISTS] = 0
                    counter[FOUND] = 0
                    counter[KEPT] = 0
                cuda.syncthreads()
                if fits:
                    if number == listed:
                        for i in range(tid, number, threads):
                            if place + i < len(out):
                                out[place + i] = found[i]
                    else:
                        for i in range(tid, listed, threads):
                            if not found[i] & REPEATED:
                                to = place + cuda.atomic.add(counter, KEPT, 1)
                                if to < len(out):
                                    out[to] = found[i]
                    break
            for k in range(tid, n, threads):
                if not is_hashed:
                    d = np.int64(matrix_dimension[k]) if k < width else np.int64(dimension[a + k - width])
                    if d >= 0:
                        exact[d] = 0
                        if is_rounded:
                            table[d] = 0
            if is_hashed:
                for i in range(tid, size, threads):
                    keys[i] = 0
            cuda.syncthreads()
            if tid < 4:
                counter[tid] = 0
            cuda.syncthreads()
        cuda.atomic.add(work, PROBED, probed)
        cuda.atomic.add(work, VERIFIED, verified)
        cuda.atomic.add(work, VISITED, visited)

    return search


@cuda.jit
def gather(events, count, source, start, found, out):
    """Move the subscriptions of each event to their place in the order of events."""
    for e in range(cuda.blockIdx.x, events, cuda.gridDim.x):
        first, to = source[e], start[e]
        for i in range(cuda.threadIdx.x, np.int64(count[e]), cuda.blockDim.x):
            out[to + i] = found[first + i]
