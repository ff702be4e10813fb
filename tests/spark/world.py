"""A store, an index and a folder of events, for tests of streams."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import tamis
from tamis.store import Store

BOOK = {f"s{n}": f"a = {n % 4} AND b <= {n % 6}" for n in range(40)}
SCHEMA = "event_id string, attributes string"


class World:
    """A store, an index and a folder of events."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, str(folder / "index")
        (folder / "events").mkdir()
        self.store = Store.open(f"sqlite:///{folder}/store.db")
        self.store.put_many(BOOK)
        self._files = 0

    def send(self, events: dict[str, Any]) -> None:
        """Write one file, which appears as a whole."""
        self._files += 1
        lines = [json.dumps({"event_id": name, "attributes": text}) for name, text in events.items()]
        part = self.folder / f"part-{self._files}"
        part.write_text("\n".join(lines) + "\n")
        os.rename(part, self.folder / "events" / f"{self._files:04d}.json")

    def outbox(self) -> set[tuple[str, str, int]]:
        rows = [row for batch in self.store.read("outbox") for row in batch.to_pylist()]
        found = {(row["event_id"], row["subscription_id"], row["version"]) for row in rows}
        assert len(found) == len(rows), "each once"
        return found

    def quarantine(self) -> set[tuple[str, str]]:
        rows = [row for batch in self.store.read("quarantine") for row in batch.to_pylist()]
        return {(row["event_id"], row["code"]) for row in rows}

    def expected(self, event: dict[str, int]) -> set[str]:
        book = {r["id"]: r["expression"] for b in self.store.subscriptions() for r in b.to_pylist()}
        return set(tamis.Index.build(book, engine="scan").match(event))
