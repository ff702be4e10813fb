"""Run the demonstration's service as a user would, and call it over HTTP."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from bench.demo.post import LOCAL, Post
from bench.demo.words import paragraph, step, waiting
from bench.service.process import served
from tamis import Client

HOOKS, MAILS = 500, 500  # searches whose owners want a webhook at once, or a digest by mail
OWNER = "market"
NEWCOMER = "saved-just-now"


class Service:
    """The command ``tamis serve`` on a folder."""

    def __init__(self, folder: Path, post: Post) -> None:
        self._folder, self._post = folder, post
        self._open = contextlib.ExitStack()
        self.address = self.key = ""

    @property
    def url(self) -> str:
        """The URL of its database, which the Spark stream shares."""
        return f"sqlite:///{self._folder / 'tamis.db'}"

    def start(self) -> None:
        """Start the service with one command."""
        step("2. The service: HTTP API, matcher, notifier and console in one process")
        options = ["--smtp", f"{LOCAL}:{self._post.smtp_port}", "--smtp-security", "none"]
        options += ["--allow-network", f"{LOCAL}/32"]
        with waiting("tamis serve --data … --port 0"):
            running = self._open.enter_context(served(self._folder, options))
        self.address = running.address
        with Client(self.address, running.first_key) as root:
            self.key = root.create_key(OWNER, ["publish", "subscribe", "admin"], name="demonstration").key
        self._client = self._open.enter_context(Client(self.address, self.key))
        paragraph(f"console {self.address}/   API {self.address}/docs   key {self.key}")

    def register(self, parquet: str) -> None:
        """Register all searches through the bulk route, a few with a delivery, the others without."""
        rows = pq.read_table(parquet, columns=["id", "expression"]).to_pylist()
        began = time.perf_counter()
        with waiting(f"{len(rows):,} searches over HTTP, as lines of JSON"):
            self._client.import_(self._wish(row, at) for at, row in enumerate(rows))
        paragraph(
            f"{len(rows) / (time.perf_counter() - began):,.0f} a second, each one durable; {HOOKS} of their "
            f"owners want a webhook at once, {MAILS} a digest by mail"
        )

    def _wish(self, row: dict[str, Any], at: int) -> dict[str, Any]:
        if at < HOOKS:
            return row | {"delivery": {"transport": "webhook", "url": self._post.hook_url}}
        if at < HOOKS + MAILS:
            mail = {"transport": "email", "to": f"{row['id']}@example.org"}
            return row | {"delivery": mail, "schedule": "every 5 seconds"}
        return dict(row)

    def save_a_search(self) -> None:
        """Save a search while listings stream in."""
        mail = {"transport": "email", "to": "newcomer@example.org"}
        self._client.add(NEWCOMER, "category = 'cars'", schedule="every 5 seconds", delivery=mail)

    def settle(self, seconds: float = 30) -> None:
        """Wait until all matches are delivered."""
        end = time.monotonic() + seconds
        time.sleep(6)  # the last digests are due
        while time.monotonic() < end:
            waits = self._client.status().deliveries
            if not waits["waiting"] + waits["claimed"]:
                return
            time.sleep(0.2)

    def notify_at_once(self) -> None:
        """Publish one event by HTTP, and measure the time until its webhook arrives."""
        hook = {"transport": "webhook", "url": self._post.hook_url}
        self._client.add("mine", "title HAS 'sieve' AND price < 100", delivery=hook)
        waits = []
        for _ in range(5):
            before, began = len(self._post.hooks), time.perf_counter()
            self._client.publish({"title": "Drum sieve, brass", "price": 40})
            while len(self._post.hooks) == before and time.perf_counter() < began + 10:
                time.sleep(0.001)
            waits.append(1_000 * (time.perf_counter() - began))
        paragraph(
            f"and without Spark: an event published over HTTP was matched, delivered to its webhook and "
            f"signed within {sorted(waits)[2]:.0f} ms (the median of five)"
        )

    def stop(self) -> None:
        """Stop the service in good order."""
        self._open.close()
