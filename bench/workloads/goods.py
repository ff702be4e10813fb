"""Draw things for sale per category, which listings describe and searches have in mind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from bench.workloads.base import Ints
from bench.workloads.catalogue import Category, Quantity, towns
from bench.workloads.draw import Floats, pick, ranks, zipf

WORDS = 4
"""Words of a title, besides make and model."""

POSTCODES = 24
"""Postcodes of a town."""

_TOWN_ALPHA = 0.7


@dataclass(frozen=True)
class Goods:
    """Things of one category as arrays; choices, words and towns are places in the catalogue's lists."""

    category: Category
    model: Ints
    price: Floats
    town: Ints
    postcode: Ints
    lon: Floats
    lat: Floats
    choices: dict[str, Ints]
    quantities: dict[str, Ints]
    flags: dict[str, npt.NDArray[np.bool_]]
    words: Ints


def draw_goods(rng: np.random.Generator, category: Category, count: int) -> Goods:
    """Return ``count`` things of ``category``."""
    model = pick(rng, [entry.popularity for entry in category.models], count)
    typical = np.array([entry.price for entry in category.models], np.float64)[model]
    town = ranks(rng, zipf(len(towns()), _TOWN_ALPHA), count)
    quantities = {entry.attribute: _quantity(rng, entry, count) for entry in category.quantities}
    price = typical * rng.lognormal(0.0, category.spread, count) * _wear(category, quantities)
    lon, lat = np.array([(place.lon, place.lat) for place in towns()])[town].T
    return Goods(
        category,
        model,
        price,
        town,
        town * POSTCODES + rng.integers(0, POSTCODES, count),
        np.round(lon + rng.normal(0.0, 0.06, count), 4),
        np.round(lat + rng.normal(0.0, 0.04, count), 4),
        {
            entry.attribute: ranks(rng, zipf(len(entry.values), entry.alpha), count)
            for entry in category.choices
        },
        quantities,
        {entry.attribute: rng.random(count) < entry.listed for entry in category.flags},
        ranks(rng, zipf(len(category.words), 0.7), (count, WORDS)),
    )


def _quantity(rng: np.random.Generator, entry: Quantity, count: int) -> Ints:
    drawn = np.round(entry.typical * rng.lognormal(0.0, entry.spread, count) / entry.step) * entry.step
    number = np.clip(drawn, entry.least, entry.most).astype(np.int64)
    return entry.origin - number if entry.origin else number


def _wear(category: Category, quantities: dict[str, Ints]) -> Floats | float:
    """Return the factor on prices of old cars, and change their mileages in place: they have gone further."""
    years = next((entry for entry in category.quantities if entry.attribute == "year"), None)
    if years is None:
        return 1.0
    age = (years.origin - quantities["year"]) / years.typical
    quantities["mileage"] = (np.round(quantities["mileage"] * age**0.7 / 1000) * 1000).astype(np.int64)
    return np.asarray(np.exp(0.8 * (1.0 - age)), np.float64)


@cache
def postcodes() -> tuple[str, ...]:
    """Return all postcodes, those of a town next to each other."""
    return tuple(
        f"{town.name[:2].upper()}-{10 + at}{number:02d}"
        for at, town in enumerate(towns())
        for number in range(POSTCODES)
    )


def nice(numbers: Floats, digits: int) -> Ints:
    """Return numbers rounded to so many leading digits, as people write prices."""
    step = 10.0 ** np.maximum(np.floor(np.log10(np.maximum(numbers, 1.0))) - digits + 1, 0.0)
    rounded: Ints = np.maximum(np.round(numbers / step) * step, 1.0).astype(np.int64)
    return rounded
