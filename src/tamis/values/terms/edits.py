"""Count the edits between two words."""

from __future__ import annotations

MOST_EDITS = 2


def within_edits(one: str, two: str, most: int) -> bool:
    """Return whether ``most`` edits turn one word into the other.

    An edit inserts, deletes or replaces a character, or swaps two neighbours, none of which is edited again
    (optimal string alignment, as in Lucene).
    """
    if abs(len(one) - len(two)) > most:
        return False
    if one == two:
        return True
    before: list[int] = []
    last = list(range(len(two) + 1))
    for row, letter in enumerate(one, 1):
        now = [row]
        for column, other in enumerate(two, 1):
            cost = min(last[column] + 1, now[-1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == two[column - 2] and one[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            now.append(cost)
        if min(now) > most and min(last) >= most:  # a swap looks back two rows, and adds an edit
            return False
        before, last = last, now
    return last[-1] <= most
