"""Scan all clauses in a bare loop: the cost of a scan with nothing but the comparisons."""

from tamis.kernel import kernel


@kernel
def bare_scan(event_start, dimension, lo, cell, start, literal):
    """Return the number of (event, clause) pairs that hold, for plain events and one-range literals."""
    found = 0
    for event in range(len(event_start) - 1):
        for at in range(event_start[event], event_start[event + 1]):
            cell[dimension[at]] = lo[at]
        for clause in range(len(start) - 1):
            holds = True
            for row in range(start[clause], start[clause + 1]):
                value = cell[literal[4 * row]]
                if value < literal[4 * row + 2] or value > literal[4 * row + 3]:
                    holds = False
                    break
            if holds:
                found += 1
        for at in range(event_start[event], event_start[event + 1]):
            cell[dimension[at]] = 0
    return found
