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
    "Advice": "tamis.matcher.advice",
    "AsyncClient": "tamis.client",
    "Audit": "tamis.matcher.audit",
    "Client": "tamis.client",
    "Event": "tamis.model.event",
    "Explanation": "tamis.matcher.explain",
    "Index": "tamis.matcher.index",
    "Interval": "tamis.model.value",
    "Limits": "tamis.limits",
    "MatchBatch": "tamis.matcher.batches",
    "MatchTable": "tamis.matcher.results",
    "Matches": "tamis.matcher.results",
    "Point": "tamis.model.value",
    "Refusal": "tamis.matcher.refused_events",
    "Subscription": "tamis.model.expr",
    "TamisError": "tamis.errors",
    "TopMatches": "tamis.matcher.top",
    "WorkReport": "tamis.matcher.work",
    "advise": "tamis.matcher.advice",
    "attr": "tamis.lang",
    "errors": "tamis.errors",
    "from_eventbridge": "tamis.lang",
    "from_json": "tamis.lang",
    "from_query_string": "tamis.lang",
    "from_search_box": "tamis.lang",
    "parse": "tamis.lang",
    "to_json": "tamis.lang",
    "to_text": "tamis.lang",
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
    from tamis.lang import (
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
    from tamis.matcher.advice import Advice, advise
    from tamis.matcher.audit import Audit
    from tamis.matcher.batches import MatchBatch
    from tamis.matcher.explain import Explanation
    from tamis.matcher.index import Index
    from tamis.matcher.refused_events import Refusal
    from tamis.matcher.results import Matches, MatchTable
    from tamis.matcher.top import TopMatches
    from tamis.matcher.work import WorkReport
    from tamis.model.event import Event
    from tamis.model.expr import Subscription
    from tamis.model.value import Interval, Point


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
