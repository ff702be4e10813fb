"""The marketplace through Spark: invent, profile, build, stream into the outbox, match at full speed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.demo.words import Line, Show, step, tell, waiting
from bench.report import figure
from bench.workloads import WORKLOADS

SCHEMA = "event_id string, event_time timestamp, attributes string"
NEWCOMER = "saved-just-now"


class Pipeline:
    """One marketplace in one folder."""

    def __init__(self, folder: Path, show: Show, seed: int, master: str) -> None:
        self._folder, self._show, self._seed = folder, show, seed
        self._market, self.index = str(folder / "market"), str(folder / "index")
        self._spark = self._session(master)

    def _session(self, master: str) -> Any:
        from tamis.spark import session

        step(f"1. Spark, on {master}")
        with waiting("starting"):
            return session(master, "tamis demo")

    def invent(self) -> None:
        """Searches and listings as Parquet files."""
        from tamis.spark import generate

        show = self._show
        step(f"2. A marketplace where {show.searches:,} people saved a search")
        with waiting("inventing searches and listings, in parallel"):
            generate(
                self._spark,
                WORKLOADS["market"],  # type: ignore[arg-type]
                self._market,
                subscriptions=show.searches,
                events=show.listings,
                seed=self._seed,
                as_text=True,
            )
        for row in self._spark.read.parquet(f"{self._market}/subscriptions").limit(4).collect():
            tell(f"{row['id']}: {row['expression']}")

    def profile(self) -> None:
        """What listings look like."""
        from tamis.spark import profile

        step("3. What do listings look like?")
        with waiting("profiling a log of them, in one pass"):
            found = profile(self._listings().sample(0.3, 1), str(self._folder / "profile"))
        for line in str(found).splitlines()[:9]:
            click.echo(f"   {line[:110]}")

    def build(self) -> None:
        """All searches into the store, and from there into an index."""
        from tamis.spark import build
        from tamis.store import Store

        step("4. All of them are registered, and become one index")
        self._store = Store.open(f"sqlite:///{self._folder}/store.db")
        with waiting("into the store, a SQLite file here, PostgreSQL at scale"):
            rows = pq.read_table(f"{self._market}/subscriptions", columns=["id", "expression"])
            self._store.put_many(rows)
        with waiting("into an index, shard by shard, in parallel"):
            book = self._spark.read.format("tamis").option("store", self._store.url).load()
            made = build(
                book, self.index, applied=self._store.last_change(), profile=str(self._folder / "profile")
            )
        size = made.manifest.bytes / made.subscriptions
        tell(f"{made.subscriptions:,} searches, {made.manifest.bytes / 1e6:.0f} MB, {size:.0f} bytes each")

    def stream(self, rate: int, seconds: float) -> None:
        """Listings arrive, matches go into the outbox; somebody saves a search in the middle of it."""
        step(f"5. {rate:,} listings a second arrive; whoever searched for one is told")
        from bench.spark.source import EVERY
        from tamis.spark import match_stream

        arriving = self._folder / "arriving"
        arriving.mkdir()
        events = self._spark.readStream.schema(SCHEMA).json(str(arriving))
        query = match_stream(
            events, self.index, store=self._store, checkpoint=str(self._folder / "checkpoint"), name="demo"
        )
        command = [sys.executable, "-m", "bench.spark.source", f"{self._market}/events", str(arriving)]
        feeder = subprocess.Popen([*command, str(rate), str(seconds)])
        try:
            self._watch(query, feeder, seconds)
            self._drain(query, rate * EVERY * round(seconds / EVERY))
        finally:
            feeder.kill()
            query.stop()
        self._told()

    def _watch(self, query: Any, feeder: subprocess.Popen[bytes], seconds: float) -> None:
        from tamis.spark.progress import live_line

        began, saved, line = time.monotonic(), False, Line()
        while feeder.poll() is None:
            if (bad := query.exception()) is not None:
                raise bad
            progress = query.lastProgress
            if progress is not None and progress.numInputRows:
                line.show(progress.batchId, live_line(progress))
            if not saved and time.monotonic() - began > seconds / 2:
                self._store.put(NEWCOMER, "category = 'cars'")
                line.end()
                click.echo(f"   … and somebody saves a new search, {NEWCOMER}: category = 'cars'")
                saved = True
            time.sleep(0.1)
        line.end()

    def _drain(self, query: Any, events: float) -> None:
        """Until every listing was read."""
        end = time.monotonic() + 60
        while time.monotonic() < end and query.exception() is None:
            if sum(progress.numInputRows for progress in query.recentProgress) >= events:
                return
            time.sleep(0.2)
        raise click.ClickException(f"the stream did not come to its end: {query.exception()}")

    def _told(self) -> None:
        rows = pa.Table.from_batches(list(self._store.read("outbox")))
        sent, written = (
            np.array(rows[name].cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())) / 1e6
            for name in ("event_time", "created_at")
        )
        self._show.waits = list(zip((sent - sent.min()).tolist(), (written - sent).tolist(), strict=True))
        newcomer = int(np.sum(np.array(rows["subscription_id"]) == NEWCOMER))
        tell(
            f"{len(sent):,} notifications stand in the outbox, half of them within "
            f"{np.median(written - sent):.2f} s of their listing's arrival; {newcomer:,} are for the search "
            "that was saved meanwhile, without a restart"
        )

    def match(self) -> None:
        """A day's log at full speed."""
        from tamis.spark import match

        step("6. A whole log of listings at once, as fast as it goes")
        log = self._listings()
        log.limit(1_000).transform(match(self.index)).count()
        start = time.perf_counter()
        pairs = log.transform(match(self.index)).count()
        rate = self._show.rates["Spark"] = self._show.listings / (time.perf_counter() - start)
        tell(f"{self._show.listings:,} listings, {pairs:,} matches, {figure(rate)} listings a second")

    def _listings(self) -> Any:
        return self._spark.read.parquet(f"{self._market}/events")
