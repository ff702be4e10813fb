"""Find many ids in a segment at once."""

from tamis.kernel import kernel
from tamis.space.pstree._kernels import compare


@kernel
def find_strings(wanted_start, wanted, order, start, data, found):
    """Write the number of each wanted string among the strings that ``order`` sorts, or -1."""
    for n in range(len(found)):
        low, high = 0, len(order)
        a, b = wanted_start[n], wanted_start[n + 1]
        while low < high:
            middle = (low + high) >> 1
            at = order[middle]
            if compare(data, int(start[at]), int(start[at + 1]), wanted, a, b) < 0:
                low = middle + 1
            else:
                high = middle
        found[n] = -1
        if low < len(order):
            at = order[low]
            if compare(data, int(start[at]), int(start[at + 1]), wanted, a, b) == 0:
                found[n] = at
