"""Provide the base of generators: a name, parameters, and streams of any length in pieces.

A generator makes any range of its columns, texts and events separately, block by block, each block with its
own seed. So a book is the beginning of every larger one, and nothing has to be held in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bench.workloads.base import Ints, no_texts
from bench.workloads.draw import BLOCK, EVENT_BLOCK, Mask, blocks

Matrices = tuple[Any, ...]

PIECE = 4 * BLOCK
"""Subscriptions per piece."""

EVENT_PIECE = 4 * EVENT_BLOCK
"""Events per piece."""


@dataclass(frozen=True)
class Synthetic(ABC):
    """A workload that is drawn at random; its parameters are its fields."""

    name: str

    @property
    @abstractmethod
    def about(self) -> str:
        """A description in one line."""

    def parameters(self) -> dict[str, Any]:
        """Return the fields."""
        return asdict(self)

    # --------------------------------------------------------------------- for generators to define
    def in_text(self, count: int) -> int:
        """Return the number of texts in a book of ``count``."""
        return 0

    @abstractmethod
    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return the subscriptions of these numbers in the columns of the bulk path."""

    def expressions(self, seed: int, rows: range) -> pa.Table:
        """Return the texts of these numbers (texts are counted separately)."""
        return no_texts()

    @abstractmethod
    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Return the events of these numbers for a book of ``book`` subscriptions."""

    # --------------------------------------------------------------------------------- all at once
    def subscriptions(self, count: int, seed: int) -> pa.Table:
        """Return the part of a book of ``count`` that columns can express."""
        return self.columns(seed, range(count - self.in_text(count)))

    def texts(self, count: int, seed: int) -> pa.Table:
        """Return the other subscriptions, as text."""
        return pa.concat_tables([no_texts(), *self.text_pieces(count, seed)])

    def events(self, count: int, seed: int, book: int = 1_000_000) -> pa.Table:
        """Return ``count`` events for a book of ``book`` subscriptions made with the same seed."""
        return self.stream(seed, range(count), book)

    # ----------------------------------------------------------------------------------- in pieces
    def subscription_pieces(self, count: int, seed: int) -> Iterator[pa.Table]:
        """Return :meth:`subscriptions` piece by piece."""
        return (self.columns(seed, rows) for rows in ranges(count - self.in_text(count), PIECE))

    def text_pieces(self, count: int, seed: int) -> Iterator[pa.Table]:
        """Return :meth:`texts` piece by piece."""
        return (self.expressions(seed, rows) for rows in ranges(self.in_text(count), PIECE))

    def event_pieces(self, count: int, seed: int, book: int = 1_000_000) -> Iterator[pa.Table]:
        """Return :meth:`events` piece by piece."""
        return (self.stream(seed, rows, book) for rows in ranges(count, EVENT_PIECE))


def ranges(count: int, size: int) -> Iterator[range]:
    """Return consecutive ranges of ``size``, the last one shorter."""
    return (range(start, min(count, start + size)) for start in range(0, count, size))


def gather(rows: range, size: int, draw: Any) -> Matrices:
    """Return the arrays that ``draw(number)`` gives for each block, cut to ``rows`` and concatenated."""
    parts = [tuple(array[part] for array in draw(number)) for number, part in blocks(rows, size)]
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def used_cells(matrix: Ints, size: Ints) -> Mask:
    """Return the first ``size`` cells of each row."""
    return np.asarray(np.arange(matrix.shape[1]) < size[:, None])


def check_bounds(workload: Any, **bounds: tuple[float | None, float | None]) -> None:
    """Raise ``ValueError`` unless every named parameter lies within its bounds (``None``: no bound)."""
    for name, (least, most) in bounds.items():
        value = getattr(workload, name)
        if value is None or ((least is None or value >= least) and (most is None or value <= most)):
            continue
        if most is None:
            wanted = f"at least {least:,g}"
        elif least is None:
            wanted = f"at most {most:,g}"
        else:
            wanted = f"from {least:,g} to {most:,g}"
        raise ValueError(f"{workload.name}: {name} must be {wanted}, not {value}")
