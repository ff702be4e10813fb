"""Read the marketplace's catalogue from ``market.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("market.toml")


@dataclass(frozen=True)
class Model:
    """A model of a make and its typical price; its popularity is its make's times its own rank's."""

    make: str
    name: str
    price: int
    popularity: float


@dataclass(frozen=True)
class Choice:
    """An attribute with a list of values; ``asked`` is the share of searches that name one of them."""

    attribute: str
    values: tuple[str, ...]
    asked: float
    alpha: float
    several: float  # the share of those asking that accept several values (IN)


@dataclass(frozen=True)
class Quantity:
    """A number, log-normal around ``typical``, rounded to ``step``; searches bound it on one ``side``."""

    attribute: str
    typical: float
    spread: float
    step: int
    asked: float
    side: str
    least: int
    most: int
    origin: int = 0  # if given, the attribute is this minus the number drawn


@dataclass(frozen=True)
class Flag:
    """A yes or no: the share of listings that have it, and of searches that ask for it."""

    attribute: str
    listed: float
    asked: float


@dataclass(frozen=True)
class Category:
    """One department; ``maker`` and ``model`` name the attributes of the correlated pair."""

    name: str
    share: float
    maker: str
    model: str
    spread: float
    models: tuple[Model, ...]
    choices: tuple[Choice, ...]
    quantities: tuple[Quantity, ...]
    flags: tuple[Flag, ...]
    words: tuple[str, ...]


@dataclass(frozen=True)
class Town:
    """A town in which things are sold."""

    name: str
    lon: float
    lat: float


@cache
def categories() -> tuple[Category, ...]:
    """Return all departments, the most popular first."""
    return tuple(_category(entry) for entry in _data()["category"])


@cache
def towns() -> tuple[Town, ...]:
    """Return all towns, the most popular first."""
    return tuple(Town(name, lon, lat) for name, (lon, lat) in _data()["towns"].items())


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _category(entry: dict[str, Any]) -> Category:
    return Category(
        entry["name"],
        entry["share"],
        entry["maker"],
        entry["model"],
        entry["spread"],
        tuple(_models(entry["makes"])),
        tuple(
            Choice(attribute=name, **(rest | {"values": _values(rest["values"])}))
            for name, rest in entry.get("choices", {}).items()
        ),
        tuple(Quantity(name, **rest) for name, rest in entry.get("quantities", {}).items()),
        tuple(Flag(name, **rest) for name, rest in entry.get("flags", {}).items()),
        _values(entry["words"]),
    )


def _models(makes: dict[str, str]) -> list[Model]:
    """Return models from ``Golf:14500 Polo:9800`` per make; rank r has popularity 1/r, makes and models."""
    found = []
    for rank, (make, text) in enumerate(makes.items(), 1):
        entries = [entry.rsplit(":", 1) for entry in text.split()]
        total = sum(1 / place for place in range(1, len(entries) + 1))
        for place, (name, price) in enumerate(entries, 1):
            popularity = 1 / rank / place / total
            found.append(Model(make.replace("_", " "), name.replace("_", " "), int(price), popularity))
    return found


def _values(text: str) -> tuple[str, ...]:
    """Return the words of a text; an underscore stands for a space."""
    return tuple(word.replace("_", " ") for word in text.split())
