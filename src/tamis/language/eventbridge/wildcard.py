"""Read EventBridge wildcards: ``*`` is any run of characters, a backslash makes it literal."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from tamis.errors import PatternError
from tamis.expression.operands import over
from tamis.limits import Limits


def like_of(text: str, limits: Limits) -> str:
    """Return the LIKE pattern of a wildcard; raise :class:`PatternError` if it is not one."""
    pieces = list(_pieces(text))
    if (states := most_states(pieces)) > limits.wildcard_states:
        what = f"some text matches {states} beginnings of the wildcard {text[:80]!r} at once"
        raise over("wildcard_states", limits.wildcard_states, what)
    return "%".join(map(literal, pieces))


def literal(text: str) -> str:
    """Return the LIKE pattern that matches just this text."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _pieces(text: str) -> Iterator[str]:
    """Yield the texts between the stars."""
    piece: list[str] = []
    at = 0
    while at < len(text):
        char, following = text[at], text[at + 1 : at + 2]
        if char == "*":
            if following == "*":
                raise PatternError(f"two * in a row at character {at} of {text[:80]!r}; one says the same")
            yield "".join(piece)
            piece.clear()
        elif char == "\\":
            if following not in ("*", "\\"):
                raise PatternError(
                    f"a backslash stands before * or \\ only, not at character {at} of {text[:80]!r}"
                )
            piece.append(following)
            at += 1
        else:
            piece.append(char)
        at += 1
    yield "".join(piece)


def most_states(pieces: list[str]) -> int:
    """Return how many beginnings of a wildcard that end in a ``*`` or after one can match the same text.

    This number is a wildcard's cost for an automaton, and EventBridge limits it. A ``*`` once reached stays
    reached, so the worst text first passes all of them. Then it ends in letters that as many pieces as
    possible begin with. They are found by the method of Aho and Corasick: letters after letters, and for each
    run of letters also the longest proper ending that begins a piece.
    """
    below: list[dict[str, int]] = [{}]
    begun = [0]  # for each run of letters, how many pieces begin with it, or with one of its endings
    for piece in pieces[1:]:
        node = 0
        for char in piece:
            if char not in below[node]:
                below[node][char] = len(below)
                below.append({})
                begun.append(0)
            node = below[node][char]
            begun[node] += 1
    ending = [0] * len(below)
    waiting = deque(below[0].values())
    while waiting:
        node = waiting.popleft()
        begun[node] += begun[ending[node]]
        for char, child in below[node].items():
            shorter = ending[node]
            while shorter and char not in below[shorter]:
                shorter = ending[shorter]
            ending[child] = below[shorter].get(char, 0)
            waiting.append(child)
    return len(pieces) - 1 + max(begun)
