"""Run the marketplace through Spark: generate, profile, build, stream into the outbox, match a log."""

from __future__ import annotations

import contextlib
import subprocess
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.demo.service import NEWCOMER, OWNER, Service
from bench.demo.words import Show, paragraph, step, waiting
from bench.report import figure
from bench.spark.source import start
from bench.workloads import WORKLOADS
from tamis.contract.names import stored_name

SCHEMA = "event_id string, event_time timestamp, attributes string"


class Pipeline:
    """One marketplace in one folder."""

    def __init__(self, folder: Path, show: Show, seed: int, master: str, service: Service) -> None:
        self._folder, self._show, self._seed, self._service = folder, show, seed, service
        self._market, self.index = str(folder / "market"), str(folder / "index")
        self._spark = self._session(master)

    def _session(self, master: str) -> Any:
        from tamis.spark import session

        step(f"1. Spark, on {master}")
        with waiting("starting"):
            return session(master, "tamis demo")

    def invent(self) -> None:
        """Generate searches and listings as Parquet files."""
        from tamis.spark import generate

        show = self._show
        step(f"3. A marketplace where {show.searches:,} people saved a search")
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
            paragraph(f"{row['id']}: {row['expression']}")

    def profile(self) -> None:
        """Profile the listings and show the result."""
        from tamis.spark.profiling import profile

        step("4. What do listings look like?")
        with waiting("profiling a log of them, in one pass"):
            found = profile(self._listings().sample(0.3, 1), str(self._folder / "profile"))
        for line in str(found).splitlines()[:9]:
            click.echo(f"   {line[:110]}")

    def build(self) -> None:
        """Register all searches with the service, and build an index for Spark from its store."""
        from tamis.spark import build
        from tamis.store import Store

        step("5. All of them are registered, and become one index")
        self._service.register(f"{self._market}/subscriptions")
        self._store = Store.open(self._service.url)
        with waiting("into an index, shard by shard, in parallel"):
            book = self._spark.read.format("tamis").option("store", self._store.url).load()
            made = build(
                book, self.index, applied=self._store.last_change(), profile=str(self._folder / "profile")
            )
        size = made.manifest.bytes / made.subscriptions
        paragraph(
            f"{made.subscriptions:,} searches, {made.manifest.bytes / 1e6:.0f} MB, {size:.0f} bytes each"
        )

    def stream(self, rate: int, seconds: float) -> None:
        """Stream listings and write matches to the outbox; a search is saved in mid-stream."""
        step(f"6. {rate:,} listings a second arrive; owners of matching searches are notified")
        from tamis.cli.spark.progress_line import ProgressLine
        from tamis.spark import match_stream
        from tamis.spark.metrics import StreamMetrics

        arriving = self._folder / "arriving"
        arriving.mkdir()
        events = self._spark.readStream.schema(SCHEMA).json(str(arriving))
        line = ProgressLine(every=3.0)
        with StreamMetrics(line).watch(self._spark):
            query = match_stream(
                events,
                self.index,
                store=self._store,
                checkpoint=str(self._folder / "checkpoint"),
                name="demo",
            )
            feeder = start(f"{self._market}/events", arriving, rate, seconds)
            try:
                self._save_a_search(feeder, min(10.0, seconds / 2))
                query.processAllAvailable()
            finally:
                feeder.kill()
                query.stop()
        line.close("   the outbox")
        self._show_notifications()

    def _save_a_search(self, feeder: subprocess.Popen[bytes], after: float) -> None:
        """Wait until all listings were sent; save a search half-way."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            feeder.wait(after)
        self._service.save_a_search()
        click.echo(f"\n   … and a user saves a new search, {NEWCOMER}: category = 'cars'", err=True)
        feeder.wait()

    def _show_notifications(self) -> None:
        rows = pa.Table.from_batches(list(self._store.read("outbox")))
        rows = rows.filter(pc.equal(rows["kind"], "match"))
        sent, written = (
            np.array(rows[name].cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())) / 1e6
            for name in ("event_time", "created_at")
        )
        self._show.waits = list(zip((sent - sent.min()).tolist(), (written - sent).tolist(), strict=True))
        newcomer = pc.sum(pc.equal(rows["subscription_id"], stored_name(OWNER, NEWCOMER))).as_py()
        paragraph(
            f"{len(sent):,} notifications stand in the outbox, half of them within "
            f"{np.median(written - sent):.2f} s of their listing's arrival; {newcomer:,} are for the search "
            "that was saved meanwhile, without a restart"
        )

    def match(self) -> None:
        """Match a day's log at full speed."""
        from tamis.spark import match

        step("8. A whole log of listings at once, as fast as it goes")
        log = self._listings()
        log.limit(1_000).transform(match(self.index)).count()
        start = time.perf_counter()
        pairs = log.transform(match(self.index)).count()
        rate = self._show.rates["Spark"] = self._show.listings / (time.perf_counter() - start)
        paragraph(f"{self._show.listings:,} listings, {pairs:,} matches, {figure(rate)} listings a second")

    def _listings(self) -> Any:
        return self._spark.read.parquet(f"{self._market}/events")
