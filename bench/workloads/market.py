"""A marketplace: saved searches and the listings that may answer them.

Seven categories with attributes of their own, correlated makes and models, log-normal prices, towns
and words of Zipf popularity. Most searches are conjunctions in columns; a few in a thousand are
written as text, because they draw a circle or a polygon on the map, or say OR and NOT.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
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


@dataclass(frozen=True)
class Market:
    """Listings against saved searches; ``on_map`` of the searches come as text."""

    name: str = "market"
    on_map: float = 0.004

    @property
    def about(self) -> str:
        """One line for people."""
        return "saved searches of a marketplace against its listings"

    def parameters(self) -> dict[str, Any]:
        """The fields, and the size of the catalogue."""
        models = sum(len(category.models) for category in categories())
        return asdict(self) | {"categories": len(categories()), "models": models, "towns": len(towns())}

    def subscriptions(self, count: int, seed: int) -> pa.Table:
        """All searches of a book of ``count`` but the :meth:`texts`."""
        in_columns = count - self._texts(count)
        draft = Draft(in_columns)
        for number, _ in blocks(in_columns, BLOCK):
            rng = generator(seed, "market searches", number)
            for goods, search in _by_category(rng, BLOCK):
                ask(rng, draft, goods, search + number * BLOCK)
        return bulk_table(draft.rows(), numbered("search-", in_columns), list(draft.names))

    def texts(self, count: int, seed: int) -> pa.Table:
        """The searches of a book of ``count`` that need the map or a disjunction."""
        texts = map_searches(generator(seed, "market texts"), self._texts(count))
        return pa.table(
            {"id": numbered("map-search-", len(texts)), "expression": pa.array(texts, pa.string())}
        )

    def _texts(self, count: int) -> int:
        return int(count * self.on_map)

    def events(self, count: int, seed: int, book: int = 1_000_000) -> pa.Table:
        """``count`` listings, an attribute a column, null where the category does not have it."""
        parts = []
        for number, _ in blocks(count, EVENT_BLOCK):
            rng = generator(seed, "market listings", number)
            drawn = list(_by_category(rng, EVENT_BLOCK))
            order = np.argsort(np.concatenate([listing for _, listing in drawn]))
            tables = [_listings(goods) for goods, _ in drawn]
            parts.append(pa.concat_tables(tables, promote_options="default").take(pa.array(order)))
        return pa.concat_tables(parts, promote_options="default").slice(0, count).combine_chunks()


def _by_category(rng: np.random.Generator, count: int) -> Iterator[tuple[Goods, Ints]]:
    """Things of every category, and the places among ``count`` that they take."""
    category = pick(rng, [entry.share for entry in categories()], count)
    for at, entry in enumerate(categories()):
        places = np.flatnonzero(category == at)
        yield draw_goods(rng, entry, len(places)), places


def _listings(goods: Goods) -> pa.Table:
    """Listings that offer ``goods``."""
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
    """``Volvo V60 estate leather``: make and model, then words."""
    words = [_take(goods.category.words, column) for column in goods.words.T]
    first = [makes, models] if goods.category.maker == "brand" else [models]
    return pc.binary_join_element_wise(*first, *words, " ")


def _take(values: Sequence[str], places: Ints) -> pa.Array:
    return pa.array(values, pa.string()).take(pa.array(places))


MARKET = Market()
