"""The service's audit decides published events again while matching continues."""

from __future__ import annotations

import json
from pathlib import Path

from tamis import Audit
from tamis.live import Live
from tamis.store import Store, subscriptions
from tamis.store.events import NewEvent
from tests.waiting import PATIENCE, eventually


def test_published_events_are_audited(tmp_path: Path) -> None:
    audit = Audit(1.0, tmp_path, raises=False)
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}") as store, Live.open(store, audit=audit) as live:
        entries = [
            subscriptions.entry_from({"id": f"ann/{n}", "expression": f"a = {n}"}, store.limits)
            for n in (1, 2)
        ]
        live.commit(lambda connection: subscriptions.write(connection, entries)).result(PATIENCE)
        live.publish("ann", [NewEvent(f"e{n}", None, json.dumps({"a": n})) for n in range(3)]).result(
            PATIENCE
        )
        eventually(lambda: audit.events >= 3)
    assert (audit.events, audit.decisions, audit.differences) == (3, 6, 0)
