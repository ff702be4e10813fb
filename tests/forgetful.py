"""Provide an index with a broken engine, for the tests of audits."""

from __future__ import annotations

from typing import Any

from tamis import Index


class Forgetful:
    """An engine that loses its first candidate."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def candidates(self, events: Any) -> Any:
        """Return all candidates of a batch but the first."""
        found = self._engine.candidates(events)
        return found._replace(event=found.event[1:], clause=found.clause[1:])


def forgetful_index() -> Index:
    """Return an index of ``one: a = 1`` whose engine loses the first match of each batch."""
    index = Index.build({"one": "a = 1"})
    (layer,) = index._writer.current.layers
    layer.segment.__dict__["engine"] = Forgetful(layer.segment.engine)
    return index
