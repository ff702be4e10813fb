"""Count the edits between two words."""

from __future__ import annotations

from operator import ne

MOST_EDITS = 2
MOST = {"": MOST_EDITS, "levenshtein": 3, "hamming": 3}
"""The most edits of a fuzzy word, by the name of its distance; the one without a name has swaps."""


def is_within(distance: str, one: str, two: str, most: int) -> bool:
    """Return whether two words are at most ``most`` apart by one of the distances of :data:`MOST`."""
    if distance == "hamming":
        return len(one) == len(two) and sum(map(ne, one, two)) <= most
    return within_edits(one, two, most, swaps=not distance)


def within_edits(one: str, two: str, most: int, *, swaps: bool = True) -> bool:
    """Return whether at most ``most`` edits turn one word into the other.

    An edit inserts, deletes or replaces a character, or swaps two neighbours, none of which is edited again
    (optimal string alignment, as in Lucene). Without ``swaps`` it is the distance of Levenshtein. Letters
    whose places differ by more than ``most`` are never paired, so the time grows with the length of the
    words, not with its square.
    """
    if abs(len(one) - len(two)) > most:
        return False
    if one == two:
        return True
    far = most + 1
    width = 2 * most + 1  # a row holds the costs of the columns row - most to row + most
    before = [far] * width
    last = [abs(place - most) if place >= most else far for place in range(width)]
    for row, letter in enumerate(one, 1):
        now = [far] * width
        for place in range(width):
            column = row - most + place
            if not 0 <= column <= len(two):
                continue
            if column == 0:
                now[place] = row
                continue
            other = two[column - 1]
            cost = last[place] + (letter != other)
            if place > 0:
                cost = min(cost, now[place - 1] + 1)
            if place + 1 < width:
                cost = min(cost, last[place + 1] + 1)
            if swaps and row > 1 and column > 1 and letter == two[column - 2] and one[row - 2] == other:
                cost = min(cost, before[place] + 1)
            now[place] = cost
        if min(now) > most and min(last) >= most:  # a swap looks back two rows, and adds an edit
            return False
        before, last = last, now
    return last[len(two) - len(one) + most] <= most
