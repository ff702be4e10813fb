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
    "Advice": "tamis.index.advice",
    "AsyncClient": "tamis.client",
    "Audit": "tamis.index.audit",
    "Client": "tamis.client",
    "Event": "tamis.values.event",
    "Explanation": "tamis.index.explain",
    "Index": "tamis.index.index",
    "Interval": "tamis.values.value",
    "Limits": "tamis.limits",
    "MatchBatch": "tamis.index.batches",
    "MatchTable": "tamis.index.results",
    "Matches": "tamis.index.results",
    "Point": "tamis.values.value",
    "Refusal": "tamis.index.refused_events",
    "Subscription": "tamis.expression.tree",
    "TamisError": "tamis.errors",
    "TopMatches": "tamis.index.top",
    "WorkReport": "tamis.index.work",
    "advise": "tamis.index.advice",
    "attr": "tamis.language",
    "errors": "tamis.errors",
    "from_eventbridge": "tamis.language",
    "from_json": "tamis.language",
    "from_query_string": "tamis.language",
    "from_search_box": "tamis.language",
    "parse": "tamis.language",
    "to_json": "tamis.language",
    "to_text": "tamis.language",
}

__all__ = [
    "Advice",
    "AsyncClient",
    "Audit",
    "Client",
    "Event",
    "Explanation",
    "Index",
    "Interval",
    "Limits",
    "MatchBatch",
    "MatchTable",
    "Matches",
    "Point",
    "Refusal",
    "Subscription",
    "TamisError",
    "TopMatches",
    "WorkReport",
    "advise",
    "attr",
    "errors",
    "from_eventbridge",
    "from_json",
    "from_query_string",
    "from_search_box",
    "parse",
    "to_json",
    "to_text",
]

if TYPE_CHECKING:
    from tamis import errors
    from tamis.client import AsyncClient, Client
    from tamis.errors import TamisError
    from tamis.expression.tree import Subscription
    from tamis.index.advice import Advice, advise
    from tamis.index.audit import Audit
    from tamis.index.batches import MatchBatch
    from tamis.index.explain import Explanation
    from tamis.index.index import Index
    from tamis.index.refused_events import Refusal
    from tamis.index.results import Matches, MatchTable
    from tamis.index.top import TopMatches
    from tamis.index.work import WorkReport
    from tamis.language import (
        attr,
        from_eventbridge,
        from_json,
        from_query_string,
        from_search_box,
        parse,
        to_json,
        to_text,
    )
    from tamis.limits import Limits
    from tamis.values.event import Event
    from tamis.values.value import Interval, Point


def __getattr__(name: str) -> Any:
    if name == "spark":  # needs an extra, so it is no name of this package that must exist
        return import_module("tamis.spark")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tamis' has no attribute {name!r}")
    module = import_module(home)
    value = module if name == "errors" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
