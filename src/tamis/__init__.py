"""Tamis sifts streams of events through millions of standing queries.

>>> import tamis
>>> index = tamis.Index.build({"s1": "model = 'iphone5s' AND price <= 580"})
>>> index.match({"model": "iphone5s", "price": 550})
['s1']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tamis.version import __version__ as __version__

# Where each public name lives. Modules are imported when a name is first used: compiled kernels and
# Arrow take most of a second to load, and ``import tamis`` should not.
_HOMES = {
    "AsyncClient": "tamis.client",
    "Audit": "tamis.index.audit",
    "Client": "tamis.client",
    "Event": "tamis.values.event",
    "Index": "tamis.index.index",
    "Interval": "tamis.values.value",
    "Limits": "tamis.limits",
    "Point": "tamis.values.value",
    "Subscription": "tamis.expression.tree",
    "advise": "tamis.index.advice",
    "attr": "tamis.language",
    "backtest": "tamis.planning",
    "errors": "tamis.errors",
    "from_json": "tamis.language",
    "parse": "tamis.language",
    "suggest": "tamis.planning",
    "to_json": "tamis.language",
    "to_text": "tamis.language",
}

__all__ = [
    "AsyncClient",
    "Audit",
    "Client",
    "Event",
    "Index",
    "Interval",
    "Limits",
    "Point",
    "Subscription",
    "advise",
    "attr",
    "backtest",
    "errors",
    "from_json",
    "parse",
    "suggest",
    "to_json",
    "to_text",
]

if TYPE_CHECKING:
    from tamis import errors
    from tamis.client import AsyncClient, Client
    from tamis.expression.tree import Subscription
    from tamis.index.advice import advise
    from tamis.index.audit import Audit
    from tamis.index.index import Index
    from tamis.language import attr, from_json, parse, to_json, to_text
    from tamis.limits import Limits
    from tamis.planning import backtest, suggest
    from tamis.values.event import Event
    from tamis.values.value import Interval, Point


def __getattr__(name: str) -> Any:
    if name in ("rules", "spark"):  # need extras, so they are no names of this package that must exist
        return import_module(f"tamis.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tamis' has no attribute {name!r}")
    module = import_module(home)
    value = module if name == "errors" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
