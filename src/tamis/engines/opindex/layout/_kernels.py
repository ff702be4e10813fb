"""Choose pivots, assign the bits of groups, and sign the lists of ``opindex``."""

import numpy as np

from tamis.kernel import kernel

EQ, LE, GE, OPERATORS = 0, 1, 2, 3  # the operators, and their number
UNDECIDED, GROUPED = 1, 2  # counting is not enough; the clause is a conjunction of disjunctions
GROUP, BITMAP = 4, 64  # the bit position of the group in a literal's flags; bits of a bitmap


@kernel
def choose_pivots(start, dimension, needed, frequency, pivot):
    """Choose the least frequent dimension that each clause needs, or the number after the last dimension."""
    for c in range(len(start) - 1):
        best = len(frequency)
        for at in range(start[c], start[c + 1]):
            d = dimension[at]
            if needed[at] > 0 and (best == len(frequency) or frequency[d] < frequency[best]):
                best = d
        pivot[c] = best


@kernel
def assign_bits(clauses, start, group, dimension, needed, exact, often, bit, demand, chosen, undecided):
    """Assign a bit to every group that can be counted, and choose the group whose attributes are the pivots.

    The chosen group has the fewest predicates, then the least frequent attributes. A proper range alone in
    its group has a second bit for its ``<=``; among alternatives only its ``>=`` is counted. A group with a
    literal that absence satisfies, and the groups beyond the last bit, are left for the final check.
    """
    size, weight = np.zeros(BITMAP, np.int64), np.zeros(BITMAP, np.float64)
    ranged, countable = np.zeros(BITMAP, np.bool_), np.zeros(BITMAP, np.bool_)
    place = np.zeros((2, BITMAP), np.int64)
    for c in clauses:
        size[:], weight[:], ranged[:], countable[:], place[:] = 0, 0.0, False, True, -1
        for at in range(start[c], start[c + 1]):
            g = group[at]
            size[g] += 1
            weight[g] += often[dimension[at]]
            ranged[g] |= needed[at] > 1
            countable[g] &= needed[at] > 0
            undecided[c] |= not exact[at]
        used, best = 0, 0
        for g in range(1, BITMAP):
            if size[g] == 0:
                continue
            alone = size[g] == 1
            undecided[c] |= ranged[g] and not alone
            bits = 2 if ranged[g] and alone else 1
            if not countable[g] or used + bits > BITMAP:
                undecided[c] = True
                continue
            for half in range(bits):
                place[half, g] = used
                demand[c] |= np.uint64(1) << np.uint64(used)
                used += 1
            if best == 0 or size[g] < size[best] or (size[g] == size[best] and weight[g] < weight[best]):
                best = g
        chosen[c] = best
        for at in range(start[c], start[c + 1]):
            bit[0, at], bit[1, at] = place[0, group[at]], place[1, group[at]]


@kernel
def signature_bit(operator, dimension, operand):
    """Return the one bit of 64 that a predicate sets, and that an event's value looks for.

    For ``=`` it depends on dimension and operand. For the others, which many operands meet, it depends on the
    dimension alone.
    """
    mixed = np.uint64(dimension) * np.uint64(0x9E3779B97F4A7C15)
    if operator == EQ:
        mixed = (mixed ^ np.uint64(operand)) * np.uint64(0xD6E8FEB86659FD93)
    return np.uint64(1) << (mixed >> np.uint64(58))


@kernel
def sign_lists(operator, dimension, operand, number, signature):
    """Set the signature bits of all predicates."""
    for i in range(len(operator)):
        signature[number[i]] |= signature_bit(operator[i], dimension[i], operand[i])
