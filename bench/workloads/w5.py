"""W5: the shape of the car subscriptions of the Yandex paper: region, mark, model, year, price and polygons.

The paper gives the attributes, 300,000 active subscriptions, a tree over a few frequent names, and polygons
that no two users draw alike, so that they are checked last. What it leaves open is settled like this.

* A subscription has a car in mind (a model, a region, a year and a price, drawn like an advertisement) and
  asks for each property with a probability of its own; it asks for a mark if it would ask for nothing.
* A share ``on_map`` draws a circle or a polygon around a town instead of naming the region, and ``either`` of
  those accept one of two models: these are written as text.
* An advertisement has all properties, and a place on the map.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bench.workloads.base import BETWEEN, EQ, GE, IN, LE, Ints, bulk_table, numbered
from bench.workloads.catalogue import Category, categories, towns
from bench.workloads.draw import BLOCK, EVENT_BLOCK, blocks, generator
from bench.workloads.goods import Goods, draw_goods, nice
from bench.workloads.maps import circle, polygon
from bench.workloads.searches import Draft, Mask, sibling
from bench.workloads.synthetic import Synthetic, check_bounds
from tamis.expression.operands import quoted

_TEXTS = 1_024  # a block of those written as text, which take longer to make


@dataclass(frozen=True)
class W5(Synthetic):
    """Which share of the subscriptions asks for what (a model: of those with a mark)."""

    name: str = "w5"
    region: float = 0.92
    mark: float = 0.97
    model: float = 0.8
    several: float = 0.2  # of those with a model, how many accept two
    year: float = 0.6
    price: float = 0.75
    from_to: float = 0.5  # of years and prices, how many have both bounds
    on_map: float = 0.1
    circles: float = 0.4  # of those on the map
    either: float = 0.1  # of those on the map

    def __post_init__(self) -> None:
        check_bounds(self, **{name: (0, 1) for name in self.parameters() if name != "name"})

    @property
    def about(self) -> str:
        """One line for people."""
        return "Yandex paper: subscriptions to car advertisements, one in ten with a shape on the map"

    def in_text(self, count: int) -> int:
        """Return those on the map."""
        return int(count * self.on_map)

    # ------------------------------------------------------------------------------- subscriptions
    def columns(self, seed: int, rows: range) -> pa.Table:
        """Subscriptions without a shape."""
        draft = Draft(rows)
        for number, _ in blocks(rows, BLOCK):
            rng = generator(seed, "w5 subscriptions", number)
            self._ask(rng, draft, draw_goods(rng, _cars(), BLOCK), np.arange(BLOCK) + number * BLOCK)
        return bulk_table(draft.rows(), numbered("s", rows), list(draft.names))

    def _ask(self, rng: np.random.Generator, draft: Draft, car: Goods, search: Ints) -> None:
        region, year, price, mark = (
            rng.random(len(search)) < share for share in (self.region, self.year, self.price, self.mark)
        )
        mark |= ~(region | year | price)
        codes = draft.code([town.name for town in towns()])
        draft.add(search[region], "region", EQ, "string", codes[car.town[region]])
        self._ask_model(rng, draft, car, search, mark)
        years = car.quantities["year"]
        self._ask_number(rng, draft, search, "year", year, years - rng.integers(0, 4, len(years)), years + 1)
        low = nice(car.price * rng.uniform(0.5, 0.9, len(search)), 2)
        high = nice(car.price * rng.uniform(1.0, 1.5, len(search)), 2)
        self._ask_number(rng, draft, search, "price", price, low, high)

    def _ask_model(
        self, rng: np.random.Generator, draft: Draft, car: Goods, search: Ints, mark: Mask
    ) -> None:
        marks = [entry.make for entry in car.category.models]
        draft.add(search[mark], "mark", EQ, "string", draft.code(marks)[car.model[mark]])
        names = draft.code([entry.name for entry in car.category.models])
        asked = mark & (rng.random(len(search)) < self.model)
        two = asked & (rng.random(len(search)) < self.several)
        one = asked & ~two
        draft.add(search[one], "model", EQ, "string", names[car.model[one]])
        draft.add(
            search[two], "model", IN, "string", names[car.model[two]], names[sibling(marks)[car.model[two]]]
        )

    def _ask_number(
        self,
        rng: np.random.Generator,
        draft: Draft,
        search: Ints,
        name: str,
        asked: Mask,
        low: Ints,
        high: Ints,
    ) -> None:
        """From and to, or one of them: the oldest car, the highest price."""
        both = asked & (rng.random(len(search)) < self.from_to)
        one = asked & ~both
        operator, bound = (GE, low) if name == "year" else (LE, high)
        draft.add(search[both], name, BETWEEN, "number", low[both], high[both])
        draft.add(search[one], name, operator, "number", bound[one])

    # --------------------------------------------------------------------------------- on the map
    def expressions(self, seed: int, rows: range) -> pa.Table:
        """Subscriptions with a circle or a polygon."""
        texts: list[str] = []
        for number, part in blocks(rows, _TEXTS):
            texts += list(self._shapes(generator(seed, "w5 shapes", number)))[part]
        return pa.table({"id": numbered("on-map-", rows), "expression": pa.array(texts, pa.string())})

    def _shapes(self, rng: np.random.Generator) -> Iterator[str]:
        car = draw_goods(rng, _cars(), _TEXTS)
        other = rng.permutation(car.model)
        either, round_, dated, priced = (
            rng.random(_TEXTS) < share for share in (self.either, self.circles, self.year, self.price)
        )
        high = nice(car.price * rng.uniform(1.0, 1.5, _TEXTS), 2)
        for at in range(_TEXTS):
            town = towns()[car.town[at]]
            wanted = _model(car.category, car.model[at])
            parts = [f"({wanted} OR {_model(car.category, other[at])})" if either[at] else wanted]
            parts += [f"year >= {car.quantities['year'][at] - 2}"] if dated[at] else []
            parts += [f"price <= {high[at]}"] if priced[at] else []
            parts.append(f"location WITHIN {circle(rng, town) if round_[at] else polygon(rng, town)}")
            yield " AND ".join(parts)

    # -------------------------------------------------------------------------------------- events
    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Advertisements, a column for each property; they do not depend on the book."""
        parts = []
        for number, part in blocks(rows, EVENT_BLOCK):
            rng = generator(seed, "w5 advertisements", number)
            parts.append(_advertisements(draw_goods(rng, _cars(), EVENT_BLOCK))[part])
        return pa.concat_tables(parts).combine_chunks()


def _cars() -> Category:
    return categories()[0]


def _model(category: Category, at: int) -> str:
    entry = category.models[at]
    return f"mark = {quoted(entry.make)} AND model = {quoted(entry.name)}"


def _advertisements(car: Goods) -> pa.Table:
    models = car.category.models
    place = pa.StructArray.from_arrays([pa.array(car.lon), pa.array(car.lat)], ["lon", "lat"])
    return pa.table(
        {
            "region": pa.array([town.name for town in towns()]).take(pa.array(car.town)),
            "mark": pa.array([entry.make for entry in models]).take(pa.array(car.model)),
            "model": pa.array([entry.name for entry in models]).take(pa.array(car.model)),
            "year": pa.array(car.quantities["year"]),
            "price": pa.array(nice(car.price, 3)),
            "location": place,
        }
    )


W5_CARS = W5()
