"""Cut dimensions into cells, for all dimensions and all types of values at once.

A *cut* is a place between two values, written as (dimension, key) with integer keys in value order. The keys
of one type of value form a *section*; its first and its last key stand for no bound at all. The cuts of one
dimension in one section, sorted, bound its cells there: cell ``i`` lies right of ``i`` cuts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.columns.codes import Kind
from tamis.columns.literals import Literals, StringColumn, from_arrow, string_column, to_arrow
from tamis.expression.views import Flag, View
from tamis.space.cutting._kernels import cells_below, mark_comparisons, mark_operands
from tamis.space.numbers import just_after, split_integers
from tamis.space.space import Comparisons, Space

Ints = npt.NDArray[np.int64]
TABLE_LIMIT = 1 << 27


class Keys(NamedTuple):
    """Four keys per literal: of no lower bound, just before it, just after it, of no upper bound.

    A literal without an order has -1 there.
    """

    of_literal: npt.NDArray[np.int32]  # [4, literals]
    bottom: Ints  # of each section: the key of no lower bound
    top: Ints

    @property
    def total(self) -> int:
        """The number of keys."""
        return int(self.top[-1]) + 1


class SectionCuts(NamedTuple):
    """The distinct cuts in one section; the cuts of dimension ``d`` are ``start[d]:start[d + 1]``."""

    dimension: Ints
    key: Ints  # counted from the first proper key of the section
    start: Ints
    width: Ints  # cells per dimension, 0 if the section is not used


class Cuts:
    """The cuts at both ends of all ranges, and the cell that ends at each."""

    def __init__(self, keys: Keys, rows: Comparisons, extra: Ints, dimensions: int) -> None:
        """Collect the cuts of comparisons, and further cuts as codes (see :meth:`code`)."""
        self.keys, self._dimensions = keys, dimensions
        size = dimensions * keys.total
        # Marking a table is linear and beats sorting as long as the table stays small.
        self._tabled = size <= TABLE_LIMIT
        mark = np.zeros(size if self._tabled else 0, np.bool_)
        codes = np.empty(0 if self._tabled else 2 * len(rows.args), np.int64)
        count, self.members = mark_comparisons(*rows, keys.of_literal, keys.total, mark, codes)
        if self._tabled:
            mark[extra] = True
            self._codes: Ints = np.flatnonzero(mark)
        else:
            self._codes = np.unique(np.concatenate([codes[:count], extra]))
        self._dimension, self._key = np.divmod(self._codes, keys.total)
        self._section = np.searchsorted(keys.bottom, self._key, side="right") - 1

    def code(self, dimension: Ints, key: Ints) -> Ints:
        """Return a cut as one number."""
        return dimension * self.keys.total + key

    def section(self, number: int) -> SectionCuts:
        """Return the cuts of one section."""
        mine = self._section == number
        proper = mine & (self._key != self.keys.bottom[number]) & (self._key != self.keys.top[number])
        dimension, key = self._dimension[proper], self._key[proper] - self.keys.bottom[number] - 1
        start = np.searchsorted(dimension, np.arange(self._dimensions + 1)).astype(np.int64)
        used = np.bincount(self._dimension[mine], minlength=self._dimensions) > 0
        return SectionCuts(dimension, key, start, np.where(used, np.diff(start) + 1, 0))

    def below(self, bases: list[Ints]) -> Below:
        """Return the cells that end at the cuts; ``bases`` say where the cells of each section begin."""
        inner = self._key != self.keys.bottom[self._section]
        fresh = np.ones(len(inner), np.bool_)
        fresh[1:] = (np.diff(self._dimension) != 0) | (np.diff(self._section) != 0)
        before = np.cumsum(inner) - inner  # cuts of all sections before each section
        place = before + inner - before[np.flatnonzero(fresh)[np.cumsum(fresh) - 1]]
        cell = np.stack(bases)[self._section, self._dimension] - 1 + place
        if not self._tabled:
            return Below(self._codes, cell.astype(np.int32))
        table = np.zeros(self._dimensions * self.keys.total, np.int32)
        table[self._codes] = cell
        return Below(np.zeros(0, np.int64), table)


class Below(NamedTuple):
    """The cell that ends at a cut: ``cell`` by code, or by the place of the code in ``codes`` if any."""

    codes: Ints
    cell: npt.NDArray[np.int32]

    def of(self, code: Ints) -> npt.NDArray[Any]:
        """Return the cells of many cuts."""
        out = np.empty(len(code), np.int64)
        cells_below(code, self.codes, self.cell, out)
        return out


Ranges = tuple[Ints, Ints, Ints]
NUMBER, TIME, TEXT, BOOLEAN = range(4)
_KINDS = (Kind.INT, Kind.FLOAT), (Kind.TIME,), (Kind.STRING,), (Kind.BOOLEAN,)


class StringCuts:
    """Ranges of byte strings collected one by one, from patterns, prefixes and networks."""

    def __init__(self) -> None:
        self.entry: Any = []
        self.dimension: Any = []
        self.texts: list[bytes] = []
        self.low: Any = []  # 2 * place in texts + side, or -1
        self.high: Any = []

    def spread(self, entry: Ints, chosen: Ints) -> StringCuts:
        """Return the chosen ranges, any of them repeatedly, for other entries."""
        cuts = StringCuts()
        cuts.texts, cuts.entry = self.texts, entry
        cuts.dimension, cuts.low, cuts.high = (
            np.array(column, np.int64)[chosen] for column in (self.dimension, self.low, self.high)
        )
        return cuts

    def moved(self, by: int) -> StringCuts:
        """Return the same ranges for entries numbered ``by`` higher."""
        return self.spread(np.asarray(self.entry, np.int64) + by, np.arange(len(self.entry)))

    def add(self, entry: int, dimension: int, low: Any, high: Any) -> None:
        """Add a range between two cuts (string, side); ``None`` is unbounded."""
        self.entry.append(entry)
        self.dimension.append(dimension)
        self.low.append(self._cut(low))
        self.high.append(self._cut(high))

    def _cut(self, end: tuple[bytes, int] | None) -> int:
        if end is None:
            return -1
        self.texts.append(end[0])
        return 2 * (len(self.texts) - 1) + end[1]


class Sections:
    """The keys of all operands, the cuts of all ranges, and the cells between them."""

    def __init__(
        self, names: tuple[str, ...], literals: Literals, rows: Comparisons, strings: StringCuts, views: int
    ) -> None:
        self._names, self._strings = names, strings
        self._dimensions, self._views = len(names) + views, views
        texts = _Texts(literals, rows, strings)
        self._texts = texts.sorted
        number_keys, time_keys = _number_keys(literals), _time_keys(literals)
        self._numbers, self._times = number_keys[2], time_keys[2][0]
        sizes = [len(self._numbers[0]), len(self._times), 2 * len(texts.sorted), 1]
        boolean = np.where(literals.kind == Kind.BOOLEAN, literals.bits, 0)
        # A boolean lies between no bound and the one cut of its section, or between that cut and no bound.
        ranks = [number_keys[:2], time_keys[:2], (texts.before, texts.before + 1), (boolean - 1, boolean)]
        self.keys = _keys(literals, sizes, ranks)
        dimension = np.array(strings.dimension, np.int64)
        low, high = (self._string_keys(end, texts.extra) for end in (strings.low, strings.high))
        codes = dimension * self.keys.total + np.stack(
            [np.where(low < 0, self.keys.bottom[TEXT], low), np.where(high < 0, self.keys.top[TEXT], high)]
        )
        self._string_codes = codes
        self.cuts = Cuts(self.keys, rows, codes.ravel(), self._dimensions)

    def _string_keys(self, ends: Any, rank: Ints) -> Ints:
        """Return the keys of the ends of string ranges (-1: no bound)."""
        end = np.array(ends, np.int64)
        return np.where(end < 0, -1, self.keys.bottom[TEXT] + 1 + 2 * rank[end >> 1] + (end & 1))

    def finish(
        self, views: dict[tuple[int, View], int], flags: dict[tuple[int, Flag, str], int]
    ) -> tuple[Space, Below]:
        """Return the space, and the cell that ends at every cut."""
        number, time, text, boolean = map(self.cuts.section, (NUMBER, TIME, TEXT, BOOLEAN))
        is_view = np.arange(self._dimensions) >= len(self._names)
        bases, cells = _layout([number.width, time.width, text.width, boolean.width], is_view)
        space = Space(
            string_column(list(self._names)),
            cells,
            *_number_cuts(number, self._numbers),
            bases[NUMBER],
            time.start,
            self._times[time.key],
            bases[TIME],
            *_text_cuts(text, self._texts),
            bases[TEXT],
            bases[BOOLEAN],
            np.array([attribute for attribute, _ in views], np.int64),
            np.array([view for _, view in views], np.uint8),
            np.array([attribute for attribute, _, _ in flags], np.int64),
            np.array([flag for _, flag, _ in flags], np.uint8),
            string_column([pattern for _, _, pattern in flags]),
        )
        return space, self.cuts.below(bases)

    def string_ranges(self, below: Below) -> Ranges:
        """Return the string ranges as (entry, lowest cell, highest cell)."""
        low, high = self._string_codes
        return np.asarray(self._strings.entry, np.int64), below.of(low) + 1, below.of(high)


def _layout(widths: list[Ints], is_view: npt.NDArray[np.bool_]) -> tuple[list[Ints], Ints]:
    """Return where each section begins (0: none) and how many cells each dimension has."""
    bases, following = [], np.ones(len(is_view), np.int64)
    for width in widths:
        bases.append(np.where(width > 0, following, 0))
        following = following + width
    return bases, following - is_view  # an attribute ends with the cell of other types


def _keys(literals: Literals, sizes: list[int], ranks: list[tuple[Ints, Ints]]) -> Keys:
    """Return the keys of all sections end to end, each between the two that stand for no bound."""
    top = np.cumsum(np.array(sizes, np.int64) + 2) - 1
    bottom = top - sizes - 1
    of_literal = np.full((4, len(literals.kind)), -1, np.int32)
    for number, (low, high) in enumerate(ranks):
        mine = np.isin(literals.kind, _KINDS[number])
        first = bottom[number] + 1
        of_literal[:, mine] = np.stack(
            np.broadcast_arrays(first - 1, first + low[mine], first + high[mine], top[number])
        )
    return Keys(of_literal, bottom, top)


def _number_keys(literals: Literals) -> tuple[Ints, Ints, Any]:
    """Return for every literal the ranks of its number and of the next number, and the sorted numbers."""
    ints, floats = literals.kind == Kind.INT, literals.kind == Kind.FLOAT
    floor, rest = np.zeros(len(literals.kind)), np.zeros(len(literals.kind), np.int64)
    floor[ints], rest[ints] = split_integers(literals.bits[ints])
    floor[floats] = literals.bits[floats].view(np.float64)
    chosen = np.flatnonzero(ints | floats)
    next_floor, next_rest = just_after(floor[chosen], rest[chosen])
    all_floor = np.concatenate([floor[chosen], next_floor])
    all_rest = np.concatenate([rest[chosen], next_rest])
    order = np.lexsort((all_rest, all_floor)) if all_rest.any() else np.argsort(all_floor, kind="stable")
    all_floor, all_rest = all_floor[order], all_rest[order]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (all_floor[1:] != all_floor[:-1]) | (all_rest[1:] != all_rest[:-1])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.cumsum(fresh) - 1
    before, after = np.zeros(len(literals.kind), np.int64), np.zeros(len(literals.kind), np.int64)
    before[chosen], after[chosen] = rank[: len(chosen)], rank[len(chosen) :]
    return before, after, (all_floor[fresh], all_rest[fresh])


def _number_cuts(cuts: SectionCuts, values: Any) -> tuple[npt.NDArray[np.float64], Ints, Ints, Any]:
    """Return the numbers that some dimension is cut at, and the cuts of each dimension as places there."""
    floor, rest = values
    used = np.zeros(len(floor), np.bool_)
    used[cuts.key] = True
    rests = rest[used]
    place = np.cumsum(used) - 1
    word = np.uint16 if len(rests) < 1 << 16 else np.uint32
    return floor[used], (rests if rests.any() else rests[:0]), cuts.start, place[cuts.key].astype(word)


def _time_keys(literals: Literals) -> tuple[Ints, Ints, Any]:
    chosen = np.flatnonzero(literals.kind == Kind.TIME)
    moments = literals.bits[chosen]
    values, rank = np.unique(np.concatenate([moments, moments + 1]), return_inverse=True)
    before, after = np.zeros(len(literals.kind), np.int64), np.zeros(len(literals.kind), np.int64)
    before[chosen], after[chosen] = rank[: len(chosen)], rank[len(chosen) :]
    return before, after, (values,)


class _Texts:
    """The strings of all ordered dimensions, sorted: literals of comparisons and strings of patterns."""

    def __init__(self, literals: Literals, rows: Comparisons, extra: StringCuts) -> None:
        used = _texts_compared(literals, rows)
        texts = _binary(literals, used, extra.texts)
        self.sorted = pc.unique(texts)
        self.sorted = self.sorted.take(pc.sort_indices(self.sorted))
        rank = pc.index_in(texts, value_set=self.sorted).to_numpy(zero_copy_only=False).astype(np.int64)
        self.before = np.zeros(len(literals.kind), np.int64)
        self.before[used] = 2 * rank[: len(used)]
        self.extra = np.append(rank[len(used) :], 0)  # the last place is for ranges without a bound


def _texts_compared(literals: Literals, rows: Comparisons) -> Ints:
    """Return the string literals that comparisons have as operands, in order."""
    texts = literals.kind == Kind.STRING
    if not texts.any():
        return np.zeros(0, np.int64)
    mentioned = np.zeros(len(texts), np.bool_)
    mark_operands(rows.row, rows.arg, rows.arity, rows.args, mentioned)
    return np.flatnonzero(mentioned & texts)


def _text_cuts(cuts: SectionCuts, texts: Any) -> tuple[Ints, StringColumn, Ints, npt.NDArray[np.uint8]]:
    """Return per dimension the sorted strings, the cuts before each, and the sides it is cut at."""
    rank, side = cuts.key >> 1, cuts.key & 1
    fresh = np.ones(len(rank), np.bool_)
    fresh[1:] = (np.diff(rank) != 0) | (np.diff(cuts.dimension) != 0)
    group = np.cumsum(fresh) - 1
    first = np.flatnonzero(fresh)
    dimension = cuts.dimension[first]
    sides = np.zeros(len(first), np.uint8)
    np.bitwise_or.at(sides, group, (1 << side).astype(np.uint8))
    start = np.searchsorted(dimension, np.arange(len(cuts.start))).astype(np.int64)
    return start, from_arrow(texts.take(pa.array(rank[first]))), first - cuts.start[dimension], sides


def _binary(literals: Literals, used: Ints, extra: list[bytes]) -> pa.Array:
    """Return the used string literals followed by the extra ones, as one binary array."""
    chosen = to_arrow(literals.strings).take(pa.array(literals.bits[used]))
    return pa.concat_arrays([chosen, pa.array(extra, pa.large_binary())])
