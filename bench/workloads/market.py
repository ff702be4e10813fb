"""Generate a marketplace: saved searches and the listings that may answer them.

Seven categories have their own attributes, correlated makes and models, log-normal prices, towns and words of
Zipf popularity. Most searches are conjunctions in columns. A few in a thousand are written as text, because
they draw a circle or a polygon on the map, or use OR and NOT.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workloads.base import Ints, bulk_table, numbered
from bench.workloads.catalogue import categories, towns
from bench.workloads.draw import BLOCK, EVENT_BLOCK, blocks, generator, pick
from bench.workloads.goods import Goods, draw_goods, nice, postcodes
from bench.workloads.maps import map_searches
from bench.workloads.searches import Draft, ask
from bench.workloads.synthetic import Synthetic, check_bounds

_TEXTS = 256  # a block of searches written as text, which take longer to make


@dataclass(frozen=True)
class Market(Synthetic):
    """Listings against saved searches; a share ``on_map`` of the searches come as text."""

    name: str = "market"
    on_map: float = 0.004

    def __post_init__(self) -> None:
        check_bounds(self, on_map=(0, 1))

    @property
    def about(self) -> str:
        """A description in one line."""
        return "saved searches of a marketplace against its listings"

    def parameters(self) -> dict[str, Any]:
        """Return the fields, and the size of the catalogue."""
        models = sum(len(category.models) for category in categories())
        return super().parameters() | {
            "categories": len(categories()),
            "models": models,
            "towns": len(towns()),
        }

    def in_text(self, count: int) -> int:
        """Return the number of searches that need the map or a disjunction."""
        return int(count * self.on_map)

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return the searches that columns can express."""
        draft = Draft(rows)
        for number, _ in blocks(rows, BLOCK):
            rng = generator(seed, "market searches", number)
            for goods, search in _by_category(rng, BLOCK):
                ask(rng, draft, goods, search + number * BLOCK)
        return bulk_table(draft.rows(), numbered("search-", rows), list(draft.names))

    def expressions(self, seed: int, rows: range) -> pa.Table:
        """Return searches with a circle or a polygon on the map, or with OR and NOT."""
        texts = [
            text
            for number, part in blocks(rows, _TEXTS)
            for text in map_searches(generator(seed, "market texts", number), _TEXTS)[part]
        ]
        return pa.table({"id": numbered("map-search-", rows), "expression": pa.array(texts, pa.string())})

    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Return listings, an attribute a column, null if the category does not have it."""
        parts = []
        for number, part in blocks(rows, EVENT_BLOCK):
            rng = generator(seed, "market listings", number)
            drawn = list(_by_category(rng, EVENT_BLOCK))
            order = np.argsort(np.concatenate([listing for _, listing in drawn]))
            tables = [_listings(goods) for goods, _ in drawn]
            block = pa.concat_tables(tables, promote_options="default").take(pa.array(order))
            parts.append(block.slice(part.start, part.stop - part.start))
        return pa.concat_tables(parts, promote_options="default").combine_chunks()


def _by_category(rng: np.random.Generator, count: int) -> Iterator[tuple[Goods, Ints]]:
    """Yield things of every category, and the places among ``count`` that they take."""
    category = pick(rng, [entry.share for entry in categories()], count)
    for at, entry in enumerate(categories()):
        places = np.flatnonzero(category == at)
        yield draw_goods(rng, entry, len(places)), places


def _listings(goods: Goods) -> pa.Table:
    """Return listings that offer ``goods``."""
    category = goods.category
    makes = _take([entry.make for entry in category.models], goods.model)
    models = _take([entry.name for entry in category.models], goods.model)
    columns = {
        "category": _take([category.name], np.zeros(len(makes), np.int64)),
        "title": _titles(goods, makes, models),
        category.maker: makes,
        category.model: models,
        "wage" if category.name == "jobs" else "price": pa.array(nice(goods.price, 3)),
        "city": _take([town.name for town in towns()], goods.town),
        "postcode": _take(postcodes(), goods.postcode),
        "location": pa.StructArray.from_arrays([pa.array(goods.lon), pa.array(goods.lat)], ["lon", "lat"]),
    }
    for choice in category.choices:
        columns[choice.attribute] = _take(choice.values, goods.choices[choice.attribute])
    columns |= {name: pa.array(values) for name, values in goods.quantities.items()}
    columns |= {name: pa.array(values) for name, values in goods.flags.items()}
    return pa.table(columns)


def _titles(goods: Goods, makes: pa.Array, models: pa.Array) -> pa.Array:
    """Return titles such as ``Volvo V60 estate leather``: make and model, then words."""
    words = [_take(goods.category.words, column) for column in goods.words.T]
    first = [makes, models] if goods.category.maker == "brand" else [models]
    return pc.binary_join_element_wise(*first, *words, " ")


def _take(values: Sequence[str], places: Ints) -> pa.Array:
    return pa.array(values, pa.string()).take(pa.array(places))


MARKET = Market()


def plain_listing(row: dict[str, Any]) -> dict[str, Any]:
    """Return a listing as a JSON object, without absent attributes, its place in the library's form."""
    found = {name: value for name, value in row.items() if value is not None}
    place = found.get("location")
    if isinstance(place, dict):
        found["location"] = {"$point": [place["lon"], place["lat"]]}
    return found
