"""Keep a heap over two arrays, and sort runs of clauses stably."""

import numpy as np

from tamis.kernel import kernel


# ---------------------------------------------------------------------------------- the heap, and its room
@kernel
def longer(stack, top, more):
    """Return ``stack`` with room for ``more`` items beyond ``top``."""
    if top + more <= len(stack):
        return stack
    larger = np.empty(2 * (top + more), stack.dtype)
    for i in range(top):  # a slice assignment would take seconds to compile
        larger[i] = stack[i]
    return larger


@kernel
def push(bounds, items, left, bound, item):
    """Add an item to a heap with room for it; the highest bound comes first, then the lowest item."""
    at = left
    while at > 0:
        above = (at - 1) >> 1
        if bounds[above] > bound or (bounds[above] == bound and items[above] < item):
            break
        bounds[at], items[at] = bounds[above], items[above]
        at = above
    bounds[at], items[at] = bound, item


@kernel
def drop_first(bounds, items, left):
    """Remove the first item from a heap of ``left`` items."""
    left -= 1
    bound, item = bounds[left], items[left]
    at = 0
    while 2 * at + 1 < left:
        below = 2 * at + 1
        other = below + 1
        if other < left and (
            bounds[other] > bounds[below] or (bounds[other] == bounds[below] and items[other] < items[below])
        ):
            below = other
        if bounds[below] < bound or (bounds[below] == bound and items[below] > item):
            break
        bounds[at], items[at] = bounds[below], items[below]
        at = below
    bounds[at], items[at] = bound, item


# ------------------------------------------------------------------------------------------------ runs
@kernel
def copy(source, begin, end, target, at):
    """Copy ``source[begin:end]`` to ``target[at:]``; a slice assignment would take seconds to compile."""
    for i in range(begin, end):
        target[at + i - begin] = source[i]


@kernel
def taken(values, order, begin, end):
    """Return the values of a run of clauses."""
    out = np.empty(end - begin, np.int64)
    for i in range(begin, end):
        out[i - begin] = values[order[i]]
    return out


@kernel
def merge_runs(order, low, middle, high, key, spare):
    """Merge two sorted neighbouring runs into ``spare``."""
    left, right = low, middle
    for at in range(low, high):
        if left < middle and (right == high or key[order[left]] <= key[order[right]]):
            spare[at] = order[left]
            left += 1
        else:
            spare[at] = order[right]
            right += 1


@kernel
def sort_run(order, begin, end, key, spare):
    """Sort a run of clauses by a key; equal keys keep their order."""
    width = 1
    while width < end - begin:
        for low in range(begin, end, 2 * width):
            merge_runs(order, low, min(low + width, end), min(low + 2 * width, end), key, spare)
        copy(spare, begin, end, order, begin)
        width *= 2
