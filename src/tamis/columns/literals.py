"""Pool the literals: each distinct operand once, in typed columns."""

from __future__ import annotations

import struct
from array import array
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.columns.codes import Kind
from tamis.values.shape import Shape
from tamis.values.value import Point, micros_of, moment_of

_SMALL = 1 << 30

_SHAPE: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Shape)


class Literals(NamedTuple):
    """The pool; ``bits`` holds a number (a float by its bits, a time in µs), or a place in ``strings``."""

    kind: npt.NDArray[np.uint8]
    bits: npt.NDArray[np.int64]
    strings: StringColumn


class StringColumn(NamedTuple):
    """UTF-8 strings end to end: ``data[start[i]:start[i + 1]]`` is string ``i``."""

    start: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]

    def text(self, at: int) -> str:
        """Return string ``at``."""
        return self.raw(at).decode()

    def raw(self, at: int) -> bytes:
        """Return string ``at`` as bytes."""
        return self.data[self.start[at] : self.start[at + 1]].tobytes()

    @property
    def count(self) -> int:  # type: ignore[override]
        """The number of strings."""
        return len(self.start) - 1

    def to_list(self) -> list[str]:
        """Return all strings as Python objects."""
        raw = self.data.tobytes()
        ends = self.start.tolist()
        return [raw[low:high].decode() for low, high in pairwise(ends)]


def string_column(strings: list[str]) -> StringColumn:
    """Return ``strings`` as a column."""
    encoded = [text.encode() for text in strings]
    start = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(raw) for raw in encoded], out=start[1:])
    return StringColumn(start, np.frombuffer(b"".join(encoded), np.uint8))


def join_strings(columns: list[StringColumn]) -> StringColumn:
    """Return several columns end to end."""
    lengths, data = [np.zeros(1, np.int64)], [np.zeros(0, np.uint8)]
    for column in columns:
        lengths.append(column.start[1:].astype(np.int64) - column.start[:-1])
        data.append(column.data)
    return StringColumn(np.cumsum(np.concatenate(lengths)), np.concatenate(data))


def distinct_strings(
    column: StringColumn, chosen: npt.NDArray[np.int64]
) -> tuple[StringColumn, npt.NDArray[np.int64]]:
    """Return the chosen strings, each once, and the place of each choice among them."""
    coded = to_arrow(column).take(pa.array(chosen)).dictionary_encode()
    return from_arrow(coded.dictionary), coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def to_arrow(column: StringColumn) -> Any:
    """Return a column as an Arrow array of bytes."""
    start, data = np.ascontiguousarray(column.start, np.int64), np.ascontiguousarray(column.data)
    return pa.Array.from_buffers(
        pa.large_binary(), column.count, [None, pa.py_buffer(start), pa.py_buffer(data)]
    )


def from_arrow(strings: Any) -> StringColumn:
    """Return an Arrow array of large strings or bytes, without nulls, as a column."""
    if not len(strings):
        return string_column([])
    _, start, data = strings.buffers()
    offsets = np.frombuffer(start, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    body = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return StringColumn(offsets - offsets[0], body[offsets[0] : offsets[-1]])


class _Texts(list[str]):
    """Strings with the method by which columns are read."""

    def text(self, at: int) -> str:
        """Return string ``at``."""
        return self[at]


class LiteralWriter:
    """A writer that interns literals while a book is written.

    Keys are strings: Python hashes them with a secret, whereas chosen integers could all collide. Only small
    integers are their own keys.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.small: dict[int, int] = {}  # the numbers of small integers, which writers of rows look up first
        self.texts: dict[str, int] = {}  # string literals by their text
        self.kind = array("B")
        self.bits = array("q")
        self.strings = _Texts()

    def __len__(self) -> int:
        return len(self.kind)

    def text(self, text: str) -> int:
        """Return the number of a string literal."""
        found = self.texts.get(text)
        if found is None:
            found = self.texts[text] = self._append_text(Kind.STRING, text)
        return found

    def value(self, value: Any) -> int:
        """Return the number of any literal."""
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind is int and -_SMALL < value < _SMALL:  # too small to collide
            found = self.small.get(value)
            if found is None:
                found = self.small[value] = self._append_value(value)
            return found
        key = repr(value)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = self._append_value(value)
        return found

    def _append_value(self, value: Any) -> int:
        kind, bits = _encode(value)
        if kind >= Kind.SHAPE:
            return self._append_text(kind, msgspec.json.encode(value).decode())
        self.kind.append(kind)
        self.bits.append(bits)
        return len(self.kind) - 1

    def _append_text(self, kind: Kind, text: str) -> int:
        self.kind.append(kind)
        self.bits.append(len(self.strings))
        self.strings.append(text)
        return len(self.kind) - 1

    def freeze(self) -> Literals:
        """Return the pool as arrays."""
        return Literals(
            np.array(self.kind, np.uint8), np.array(self.bits, np.int64), string_column(self.strings)
        )


def _encode(value: Any) -> tuple[Kind, int]:
    match value:
        case bool():
            return Kind.BOOLEAN, int(value)
        case int():
            return Kind.INT, value
        case float():
            return Kind.FLOAT, struct.unpack("<q", struct.pack("<d", value))[0]
        case datetime():
            return Kind.TIME, micros_of(value)
        case Point():
            return Kind.POINT, 0
    return Kind.SHAPE, 0


def literal_at(literals: Literals, at: int) -> Any:
    """Return literal ``at`` as a Python value."""
    kind, bits = int(literals.kind[at]), int(literals.bits[at])
    if kind == Kind.STRING:
        return literals.strings.text(bits)
    if kind == Kind.INT:
        return bits
    if kind == Kind.FLOAT:
        return struct.unpack("<d", struct.pack("<q", bits))[0]
    if kind == Kind.TIME:
        return moment_of(bits)
    if kind == Kind.BOOLEAN:
        return bool(bits)
    if kind == Kind.POINT:
        return msgspec.json.decode(literals.strings.text(bits), type=Point)
    return _SHAPE.decode(literals.strings.text(bits))
