"""Saved searches that columns cannot say: circles and polygons on the map, OR, NOT, patterns."""

from __future__ import annotations

import math

import numpy as np

from bench.workloads.catalogue import Category, Model, Town, categories, towns
from bench.workloads.draw import pick, ranks, zipf
from bench.workloads.goods import nice
from tamis.expression.operands import quoted


def map_searches(rng: np.random.Generator, count: int) -> list[str]:
    """``count`` expressions in the text form."""
    category = pick(rng, [entry.share for entry in categories()], count)
    town = ranks(rng, zipf(len(towns()), 0.7), count)
    return [
        _search(rng, categories()[c], towns()[t])
        for c, t in zip(category.tolist(), town.tolist(), strict=True)
    ]


def _search(rng: np.random.Generator, category: Category, town: Town) -> str:
    model = category.models[int(pick(rng, [entry.popularity for entry in category.models], 1)[0])]
    parts = [
        f"category = {quoted(category.name)}",
        _wanted(rng, category, model),
        _amount(rng, category, model),
    ]
    kind = rng.random()
    if kind < 0.55:
        parts.append(f"location WITHIN {circle(rng, town)}")
    elif kind < 0.9:
        parts.append(f"location WITHIN {polygon(rng, town)}")
    else:
        parts += [f"city = {quoted(town.name)}", f"NOT title HAS {quoted(str(rng.choice(category.words)))}"]
    return " AND ".join(parts)


def _wanted(rng: np.random.Generator, category: Category, model: Model) -> str:
    """Return the model; or either of two."""
    one = f"{category.maker} = {quoted(model.make)} AND {category.model} = {quoted(model.name)}"
    if rng.random() < 0.7:
        return one
    other = category.models[int(rng.integers(0, len(category.models)))]
    two = f"{category.maker} = {quoted(other.make)} AND {category.model} = {quoted(other.name)}"
    return f"({one} OR {two})"


def _amount(rng: np.random.Generator, category: Category, model: Model) -> str:
    amount = int(nice(np.array([model.price * rng.uniform(0.9, 1.5)]), 2)[0])
    return f"wage >= {amount // 2}" if category.name == "jobs" else f"price <= {amount}"


def circle(rng: np.random.Generator, town: Town) -> str:
    """Return some kilometres around a place near the town."""
    kilometres = int(rng.choice([2, 5, 10, 20, 50]))
    return (
        f"{kilometres} KM OF POINT ({_place(town.lon + rng.normal(0, 0.03), town.lat + rng.normal(0, 0.02))})"
    )


def polygon(rng: np.random.Generator, town: Town) -> str:
    """Return an uneven ring around the town, as drawn by hand."""
    corners = int(rng.integers(5, 12))
    ring = []
    for corner in range(corners):
        angle = 2 * math.pi * corner / corners
        reach = rng.uniform(0.03, 0.12)
        ring.append(_place(town.lon + 1.5 * reach * math.cos(angle), town.lat + reach * math.sin(angle)))
    return f"POLYGON (({', '.join([*ring, ring[0]])}))"


def _place(lon: float, lat: float) -> str:
    return f"{lon:.4f} {lat:.4f}"
