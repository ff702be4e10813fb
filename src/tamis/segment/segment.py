"""A segment: its space, clauses, engine, and the subscriptions themselves."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.codes import from_version_2
from tamis.columns.literals import Literals, StringColumn
from tamis.columns.rows import Columns, tree_at
from tamis.engines.arena import Arena
from tamis.engines.engines import attach
from tamis.engines.protocol import Engine
from tamis.errors import IndexCorrupt, TamisError
from tamis.expression.tree import Expr
from tamis.limits import Limits
from tamis.segment._kernels import (
    find_string,
    find_strings,
    pack_strings,
    sizes_of,
    take_lists,
    take_packed,
    total_length,
)
from tamis.segment.invariants import check_arrays
from tamis.segment.one import OneEvent
from tamis.segment.source import Source
from tamis.space.encode import Encoder
from tamis.space.located import Located
from tamis.space.space import Space

VERSION = 6  # of the format
READABLE = (2, 3, 4, 5, VERSION)
SINCE = {"opindex": 5, "pstbloom": 4, "psthash": 4}  # older arrays of these engines have another meaning

_PACKED = 16  # bytes of the longest id
_REMEMBERED = 65_536  # ids
_MANY_IDS = 1_024  # of one event: they are not remembered
_FEW_IDS = 32  # above it, Arrow is faster than a loop


class Particulars(NamedTuple):
    """The priority and version of each subscription: its data beside the expression."""

    priority: npt.NDArray[np.float64]
    version: npt.NDArray[np.int64]


class RememberedIds(dict[int, str]):
    """Ids by ordinal, each read when it is first asked for."""

    def __init__(self, data: memoryview, start: npt.NDArray[Any]) -> None:
        super().__init__()
        self._data, self._start = data, start

    def __missing__(self, ordinal: int) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        low, high = self._start.item(ordinal), self._start.item(ordinal + 1)
        found = self[ordinal] = str(self._data[low:high], "utf-8")
        return found


class Segment:
    """An immutable index over a set of subscriptions.

    All its data lies in its arena; objects over the arena are made when needed.
    """

    def __init__(
        self,
        arena: Arena,
        engine: str,
        limits: Limits,
        source: Source | None = None,
        version_of_format: int = VERSION,
    ) -> None:
        self.arena = arena
        self.version_of_format = version_of_format
        self.source = source  # the file it is mapped from, if any
        self.engine_name = engine
        self.limits = limits
        self.ids = StringColumn(arena["ids.start"], arena["ids.data"])
        self.owner_start = arena["clauses.owner_start"]
        self.owner = arena["clauses.owner"]
        self.revise = arena["clauses.revise"]
        self.any_revise = bool(self.revise.any())

    @property
    def count(self) -> int:
        """The number of subscriptions."""
        return self.ids.count

    @property
    def clauses(self) -> int:
        """The number of distinct clauses that are indexed."""
        return len(self.revise)

    @cached_property
    def single(self) -> bool:
        """Whether no subscription has two clauses: pairs need no merging, even if owners share clauses."""
        return len(self.owner) == len(np.unique(self.owner))

    @cached_property
    def one_to_one(self) -> bool:
        """Whether clause ``c`` has exactly one owner, ``owner[c]``."""
        return bool(np.array_equal(self.owner_start, np.arange(len(self.revise) + 1)))

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder that locates events in this segment's space."""
        return Encoder(self.space, self.limits)

    @cached_property
    def engine(self) -> Engine:
        """The engine over this segment's clauses."""
        engine: Engine = attach(self.engine_name, self.arena)
        return engine

    @cached_property
    def one(self) -> OneEvent | None:
        """The quick way of single events, if the engine has one."""
        return OneEvent.of(self)

    @cached_property
    def space(self) -> Space:
        """The cut space of this segment's attributes."""
        strings = ("names", "strings", "flag_pattern")
        fields: dict[str, Any] = {
            name: _strings(self.arena, f"space.{name}") if name in strings else self.arena[f"space.{name}"]
            for name in Space._fields
        }
        return Space(**fields)

    @cached_property
    def columns(self) -> Columns:
        """The expressions as they were registered."""
        arena = self.arena
        literals = Literals(
            arena["book.literals.kind"],
            arena["book.literals.bits"],
            _strings(arena, "book.literals.strings"),
        )
        rest = {name: arena[f"book.{name}"] for name in Columns._fields[2:]}
        if self.version_of_format == 2:
            rest["op"] = from_version_2(rest["op"])
        return Columns(tuple(_strings(arena, "book.names").to_list()), literals, **rest)

    def expression(self, ordinal: int) -> Expr:
        """Return the expression of one subscription."""
        try:
            return tree_at(self.columns, ordinal)
        except (IndexError, TypeError, ValueError, OverflowError, RecursionError) as bad:  # of a forged file
            raise IndexCorrupt(f"the index is damaged: an expression cannot be read: {bad}") from None

    def priority(self, ordinal: int) -> float:
        """Return the static priority of one subscription."""
        priorities = self.arena["priority"]
        return float(priorities[ordinal]) if len(priorities) else 0.0

    def version(self, ordinal: int) -> int:
        """Return the version of one subscription."""
        versions = self.arena["version"]
        return int(versions[ordinal]) if len(versions) else 0

    def particulars(self, ordinals: npt.NDArray[np.int64]) -> Particulars:
        """Return the priorities and versions of several subscriptions."""
        stored = {name: self.arena[name] for name in Particulars._fields}
        return Particulars(
            **{
                name: column[ordinals] if len(column) else np.zeros(len(ordinals), column.dtype)
                for name, column in stored.items()
            }
        )

    def names_of(self, ordinals: npt.NDArray[np.int64]) -> Any:
        """Return the ids of several subscriptions as an Arrow array."""
        import pyarrow as pa

        start = np.empty(len(ordinals) + 1, np.int32)
        if self._packed_ids is not None:
            packed, length = self._packed_ids
            size = total_length(ordinals, length)
        else:
            size = sizes_of(ordinals, self.ids.start, start)
        if size > np.iinfo(np.int32).max:
            return self.id_array.take(ordinals)
        data = np.empty(size // 8 + 1, np.uint64)
        if self._packed_ids is not None:
            take_packed(ordinals, packed, length, start, data)
        else:
            take_lists(ordinals, self.ids.start, self.ids.data, start, data.view(np.uint8))
        return pa.Array.from_buffers(pa.string(), len(ordinals), [None, *map(pa.py_buffer, (start, data))])

    @cached_property
    def _packed_ids(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]] | None:
        """All ids in words of eight bytes, and their lengths; ``None`` if some id is long.

        To read an id from one cache line, and to write it in one step, takes half the time.
        """
        length = np.diff(self.ids.start.astype(np.int64))
        longest = int(length.max(initial=1))
        if longest > _PACKED:
            return None
        packed = np.zeros((len(length), -(-longest // 8)), np.uint64)
        pack_strings(self.ids.start, self.ids.data, packed)
        return packed, length.astype(np.uint8)

    def versions_of(self, ordinals: npt.NDArray[np.int64]) -> list[int]:
        """Return the versions of several subscriptions."""
        versions = self.arena["version"]
        return versions[ordinals].tolist() if len(versions) else [0] * len(ordinals)

    def unsure(self, events: Located) -> npt.NDArray[np.bool_] | None:
        """Return ``None``: cells decide every event."""
        return None

    def ids_of(self, ordinals: npt.NDArray[np.int64]) -> list[str]:
        """Return the ids of several subscriptions."""
        if len(ordinals) > _FEW_IDS:
            return list(self.id_array.take(ordinals).to_pylist())
        data, start = self._id_bytes, self.ids.start
        if len(ordinals) == 1:  # the best match: an array operation costs more than the whole id
            at = ordinals.item()
            return [str(data[start.item(at) : start.item(at + 1)], "utf-8")]
        ends = zip(start[ordinals].tolist(), start[ordinals + 1].tolist(), strict=True)
        return [str(data[low:high], "utf-8") for low, high in ends]

    @cached_property
    def _id_bytes(self) -> memoryview:
        return self.ids.data.data

    def ids_at(self, ordinals: list[int]) -> list[str]:
        """Return the ids of the subscriptions that one event matches."""
        if len(ordinals) > _MANY_IDS:
            return self.ids_of(np.array(ordinals, np.int64))
        ids = self._remembered
        return [ids[ordinal] for ordinal in ordinals]

    @cached_property
    def _remembered(self) -> RememberedIds:
        return RememberedIds(self._id_bytes, self.ids.start)

    def find_all(self, names: list[str]) -> npt.NDArray[np.int64]:
        """Return the ordinals of many subscription ids, -1 for those that are unknown."""
        found = np.empty(len(names), np.int64)
        raw = [name.encode("utf-8", "surrogatepass") for name in names]  # no id has a lone surrogate
        ends = np.cumsum([0, *map(len, raw)])
        wanted = np.frombuffer(b"".join(raw), np.uint8)
        find_strings(ends, wanted, *self._sorted_ids, found)
        return found

    def find(self, subscription: str) -> int:
        """Return the ordinal of a subscription id, or -1."""
        raw = subscription.encode("utf-8", "surrogatepass")
        return int(find_string(np.frombuffer(raw, np.uint8), 0, len(raw), *self._sorted_ids))

    @cached_property
    def _sorted_ids(self) -> tuple[npt.NDArray[Any], ...]:
        return self.arena["ids.order"], self.ids.start, self.ids.data

    @cached_property
    def id_array(self) -> Any:
        """All ids as an Arrow array over the arena's memory."""
        import pyarrow as pa

        start = np.ascontiguousarray(self.ids.start, np.int32)
        return pa.Array.from_buffers(
            pa.string(), self.count, [None, pa.py_buffer(start), pa.py_buffer(self.ids.data)]
        )

    def ensure_whole(self) -> None:
        """Raise :class:`IndexCorrupt` if the mapped file was truncated since it was opened."""
        if self.source is not None:
            self.source.ensure_whole()

    def check(self, checksums: bool = True) -> None:
        """Raise :class:`IndexCorrupt` if an invariant is broken, or a byte of its file was changed."""
        if self.source is not None:
            self.source.ensure_whole()
            if checksums:
                self.source.verify(self.arena)
        try:
            check_arrays(self)
            self.engine.check()
        except TamisError as bad:
            raise IndexCorrupt(f"{self._where()}{bad}") from None
        except Exception as bad:  # a forged file may raise any error; each means damage
            raise IndexCorrupt(f"{self._where()}{type(bad).__name__}: {bad}") from bad

    def _where(self) -> str:
        return f"{self.source.path}: " if self.source is not None else ""


def _strings(arena: Arena, name: str) -> StringColumn:
    return StringColumn(arena[f"{name}.start"], arena[f"{name}.data"])
