"""Search batches of documents by leapfrog over the sorted posting lists of their terms.

Row ``r`` of a batch has the documents ``posts[first[r]:first[r + 1]]``, in increasing order. Row 0 belongs to
no term and is empty. ``slot`` gives the row of a place as in the search over bits. Behind the last posting
list, ``posts`` has room for the promising documents at every depth of the second layer: ``room`` for each.
``path`` has, for every depth, the row of the node's term and begin and end of its promising documents.
"""

import numpy as np

from tamis.engines.presearch.layers._kernels import (
    CLAUSE,
    DEPTH,
    END,
    FULL,
    LAST,
    NODE,
    SCAN,
    TERM,
    TOP,
    places_of,
    rows_of,
)  # fmt: skip
from tamis.kernel import kernel


@kernel
def place_of(literal, at, heads, places):
    """Return the place of the term that decides literal ``at``, or -1 if no term does.

    A plain condition on one cell has the block of that cell, if its dimension has blocks of one cell.
    """
    row = 4 * at
    if literal[row + 1] != 0 or literal[row + 2] != literal[row + 3] or literal[row + 2] == 0:
        return np.int64(-1)
    head = 4 * np.int64(literal[row])
    if heads[head] == 0 or heads[head + 1] != 0:
        return np.int64(-1)
    place = np.int64(heads[head + 2]) + np.int64(literal[row + 2])
    return place if place < places else np.int64(-1)


@kernel
def ask_terms(literal, heads, slot):
    """Give a slot to each term that decides a literal: leapfrog reads its list."""
    for at in range(len(literal) // 4):
        place = place_of(literal, at, heads, len(slot))
        if place >= 0:
            slot[place] = 0


@kernel
def invert_lists(
    begin, stop, start, dimension, lo, multi, heads, levels, slot, row_place, bits, places, entry, ends,
    first, posts,
):  # fmt: skip
    """Write the posting lists of the plain documents begin:stop; return their number, row 0 included.

    ``entry`` receives the rows of all documents, end to end, and ``ends`` where each document's end.
    """
    rows, total = 1, 0
    first[:3] = 0
    for e in range(begin, stop):
        if not multi[e]:
            count = places_of(start[e], start[e + 1], dimension, lo, heads, levels, places)
            count, more = rows_of(places, count, slot, row_place, bits, 0, rows)
            for row in range(rows, more):
                first[row + 2] = 0
            rows = more
            for i in range(count):
                first[places[i] + 2] += 1
                entry[total + i] = places[i]
            total += count
        ends[e - begin] = total
    for row in range(2, rows + 1):
        first[row] += first[row - 1]
    at = 0
    for document in range(stop - begin):
        while at < ends[document]:
            own = np.int64(entry[at]) + 1
            posts[first[own]] = document
            first[own] += 1
            at += 1
    return rows


@kernel
def advance(posts, at, end, document):
    """Return the first place of at:end that is not below ``document``, or ``end``.

    The search takes growing steps, then halves: most lists have a few documents, some have all.
    """
    if at == end or posts[at] >= document:
        return at
    step = 1
    while at + step < end and posts[at + step] < document:
        at += step
        step *= 2
    high = min(at + step, end)
    while at + 1 < high:
        middle = (at + high) >> 1
        if posts[middle] < document:
            at = middle
        else:
            high = middle
    return high


@kernel
def leapfrog(posts, lists, count, out):
    """Write the documents that all lists have to ``posts`` at ``out``.

    ``lists`` has begin and end of each, the shortest first: it leads. Return (documents found, documents at
    which the lead stopped, calls of ``advance``).
    """
    found, stops, steps = 0, 0, 1
    at, end = lists[0], lists[1]
    while at < end:
        document = np.int64(posts[at])
        wanted = document
        stops += 1
        i = 2
        while i < 2 * count and wanted == document:
            own = advance(posts, lists[i], lists[i + 1], document)
            lists[i] = own
            steps += 1
            if own == lists[i + 1]:
                return found, stops, steps
            wanted = np.int64(posts[own])
            i += 2
        if wanted == document:
            posts[out + found] = document
            found += 1
            wanted += 1
        at = advance(posts, at + 1, end, wanted)
        steps += 1
    return found, stops, steps


@kernel
def add_lists(c, start, literal, heads, slot, first, path, depth, lists):
    """Add the posting lists of the terms of clause ``c`` to the one list in ``lists``, shortest first.

    Leave out the terms of the ``path``, which the documents in that list have. Return the number of lists, 0
    if the batch lacks a term, and whether the clause has conditions that terms do not decide.
    """
    count, rest = 1, False
    for at in range(np.int64(start[c]), np.int64(start[c + 1])):
        place = place_of(literal, at, heads, len(slot))
        if place < 0:
            rest = True
            continue
        row = np.int64(slot[place])
        if row == 0:
            return 0, rest
        known = False
        for d in range(depth + 1):
            known |= path[3 * d] == row
        if known:
            continue
        low, high = first[row], first[row + 1]
        j = count
        while j > 0 and lists[2 * j - 1] - lists[2 * j - 2] > high - low:
            lists[2 * j], lists[2 * j + 1] = lists[2 * j - 2], lists[2 * j - 1]
            j -= 1
        lists[2 * j], lists[2 * j + 1] = low, high
        count += 1
    return count, rest


@kernel
def write_hits(posts, low, high, code, hits, found):
    """Write a hit for each document of ``posts[low:high]``; return FULL if there is no room."""
    if found + high - low > len(hits):
        return FULL
    for at in range(low, high):
        hits[found] = (np.int64(posts[at]) << 34) | code
        found += 1
    return found


@kernel
def evaluate_lists(
    clause, last, low, high, depth, room, each, start, literal, heads, slot, first, posts, tail, lists, path,
    decided, owner_start, hits, found, work,
):  # fmt: skip
    """Evaluate clauses clause:last over the documents ``posts[low:high]``; return the hits, or FULL.

    With ``each``, repeat the leapfrog for every owner. Conditions that terms do not decide are left to
    ``conclude``, which counts those evaluations.
    """
    out = tail + depth * room
    for c in range(clause, last):
        if found == FULL:
            break
        if decided[c]:
            found = write_hits(posts, low, high, np.int64(c) << 1, hits, found)
            continue
        times = np.int64(owner_start[c + 1]) - np.int64(owner_start[c]) if each else np.int64(1)
        true, rest = 0, False
        for _ in range(times):
            lists[0], lists[1] = low, high
            count, rest = add_lists(c, start, literal, heads, slot, first, path, depth, lists)
            if count == 0:
                work[0] += 1
                continue
            true, stops, steps = leapfrog(posts, lists, count, out)
            work[0] += steps
            work[1] += stops - true if rest else stops
        found = write_hits(posts, out, out + true, (np.int64(c) << 1) | np.int64(rest), hits, found)
    return found


@kernel
def descend_lists(
    at, room, each, node, start, literal, heads, slot, first, posts, tail, lists, path, decided,
    owner_start, hits, found, work,
):  # fmt: skip
    """Search the second layer from node ``at`` down, whose parent stands on the ``path``.

    The search leaves a node without promising documents, and everything below it. Return the hits so far, or
    FULL.
    """
    end = np.int64(node[NODE * at + END])
    while at < end and found != FULL:
        here = NODE * at
        depth = np.int64(node[here + DEPTH])
        row = np.int64(slot[node[here + TERM]])
        low, high = path[3 * depth - 2], path[3 * depth - 1]
        one, two = first[row], first[row + 1]
        lead = 0 if high - low <= two - one else 2
        lists[lead], lists[lead + 1] = low, high
        lists[2 - lead], lists[3 - lead] = one, two
        out = tail + (depth - 1) * room
        both, _, steps = leapfrog(posts, lists, 2, out)
        work[0] += steps
        if both == 0:
            at = np.int64(node[here + END])
            continue
        path[3 * depth], path[3 * depth + 1], path[3 * depth + 2] = row, out, out + both
        found = evaluate_lists(
            np.int64(node[here + CLAUSE]), np.int64(node[here + NODE + CLAUSE]), out, out + both, depth, room,
            each, start, literal, heads, slot, first, posts, tail, lists, path, decided, owner_start, hits,
            found, work,
        )  # fmt: skip
        at += 1
    return found


@kernel
def promising_lists(pairs, count, child, slot, first, posts, work):
    """Keep the pairs (row of a root, one of its children) with a common document; return their number.

    A separate loop for the rows keeps many loads under way at once.
    """
    for i in range(count):
        pairs[3 * i + 2] = np.int64(slot[child[2 * pairs[3 * i + 1]]])
    kept, steps = 0, 0
    for i in range(count):
        root, at, row = pairs[3 * i], pairs[3 * i + 1], pairs[3 * i + 2]
        one, two = first[root], first[row]
        one_end, two_end = first[root + 1], first[row + 1]
        common = False
        while one < one_end and two < two_end and not common:
            steps += 1
            if posts[one] < posts[two]:
                one = advance(posts, one + 1, one_end, posts[two])
            elif posts[one] > posts[two]:
                two = advance(posts, two + 1, two_end, posts[one])
            else:
                common = True
        pairs[3 * kept], pairs[3 * kept + 1], pairs[3 * kept + 2] = root, at, row
        kept += common
    work[0] += steps
    return kept


@kernel
def filter_lists(
    pairs, count, room, each, child, node, start, literal, heads, slot, first, posts, tail, lists, path,
    decided, owner_start, hits, found, work,
):  # fmt: skip
    """Search the second layer for pairs (row of a root, one of its children); return the hits, or FULL."""
    for i in range(promising_lists(pairs, count, child, slot, first, posts, work)):
        if found == FULL:
            break
        root = pairs[3 * i]
        path[0], path[1], path[2] = root, first[root], first[root + 1]
        found = descend_lists(
            np.int64(child[2 * pairs[3 * i + 1] + 1]), room, each, node, start, literal, heads, slot, first,
            posts, tail, lists, path, decided, owner_start, hits, found, work,
        )  # fmt: skip
    return found


@kernel
def search_lists(
    rows, room, each, row_place, top, child, node, start, literal, heads, slot, first, posts, lists, path,
    pairs, decided, owner_start, hits, work,
):  # fmt: skip
    """Search both layers for a batch; return the number of hits, which are not in order, or FULL.

    Like ``presearch``, visit the terms of a large batch in the order of the nodes in memory.
    """
    tail = first[rows]
    in_order = SCAN * rows > len(top) // TOP
    at, end = (0, len(top) // TOP) if in_order else (1, rows)
    found, count = 0, 0
    row, next_child, last_child = np.int64(0), np.int64(0), np.int64(0)
    while found != FULL and (at < end or next_child < last_child or count > 0):
        if next_child < last_child and 3 * count < len(pairs):
            pairs[3 * count], pairs[3 * count + 1] = row, next_child
            next_child += 1
            count += 1
        elif at == end or next_child < last_child:  # no more roots, or no more room
            found = filter_lists(
                pairs, count, room, each, child, node, start, literal, heads, slot, first, posts, tail, lists,
                path, decided, owner_start, hits, found, work,
            )  # fmt: skip
            count = 0
        else:
            place = np.int64(at) if in_order else np.int64(row_place[at])
            at += 1
            if top[TOP * place + LAST] == 0 or slot[place] == 0:
                continue
            row = np.int64(slot[place])
            next_child, last_child = np.int64(top[TOP * place]), np.int64(top[TOP * place + 1])
            work[3] += 1
            work[0] += 1 + last_child - next_child
            clause, last = np.int64(top[TOP * place + 2]), np.int64(top[TOP * place + 3])
            if clause < last:
                path[0] = row
                found = evaluate_lists(
                    clause, last, first[row], first[row + 1], 0, room, each, start, literal, heads, slot,
                    first, posts, tail, lists, path, decided, owner_start, hits, found, work,
                )  # fmt: skip
    return found
