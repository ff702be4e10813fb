"""Compiled loops of the bulk path: rows are many, so they are passed over as seldom as possible."""

from numba import njit


@njit(cache=True, nogil=True)
def renumber(code, known, number, out):
    """Number the texts ``known[code]`` in order of appearance; returns how many appear.

    ``number`` holds -1 for every text and ends as their numbers.
    """
    count = 0
    for i in range(len(code)):
        text = known[code[i]]
        if number[text] < 0:
            number[text] = count
            count += 1
        out[i] = number[text]
    return count


@njit(cache=True, nogil=True)
def mark_numbers(numbers, low, seen):
    """Mark the numbers that occur, counted from ``low``."""
    for i in range(len(numbers)):
        seen[numbers[i] - low] = True


@njit(cache=True, nogil=True)
def take_ranks(numbers, low, rank, out):
    """The rank of every number, counted from ``low``."""
    for i in range(len(numbers)):
        out[i] = rank[numbers[i] - low]


@njit(cache=True, nogil=True)
def wrong_counts(op, arity, least, most, wrong):
    """Mark rows with too few or too many operands for their operator; returns whether there is one."""
    found = False
    for i in range(len(op)):
        wrong[i] = arity[i] < least[op[i]] or arity[i] > most[op[i]]
        found |= wrong[i]
    return found
