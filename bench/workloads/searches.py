"""Draw saved searches of the marketplace, as predicate rows.

Each search has a thing in mind (drawn like a listing) and asks for some of its properties: the make, often
the model, a price and a year around it, the town or some postcodes, a word or two of the title. A search
without a place names the make, the model and two words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bench.workloads.base import BETWEEN, EQ, GE, HAS_ALL, IN, LE, Ints, Operands, Rows
from bench.workloads.catalogue import Quantity, towns
from bench.workloads.draw import Floats
from bench.workloads.goods import Goods, nice, postcodes

Mask = npt.NDArray[np.bool_]

_MAKER, _MODEL = 0.95, 0.82  # of searches; of those that name a maker
_SEVERAL_MODELS = 0.12
_ANYWHERE, _POSTCODE, _SEVERAL_PLACES = 0.06, 0.42, 0.22
_PRICE, _PRICE_BAND = 0.88, 0.6  # a price; of those, between two
_WORD, _SECOND_WORD = 0.3, 0.35


@dataclass
class _Chunk:
    """Predicates with the same attribute, operator and number of operands."""

    search: Ints
    attribute: int
    operator: int
    kind: str
    operands: npt.NDArray[np.int64]


@dataclass
class Draft:
    """A collection of the predicates of the searches of these numbers, by search at the end."""

    searches: range
    names: dict[str, int] = field(default_factory=dict)
    strings: dict[str, int] = field(default_factory=dict)
    chunks: list[_Chunk] = field(default_factory=list)

    def add(self, search: Ints, attribute: str, operator: int, kind: str, *operands: Ints) -> None:
        """Add one predicate for each of ``search``; string operands are codes of :meth:`code`."""
        name = self.names.setdefault(attribute, len(self.names))
        wanted = (search >= self.searches.start) & (search < self.searches.stop)
        if wanted.any():
            columns = np.stack(operands, axis=1)[wanted]
            own = search[wanted] - self.searches.start
            self.chunks.append(_Chunk(own, name, operator, kind, columns))

    def code(self, values: Sequence[str]) -> Ints:
        """Return a number for each string."""
        return np.array([self.strings.setdefault(value, len(self.strings)) for value in values], np.int64)

    def rows(self) -> Rows:
        """Return all predicates, sorted by search."""
        search = np.concatenate([np.zeros(0, np.int64), *(chunk.search for chunk in self.chunks)])
        order = np.argsort(search, kind="stable")
        repeat = [len(chunk.search) for chunk in self.chunks]
        attribute = np.repeat(_ints(chunk.attribute for chunk in self.chunks), repeat)[order]
        operator = np.repeat(_ints(chunk.operator for chunk in self.chunks), repeat)[order]
        pool = pa.array(list(self.strings), pa.string())
        operands = {kind: self._operands(kind, order, pool) for kind in ("number", "string", "boolean")}
        return Rows(search[order], attribute, operator, operands)

    def _operands(self, kind: str, order: Ints, pool: pa.Array) -> Operands:
        widths = _ints(chunk.operands.shape[1] if chunk.kind == kind else 0 for chunk in self.chunks)
        count = np.repeat(widths, [len(chunk.search) for chunk in self.chunks])
        flat = [chunk.operands.ravel() for chunk in self.chunks if chunk.kind == kind]
        values = np.concatenate([np.zeros(0, np.int64), *flat])
        start = np.cumsum(count) - count
        picked = count[order]
        places = np.repeat(start[order] - (np.cumsum(picked) - picked), picked) + np.arange(picked.sum())
        return Operands(picked, _typed(kind, values[places], pool))


def _ints(numbers: Iterable[int]) -> Ints:
    return np.fromiter(numbers, np.int64)


def _typed(kind: str, values: Ints, pool: pa.Array) -> pa.Array:
    if kind == "string":
        return pool.take(pa.array(values))
    return pa.array(values.astype(np.bool_) if kind == "boolean" else values)


def ask(rng: np.random.Generator, draft: Draft, goods: Goods, search: Ints) -> None:
    """Write the searches that have ``goods`` in mind."""
    category = goods.category
    draft.add(search, "category", EQ, "string", np.repeat(draft.code([category.name]), len(search)))
    anywhere = rng.random(len(search)) < _ANYWHERE
    _ask_model(rng, draft, goods, search, anywhere)
    _ask_price(rng, draft, goods, search)
    _ask_place(rng, draft, goods, search, anywhere)
    for choice in category.choices:
        codes = draft.code(choice.values)
        asked = rng.random(len(search)) < choice.asked
        several = asked & (rng.random(len(search)) < choice.several)
        _ask_values(
            rng, draft, search, choice.attribute, codes, goods.choices[choice.attribute], asked, several
        )
    for quantity in category.quantities:
        asked = rng.random(len(search)) < quantity.asked
        _ask_quantity(draft, search[asked], quantity, goods.quantities[quantity.attribute][asked])
    for flag in category.flags:
        asked = rng.random(len(search)) < flag.asked
        draft.add(search[asked], flag.attribute, EQ, "boolean", np.ones(int(asked.sum()), np.int64))
    _ask_words(rng, draft, goods, search, anywhere)


def _ask_model(rng: np.random.Generator, draft: Draft, goods: Goods, search: Ints, anywhere: Mask) -> None:
    category = goods.category
    maker = anywhere | (rng.random(len(search)) < _MAKER)
    makes = draft.code([entry.make for entry in category.models])
    draft.add(search[maker], category.maker, EQ, "string", makes[goods.model[maker]])
    asked = maker & (anywhere | (rng.random(len(search)) < _MODEL))
    names = draft.code([entry.name for entry in category.models])
    several = asked & (rng.random(len(search)) < _SEVERAL_MODELS)
    other = sibling([entry.make for entry in category.models])
    one = asked & ~several
    draft.add(search[one], category.model, EQ, "string", names[goods.model[one]])
    both = names[goods.model[several]], names[other[goods.model[several]]]
    draft.add(search[several], category.model, IN, "string", *both)


def sibling(makes: list[str]) -> Ints:
    """Return for every model another one of the same make."""
    places = np.arange(len(makes))
    same = np.array([at + 1 < len(makes) and makes[at + 1] == makes[at] for at in places.tolist()])
    return np.where(same, places + 1, np.maximum(places - 1, 0))


def _ask_price(rng: np.random.Generator, draft: Draft, goods: Goods, search: Ints) -> None:
    asked = rng.random(len(search)) < _PRICE
    band = asked & (rng.random(len(search)) < _PRICE_BAND)
    top = nice(goods.price * rng.uniform(0.9, 1.15, len(search)), 2)
    bottom = nice(goods.price * rng.uniform(0.6, 0.85, len(search)), 2)
    capped = asked & ~band
    if goods.category.name == "jobs":  # a wage: more is better
        draft.add(search[capped], "wage", GE, "number", bottom[capped])
        draft.add(search[band], "wage", BETWEEN, "number", bottom[band], np.maximum(top, bottom)[band])
        return
    draft.add(search[capped], "price", LE, "number", top[capped])
    draft.add(search[band], "price", BETWEEN, "number", bottom[band], np.maximum(top, bottom)[band])


def _ask_place(rng: np.random.Generator, draft: Draft, goods: Goods, search: Ints, anywhere: Mask) -> None:
    """Ask for a town or two, or some postcodes."""
    near = rng.random(len(search)) < _POSTCODE
    several = rng.random(len(search)) < _SEVERAL_PLACES
    codes = draft.code([place.name for place in towns()])
    _ask_values(rng, draft, search, "city", codes, goods.town, ~anywhere & ~near, ~anywhere & ~near & several)
    codes = draft.code(postcodes())
    near &= ~anywhere
    _ask_values(rng, draft, search, "postcode", codes, goods.postcode, near, near & several)


def _ask_values(
    rng: np.random.Generator,
    draft: Draft,
    search: Ints,
    attribute: str,
    codes: Ints,
    wanted: Ints,
    asked: Mask,
    several: Mask,
) -> None:
    """Ask for one value or, with ``several``, for IN with the next one or two of the list."""
    one = asked & ~several
    draft.add(search[one], attribute, EQ, "string", codes[wanted[one]])
    three = several & (rng.random(len(search)) < 0.4) & (len(codes) > 2)
    for mask, width in ((several & ~three, 2), (three, 3)):
        nearby = [codes[(wanted[mask] + step) % len(codes)] for step in range(width)]
        draft.add(search[mask], attribute, IN, "string", *nearby)


def _ask_quantity(draft: Draft, search: Ints, quantity: Quantity, wanted: Ints) -> None:
    operator = LE if quantity.side == "<=" else GE
    coarse = (
        wanted if quantity.origin or quantity.most <= 40 else _coarse(wanted.astype(np.float64), operator)
    )
    draft.add(search, quantity.attribute, operator, "number", coarse)


def _coarse(numbers: Floats, operator: int) -> Ints:
    """Return numbers rounded away from the wanted one to two digits, the second a 0 or a 5."""
    step = 5.0 * 10.0 ** np.maximum(np.floor(np.log10(np.maximum(numbers, 1.0))) - 1, 0.0)
    rounded = np.ceil(numbers / step) if operator == LE else np.floor(numbers / step)
    coarse: Ints = (rounded * step).astype(np.int64)
    return coarse


def _ask_words(rng: np.random.Generator, draft: Draft, goods: Goods, search: Ints, anywhere: Mask) -> None:
    codes = draft.code(goods.category.words)
    asked = anywhere | (rng.random(len(search)) < _WORD)
    first, second = goods.words[:, 0], goods.words[:, 1]
    two = asked & (anywhere | (rng.random(len(search)) < _SECOND_WORD)) & (first != second)
    one = asked & ~two
    draft.add(search[one], "title", HAS_ALL, "string", codes[first[one]])
    draft.add(search[two], "title", HAS_ALL, "string", codes[first[two]], codes[second[two]])
