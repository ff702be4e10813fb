"""Reach a match probability by construction: events follow profiles that satisfy a share of the book.

A profile fixes some attributes of an event and their values. Every event follows one profile, and each
profile satisfies a share of the subscriptions: those are built around its values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bench.workloads.base import Ints


class Profiles(NamedTuple):
    """The attributes of each profile, a row each, and their values."""

    attribute: Ints
    value: Ints

    def followers(
        self, rng: np.random.Generator, rows: int, width: int, share: float
    ) -> tuple[Ints, Ints, Ints]:
        """Choose which of ``rows`` subscriptions are to be true for a profile; each profile gets ``share``.

        Return their places and, for each, up to ``width`` attributes and the values to satisfy.
        """
        count, known = self.attribute.shape
        chosen = np.flatnonzero(rng.random(rows) < share * count)
        profile = rng.integers(0, count, len(chosen))[:, None]
        place = np.argsort(rng.random((len(chosen), known)), axis=1)[:, :width]
        return chosen, self.attribute[profile, place], self.value[profile, place]

    def lead(self, rng: np.random.Generator, value: Ints) -> Ints:
        """Let every event follow some profile.

        Write the profile's values to the first columns of ``value``; return its attributes, else -1.
        """
        profile = rng.integers(0, len(self.attribute), len(value))
        known = self.attribute.shape[1]
        fixed = np.full(value.shape, -1)
        fixed[:, :known] = self.attribute[profile]
        value[:, :known] = self.value[profile]
        return fixed


def profile_width(most_predicates: int, event_size: int) -> int:
    """Return the number of attributes that a profile fixes: half an event, or the largest subscription."""
    return min(event_size, max(most_predicates, event_size // 2))


def profile_count(most: int, probability: float) -> int:
    """Return the number of profiles that can each have their own share of the book."""
    return max(1, min(most, int(1.0 / probability)))
