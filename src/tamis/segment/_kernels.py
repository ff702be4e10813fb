"""Find ids in a segment."""

import numpy as np

from tamis.kernel import kernel
from tamis.space.pstree._kernels import compare


@kernel
def find_string(wanted, a, b, order, start, data):
    """Return the number of the string ``wanted[a:b]`` among the strings that ``order`` sorts, or -1."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) >> 1
        at = order[middle]
        if compare(data, int(start[at]), int(start[at + 1]), wanted, a, b) < 0:
            low = middle + 1
        else:
            high = middle
    if low < len(order):
        at = order[low]
        if compare(data, int(start[at]), int(start[at + 1]), wanted, a, b) == 0:
            return np.int64(at)
    return np.int64(-1)


@kernel
def find_strings(wanted_start, wanted, order, start, data, found):
    """Write the number of each wanted string among the strings that ``order`` sorts, or -1."""
    for n in range(len(found)):
        found[n] = find_string(wanted, wanted_start[n], wanted_start[n + 1], order, start, data)
