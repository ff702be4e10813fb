"""Forge indexes: change any field of a small saved index and compute all checksums again."""

from __future__ import annotations

import random
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tamis import Index
from tamis.engines.arena import ALIGNMENT, Slot
from tamis.segment.sealed import write_sealed
from tamis.segment.source import checksum
from tests.engines import PARAMETERS
from tests.sealed import read_sealed

Arrays = dict[str, Any]

TYPES = ("|u1", "<u2", "<u4", "<u8", "<i8", "<f8", "<i4", "|O", ">u4", "<U4", "|V0")
STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2, 255, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**400, 1e308, float("nan"), "",
    "x", "../x", "/etc/hostname", ".", "\0", "\ud800", [], {}, [0], [[[[[]]]]], {"a": 1}, "hybrid",
    "scan", "auto",
)  # fmt: skip
NUMBERS = (
    0,
    1,
    2,
    3,
    7,
    64,
    100,
    255,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**62,
    2**63 - 1,
    -1,
    -2,
    -(2**63),
)

# Readers do not depend on how a tree was grown.
LAYOUTS_TO_READ = {
    engine: [parameters for parameters in layouts if not parameters.get("incremental")]
    for engine, layouts in PARAMETERS.items()
}

BOOK = {
    **{f"n{n}": f"price BETWEEN {n} AND {n + 3} AND city = 'c{n % 5}' AND size > {n % 7}" for n in range(40)},
    **{f"w{n}": f"wide BETWEEN {n} AND {n + 900} AND deep BETWEEN {n} AND {n + 800} AND NOT size = {n}"
       for n in range(20)},
    **{f"g{n}": f"(price < {n} OR city = 'c{n}') AND (size > {n} OR brand IN ('a', 'b{n}'))"
       for n in range(8)},
    "like": "title LIKE '%x%' OR NOT brand IS NULL",
    "views": "title LIKE 'ab%' AND title ILIKE '%CD' AND brand RLIKE '^a+b'",
    "terms": "title HAS ANY ('wool', 'coat') AND title HAS PHRASE 'red coat'",
    "no terms": "price > 1 AND NOT title HAS ALL ('a', 'b')",
    "near": "at WITHIN BOX (0, 0, 2, 2) OR at WITHIN 5 KM OF POINT (1 1)",
    "shape": "at WITHIN POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))",
    "net": "ip IN CIDR ('10.0.0.0/8', 'fc00::/7')",
    "time": "made >= TIMESTAMP '2026-01-01T00:00:00Z' AND sold = TRUE",
    "big": "count IN (9007199254740993, 1, 2.5) AND count != 3",
    "deep": "NOT (NOT (price = 1 AND (size = 2 OR NOT city = 'c1')) AND brand = 'a')",
    "any": "TRUE",
    "weighted": "price > 3 ^ 2.5 AND city = 'c1' ^ 0.5",
}  # fmt: skip


def saved(folder: Path, engine: str, parameters: dict[str, Any]) -> Path:
    """Return an index on disk with two segments, one of them with removals."""
    rows = [(name, text, float(at % 3)) for at, (name, text) in enumerate(BOOK.items())]
    sample = [{"price": 5, "city": "c3", "wide": 40}, {"title": "ab wool coat cd", "size": 3}]
    index = Index.build(rows, engine=engine, parameters=parameters, sample=sample)
    index.add({f"m{n}": f"size > {n}" for n in range(8)})
    index.remove("n7")
    index.save(folder)
    return folder


def rewrite(segment: Path, change: Callable[[Arrays], Any]) -> Any:
    """Change the arrays of a segment, their types and lengths included, and seal it again."""
    raw, body = (segment / "arrays.bin").read_bytes(), read_sealed(segment / "segment.json")
    arrays: Arrays = {
        name: np.frombuffer(raw[offset : offset + nbytes], dtype).reshape(shape).copy()
        for name, (dtype, shape, offset, nbytes, _) in body["arrays"].items()
    }
    result = change(arrays)
    block, table = b"", {}
    for name, array in arrays.items():
        slot = Slot(array.dtype.str, array.shape, len(block), array.nbytes)
        block += array.tobytes()
        block += bytes(-len(block) % ALIGNMENT)
        table[name] = [slot.dtype, list(slot.shape), slot.offset, slot.nbytes, 0]
    for entry in table.values():
        entry[4] = checksum(np.frombuffer(block, np.uint8), Slot(*entry[:4]))
    (segment / "arrays.bin").write_bytes(block)
    write_sealed(segment / "segment.json", body | {"arrays": table, "length": len(block)})
    return result


class Forger:
    """A forger that changes copies of one index; the same seed makes the same changes."""

    def __init__(self, original: Path, copy: Path, seed: str) -> None:
        self._original, self.copy = original, copy
        self._chance = random.Random(seed)
        shutil.copytree(original, copy)

    def forge(self) -> str:
        """Make a copy with one or two changes; return a description of them."""
        for path in self._original.rglob("*"):
            if path.is_file() and path.name != "verified":
                (self.copy / path.relative_to(self._original)).write_bytes(path.read_bytes())
        first, second = self._chance.choices(self._KINDS, self._WEIGHTS, k=2)
        told = first(self)
        if self._chance.random() < 0.1:
            try:
                told += f"; {second(self)}"
            except Exception as bad:  # the first change left nothing to change for the second
                told += f"; nothing more ({bad})"
        return told

    # -- segments ----------------------------------------------------------------------------------

    def _segment(self) -> Path:
        return self._chance.choice(sorted(self.copy.glob("segment-*")))

    def _rewrite(self, change: Callable[[dict[str, Any], bytearray], str]) -> str:
        """Change the table and the bytes of a segment, and compute its checksums again."""
        folder = self._segment()
        body, raw = read_sealed(folder / "segment.json"), bytearray((folder / "arrays.bin").read_bytes())
        what = change(body, raw)
        (folder / "arrays.bin").write_bytes(raw)
        block = np.frombuffer(bytes(raw), np.uint8)
        arrays = body.get("arrays")
        for entry in arrays.values() if isinstance(arrays, dict) else ():
            try:
                entry[4] = checksum(block, Slot(*entry[:4]))
            except Exception:
                continue
        write_sealed(folder / "segment.json", body)
        return what

    def _array(self, body: dict[str, Any]) -> str:
        full = [name for name, entry in body["arrays"].items() if entry[3]]
        engine = [name for name in full if name.startswith("engine.")]
        return self._chance.choice(engine if engine and self._chance.random() < 0.5 else full)

    def _elements(self) -> str:
        """Make some elements of an array extreme, or copy those of others."""

        def change(body: dict[str, Any], raw: bytearray) -> str:
            name, chance = self._array(body), self._chance
            dtype, _, offset, nbytes, _ = body["arrays"][name]
            numbers = np.frombuffer(memoryview(raw)[offset : offset + nbytes], dtype)
            told = []
            for _ in range(chance.choice((1, 1, 1, 2, 5))):
                at = chance.randrange(len(numbers))
                value = chance.choice(
                    (
                        chance.choice(NUMBERS),
                        int(np.nan_to_num(numbers[at])) + chance.choice((-1, 1, 2)),
                        int(np.nan_to_num(numbers[chance.randrange(len(numbers))])),
                        len(numbers) + chance.choice((-1, 0, 1)),
                    )
                )
                if numbers.dtype.kind == "f":
                    numbers[at] = chance.choice((value, float("nan"), float("inf"), 1e308))
                else:
                    numbers[at] = np.array(value % 2**64, np.uint64).astype(numbers.dtype)
                told.append(f"[{at}] = {numbers[at]}")
            return f"{name}{', '.join(told)}"

        return self._rewrite(change)

    def _bytes(self) -> str:
        """Turn a run of bytes into noise."""

        def change(body: dict[str, Any], raw: bytearray) -> str:
            name = self._array(body)
            _, _, offset, nbytes, _ = body["arrays"][name]
            at = self._chance.randrange(nbytes)
            end = min(nbytes, at + self._chance.choice((1, 2, 4, 16, 1000)))
            raw[offset + at : offset + end] = self._chance.randbytes(end - at)
            return f"{name} has noise at {at}:{end}"

        return self._rewrite(change)

    def _order(self) -> str:
        """Swap elements; draw starts anew, still rising."""

        def change(arrays: Arrays) -> str:
            name, chance = self._named(arrays), self._chance
            array = arrays[name]
            if name.endswith("start") and len(array) > 2:
                inner = [chance.randrange(int(array[-1]) + 1) for _ in array[1:-1]]
                array[1:-1] = sorted(inner)
                return f"{name} is drawn anew"
            one, two = (chance.randrange(len(array)) for _ in range(2))
            way = chance.randrange(3)
            if way == 0:
                array[[one, two]] = array[[two, one]]
            elif way == 1:
                array[:] = array[::-1].copy()
            else:
                array[:] = np.roll(array, one, axis=0)
            return f"{name} is in another order ({way})"

        return str(rewrite(self._segment(), change))

    def _length(self) -> str:
        """Remove or repeat rows, and lay the file out anew, so that everything else fits."""

        def change(arrays: Arrays) -> str:
            told = []
            for _ in range(self._chance.choice((1, 1, 2))):
                name = self._named(arrays)
                at, count = self._chance.randrange(len(arrays[name])), self._chance.choice((1, 1, 2, 5))
                rows = arrays[name][at : at + count]
                if self._chance.random() < 0.5:
                    arrays[name] = np.delete(arrays[name], np.s_[at : at + count], axis=0)
                else:
                    arrays[name] = np.insert(arrays[name], at, rows, axis=0)
                told.append(f"{name} has {len(arrays[name])} rows")
            return ", ".join(told)

        return str(rewrite(self._segment(), change))

    def _place(self) -> str:
        """Set a number to the length of some other array, or one more or less."""

        def change(arrays: Arrays) -> str:
            name, other = self._named(arrays), self._named(arrays)
            numbers = arrays[name].reshape(-1)
            at = self._chance.randrange(len(numbers))
            value = len(arrays[other]) + self._chance.choice((-1, 0, 1))
            numbers[at] = np.array(value % 2**64, np.uint64).astype(numbers.dtype)
            return f"{name}[{at}] = {value}"

        return str(rewrite(self._segment(), change))

    def _named(self, arrays: Arrays) -> str:
        full = [name for name, array in arrays.items() if len(array)]
        engine = [name for name in full if name.startswith("engine.")]
        return self._chance.choice(engine if engine and self._chance.random() < 0.5 else full)

    def _form(self) -> str:
        """Declare an array with another type, shape, place or size."""

        def change(body: dict[str, Any], raw: bytearray) -> str:
            name, chance = self._array(body), self._chance
            entry = body["arrays"][name]
            way = chance.randrange(6)
            if way == 0:  # another type; the shape is adapted if possible
                entry[0] = chance.choice(TYPES)
                size = np.dtype(entry[0]).itemsize or 1
                entry[1] = (
                    [entry[3] // size]
                    if len(entry[1]) == 1
                    else [entry[3] // size // entry[1][1], entry[1][1]]
                )
            elif way == 1:
                entry[1] = chance.choice(
                    ([], [0], [-1], [2**62], [1, *entry[1]], [*entry[1], 1], entry[1][::-1])
                )
            elif way == 2:  # fewer or more elements
                size = np.dtype(entry[0]).itemsize
                for extent in entry[1][1:]:
                    size *= extent
                more = chance.choice((-1, 1, -2, 8, -entry[1][0]))
                entry[1] = [entry[1][0] + more, *entry[1][1:]]
                entry[3] += more * size
            elif way == 3:
                entry[chance.choice((2, 3))] = chance.choice(NUMBERS)
            elif way == 4:  # the bytes of another array
                entry[2] = body["arrays"][self._array(body)][2]
            else:
                other = self._array(body)
                body["arrays"][name] = list(body["arrays"][other])
            return f"{name} is {body['arrays'][name]}"

        return self._rewrite(change)

    def _table(self) -> str:
        """Remove, add or distort something in the table of contents."""

        def change(body: dict[str, Any], raw: bytearray) -> str:
            way = self._chance.randrange(4)
            if way == 0:
                name = self._chance.choice(sorted(body["arrays"]))
                del body["arrays"][name]
                return f"no {name}"
            if way == 1:
                body["arrays"][self._chance.choice(("engine.9.x", "engine.x", "spare", ""))] = [
                    "|u1",
                    [0],
                    0,
                    0,
                    0,
                ]
                return "one array more"
            return self._strange(body, "segment.json")

        return self._rewrite(change)

    # -- manifest -----------------------------------------------------------------------------------

    def _strange(self, body: Any, what: str) -> str:
        """Replace some node of a JSON value by something strange."""
        path, node = what, body
        while True:
            keys = sorted(node) if isinstance(node, dict) else list(range(len(node)))
            key = self._chance.choice(keys)
            path += f".{key}"
            child = node[key]
            if not isinstance(child, dict | list) or not child or self._chance.random() < 0.2:
                node[key] = self._chance.choice(STRANGE)
                return f"{path} = {str(node[key])[:40]!r}"
            node = child

    def _manifest(self) -> str:
        path = max(self.copy.glob("manifest*.json"))
        body = read_sealed(path)
        what = self._strange(body, path.name)
        write_sealed(path, body)
        return what

    def _beside(self) -> str:
        """Replace the content of a file that the manifest names by length and checksum."""
        path = max(self.copy.glob("manifest*.json"))
        found = sorted([*self.copy.glob("dead-*"), *self.copy.glob("sample-*")])
        file = self._chance.choice(found)
        raw = bytearray(file.read_bytes())
        raw[self._chance.randrange(len(raw))] = self._chance.randrange(256)
        if self._chance.random() < 0.3:
            raw = bytearray(self._chance.randbytes(4 * self._chance.randrange(1, 9)))
        old, size = zlib.crc32(file.read_bytes()), len(file.read_bytes())
        file.write_bytes(raw)
        body = read_sealed(path)
        _replace(body, {old: zlib.crc32(raw)})
        if len(raw) != size:
            _replace(body, {size: len(raw), size // 4: len(raw) // 4})
        write_sealed(path, body)
        return f"{file.name[:6]} holds {bytes(raw[:40])!r}"

    _KINDS = (_elements, _place, _order, _length, _bytes, _form, _table, _manifest, _beside)
    _WEIGHTS = (40, 12, 12, 8, 8, 10, 3, 5, 2)


def _replace(node: Any, values: dict[int, int]) -> None:
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, child in list(items):
        if isinstance(child, dict | list):
            _replace(child, values)
        elif type(child) is int and child in values:
            node[key] = values[child]
