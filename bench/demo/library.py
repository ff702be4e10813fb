"""Use the same index in one process, without Spark: one listing at a time, against a scan."""

from __future__ import annotations

import textwrap
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tqdm import tqdm

from bench.demo.words import Show, paragraph, step, waiting
from bench.report import figure, table
from bench.run.material import Material, library_build, make_index
from bench.run.plan import EngineSpec
from bench.timing import one_at_a_time, percentiles, seconds
from bench.workloads import WORKLOADS
from bench.workloads.truth import rows_of
from tamis.contract.names import local_name

MARKET = WORKLOADS["market"]
BATCH = 2_048


class Library:
    """The index that Spark built, mapped into this process."""

    def __init__(self, index: str, show: Show, seed: int) -> None:
        from tamis.shards.opening import open_shards

        self._show = show
        self._index = open_shards(index, version=1)  # as built: scan knows no later searches
        self._material = Material(
            MARKET.subscriptions(show.searches, seed),
            MARKET.texts(show.searches, seed),
            MARKET.events(max(BATCH, 32_768), seed, show.searches),
            None,
        )

    def run(self) -> None:
        """Compare the engines, and explain a match."""
        step("9. The same index in this process: one listing at a time, against a plain scan")
        paragraph("Every process on a machine maps the same files; nothing is copied or loaded.")
        self._compare()
        self._explain()

    def _compare(self) -> None:
        with waiting("building the scan, the slow engine that defines what is correct"):
            scan = make_index(self._material, EngineSpec.read("scan"), library_build(), merge=False)
        listings, show = self._material.events, self._show
        for name, one, budget, most in (("tamis", self._index, 3.0, 10_000), ("scan", scan, 4.0, 1_000)):
            with tqdm(total=most, desc=f"   {name:5}", unit=" listings", leave=False) as bar:
                show.latencies[name] = one_at_a_time(one, listings.slice(0, most), budget, bar.update)
        self._one_core(scan, listings)
        _table(show)
        _same(self._index, scan, listings.slice(0, len(show.latencies["scan"])))

    def _one_core(self, scan: Any, listings: pa.Table) -> None:
        """Compare batches on one core, which is fair to both; then run tamis on all cores."""
        ways = (("scan, one core", scan, 512, 1), ("one core", self._index, 8 * BATCH, 1))
        for name, one, count, threads in (*ways, ("all cores", self._index, 16 * BATCH, None)):
            part = listings.slice(0, count)
            one.match_many(part.slice(0, 16), threads=1)
            spent, _ = seconds(lambda one=one, part=part, n=threads: one.match_many(part, threads=n))  # type: ignore[misc]
            self._show.rates[name] = part.num_rows / spent

    def _explain(self) -> None:
        click.echo("\n   Why did they match?")
        shown: set[str] = set()
        for event in rows_of(self._material.events):
            found = list(self._index.match(event))
            if not found or event["category"] in shown:
                continue
            shown.add(event["category"])
            on_map = [name for name in found if local_name(name).startswith("map-")]
            _explain_one(self._index, (on_map or found)[0], event, len(found))
            if len(shown) == 2:
                return


def _table(show: Show) -> None:
    rows = []
    for name, batch in (("tamis", "one core"), ("scan", "scan, one core")):
        times = percentiles(show.latencies[name])
        rows.append((name, *(figure(x) for x in (times["p50_us"], times["p99_us"], show.rates[batch]))))
    click.echo(textwrap.indent(table(("", "p50 µs", "p99 µs", "listings/s, batches, one core"), rows), "   "))
    more = show.rates["one core"] / show.rates["scan, one core"]
    sooner = float(np.median(show.latencies["scan"]) / np.median(show.latencies["tamis"]))
    click.echo(
        f"   {figure(more, 2)} times as many listings a second; one listing {figure(sooner, 2)} times sooner"
    )


def _same(index: Any, scan: Any, listings: pa.Table) -> None:
    order = [("event", "ascending"), ("subscription", "ascending")]
    ours, theirs = (_local(one.match_many(listings)).sort_by(order) for one in (index, scan))
    if not ours.equals(theirs):
        raise click.ClickException("the two engines disagree; run: python -m bench run market")
    click.echo(f"   and on {listings.num_rows:,} listings both find the same {ours.num_rows:,} pairs")


def _local(found: pa.Table) -> pa.Table:
    """Return the names of subscriptions without the owner prefix that the service adds."""
    names = pc.replace_substring_regex(found["subscription"], "^[^/]*/", "")
    return found.set_column(1, "subscription", names)


def _explain_one(index: Any, name: str, event: dict[str, Any], found: int) -> None:
    price = event.get("price") or event.get("wage")
    whose = f"{found} searches match, among them {name}" if found > 1 else f"one search matches: {name}"
    click.echo(f"\n   “{event['title']}”, {price:,} €, {event['city']}: {whose}")
    for line in str(index.explain(name, event)).splitlines():
        click.echo("      " + (line if len(line) <= 100 else line[:99] + "…"))
