"""Sort terms, count pairs, collect terms, build nodes and calibrate: the compiled loops of the layout."""

import numpy as np

from tamis.engines._kernels import holds_plain
from tamis.engines.presearch.layers._kernels import CLAUSE, DEPTH, END, TERM, and_rows, emit
from tamis.kernel import kernel

_HALVES = np.uint64(0x5555555555555555)
_QUARTERS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


@kernel
def sort_terms(unit_start, usable, share, place, start, out):
    """Write per clause its usable conditions, least likely first, to out[start[c]:start[c + 1]]."""
    for c in range(len(unit_start) - 1):
        end = start[c]
        for unit in range(unit_start[c], unit_start[c + 1]):
            if not usable[unit]:
                continue
            j = end - 1
            while j >= start[c]:
                other = out[j]
                if share[other] < share[unit] or (share[other] == share[unit] and place[other] < place[unit]):
                    break
                out[j + 1] = out[j]
                j -= 1
            out[j + 1] = unit
            end += 1


@kernel
def count_ones(x):
    """Return the number of bits set in a word."""
    x = x - ((x >> np.uint64(1)) & _HALVES)
    x = (x & _QUARTERS) + ((x >> np.uint64(2)) & _QUARTERS)
    x = (x + (x >> np.uint64(4))) & _NIBBLES
    return np.int64((x * _BYTES) >> np.uint64(56))


@kernel
def count_pairs(one, two, slot, bits, width, together):
    """Add, for each pair of places, the documents of a bit map that have both."""
    for p in range(len(one)):
        a, b = np.int64(slot[one[p]]) * width, np.int64(slot[two[p]]) * width
        if a > 0 and b > 0:
            both = np.int64(0)
            for w in range(width):
                both += count_ones(bits[a + w] & bits[b + w])
            together[p] += both


@kernel
def most_gain(probs, size, begin, decidable, check, one_and, avoid):
    """Return the number of extra terms, from ``begin`` on, with the most gain (``findMaximumGain``)."""
    best, index = 0.0, 0
    for j in range(begin, size):
        if j != size - 1 or not decidable:
            gain = check * (1.0 - probs[j]) - j * one_and
        else:
            gain = check - j * one_and - probs[j] * avoid
        if gain >= best:
            best, index = gain, j
    return index


@kernel
def decide_terms(start, share, together, decidable, documents, times, batch, frequent, greedy, extra):
    """Decide for every clause how many terms beside the representative to index (``decideNumTermsCollect``).

    ``together[t]`` is the probability of term ``t`` with the previous term, 0 if the matrix lacks the pair.
    ``documents[c]`` is the number of documents of a batch for which a candidate is evaluated.
    """
    most = 0
    for c in range(len(start) - 1):
        most = max(most, start[c + 1] - start[c])
    probs = np.ones(most + 1)
    for c in range(len(start) - 1):
        size = start[c + 1] - start[c]
        partial, common, begin = 1.0, 0, max(size - 1, 1)
        for j in range(1, size):
            t = start[c] + j
            if together[t] > 0.0:
                partial *= together[t]
                common += 1
            else:
                partial *= share[t]
                common += share[t] > frequent
            probs[j] = partial
            expected = (1.0 - (1.0 - partial) ** batch) * batch
            if expected < 1.0 and j < begin:
                begin = j
        if not greedy:
            begin = 1
        if common == size - 1 and decidable[c]:
            extra[c] = size - 1
        else:
            check, avoid = documents[c] * times[0], documents[c] * times[2]
            extra[c] = most_gain(probs, size, begin, decidable[c], check, times[1], avoid)


@kernel
def grow_nodes(order, first, length, terms, node, open_at):
    """Write the nodes of clauses sorted by their paths, in preorder; return their number.

    A path is terms[first[c]:first[c] + length[c]]; clauses with a common beginning share its nodes.
    """
    count, previous, depth = 0, 0, 0
    for i in range(len(order)):
        c = order[i]
        shared = 0
        while shared < min(depth, length[c]) and terms[first[c] + shared] == terms[first[previous] + shared]:
            shared += 1
        for at in range(shared, depth):
            node[open_at[at], END] = count
        for at in range(shared, length[c]):
            node[count, TERM] = terms[first[c] + at]
            node[count, CLAUSE] = i
            node[count, DEPTH] = at
            open_at[at] = count
            count += 1
        previous, depth = c, length[c]
    for at in range(depth):
        node[open_at[at], END] = count
    node[count, CLAUSE] = len(order)
    return count


@kernel
def run_ands(pick, bits, width, partial, words):
    """Run as many ANDs as there are rows in ``pick``, for timing."""
    left = np.uint64(0)
    for i in range(len(pick)):
        left |= and_rows(partial, 0, width, bits, pick[i] * width, words, width, width)
    return left


@kernel
def run_checks(pick, start, literal, cell, entries):
    """Run as many evaluations as there are clauses in ``pick``, for timing; 64 for each document."""
    true = 0
    for i in range(len(pick)):
        if i & 63 == 0:
            for k in range(2 * len(entries)):  # enter the event, then clear it
                cell[entries[k >> 1]] = 1
        true += holds_plain(literal, start[pick[i]], start[pick[i] + 1], cell, literal, literal)
    return true


@kernel
def run_outputs(times, decided, partial, words, hits):
    """Output a bit array ``times`` times, for timing; return the hits of one."""
    found = 0
    for _ in range(times):
        found = emit(0, 1, decided, partial, 0, words, len(words), hits, 0)
    return found


@kernel
def subtree_ends(depth, out):
    """Write the end of each node's subtree, from the depths of all nodes in preorder and one after them.

    The end is the next node that is not deeper.
    """
    waiting = np.empty(len(depth), np.int64)
    count = 0
    for at in range(len(depth) - 1, -1, -1):
        while count > 0 and depth[waiting[count - 1]] > depth[at]:
            count -= 1
        if at < len(out):
            out[at] = waiting[count - 1]
        waiting[count] = at
        count += 1
