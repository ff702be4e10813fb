"""A loop that both engines share."""

import numpy as np
from numba import njit

TOUCHED = 4  # the place in ``work`` that takes what touch_runs has read


@njit(cache=True, nogil=True)
def touch_runs(begins, ends, runs, words, work):
    """Read the first and last word of every run, so that all of them are on their way at once.

    The lists of an event lie scattered over memory. A loop that also filters has room for a few of them
    in the processor's queues; a loop that does nothing else has room for dozens. What was read must go
    somewhere, or the compiler leaves the loop out.
    """
    seen = np.uint64(0)
    for r in range(runs):
        seen ^= np.uint64(words[begins[r]]) ^ np.uint64(words[ends[r] - 1])
    work[TOUCHED] = np.int64(seen >> np.uint64(1))
