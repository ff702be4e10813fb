"""``make demo``: a marketplace of saved searches, its listings matched at full speed, in one process."""

from __future__ import annotations

import os
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
from tqdm import tqdm

from bench.describe import examples
from bench.report import ROOT, figure, table
from bench.run.material import Material, library_build, make_index
from bench.run.plan import EngineSpec
from bench.timing import one_at_a_time, percentiles, seconds
from bench.workloads import WORKLOADS
from bench.workloads.truth import rows_of

MARKET = WORKLOADS["market"]
BATCH = 2_048


@dataclass
class Show:
    """What the demonstration measured, for the table and the plot."""

    searches: int
    rates: dict[str, float]
    latencies: dict[str, list[float]]


@click.command(context_settings={"show_default": True})
@click.option("--searches", type=click.IntRange(1_000), default=1_000_000)
@click.option(
    "--seconds", "lasting", type=click.FloatRange(0.1), default=10.0, help="How long listings stream."
)
@click.option("--seed", type=click.IntRange(0), default=1)
@click.option(
    "--plot", "file", type=click.Path(path_type=Path), default=ROOT / "build" / "demo.png", show_default=False
)
def demo(searches: int, lasting: float, seed: int, file: Path) -> None:
    """A marketplace, live: saved searches, a stream of listings, and who hears of which."""
    start = time.perf_counter()
    material = _open_market(searches, seed)
    index = _build(material, searches)
    show = Show(searches, {}, {})
    _stream(index, material.events, lasting, show)
    _compare(index, material, show)
    _explain(index, material)
    _draw(show, file)
    click.echo(f"\nThat was everything, in {time.perf_counter() - start:.0f} s.")


def say(text: str) -> None:
    """A paragraph for people."""
    click.echo("\n" + textwrap.fill(text, 100))


def step(title: str) -> None:
    """A heading."""
    click.echo("\n" + click.style(title, bold=True))


def _open_market(searches: int, seed: int) -> Material:
    step(f"1. A marketplace where {searches:,} people saved a search")
    start = time.perf_counter()
    material = Material(
        MARKET.subscriptions(searches, seed),
        MARKET.texts(searches, seed),
        MARKET.events(max(BATCH, searches // 16), seed, searches),
        None,
    )
    spent = time.perf_counter() - start
    click.echo(f"   invented in {spent:.1f} s; some of them:")
    shown = examples(material.columns, 60)
    some = [shown[at] for at in (0, 1, 2, 7) if at < len(shown)]
    some += [(row["id"], row["expression"]) for row in material.texts.slice(0, 1).to_pylist()]
    for name, text in some:
        click.echo(
            textwrap.indent(textwrap.fill(f"{name}: {text}", 96, subsequent_indent="  "), "   · "[:3] + "  ")
        )
    return material


def _build(material: Material, searches: int) -> Any:
    step("2. All of them become one index")
    say(
        "Most searches come in columns, those with a circle or a polygon on the map as text. On the first "
        "run ever the matching kernels are compiled for this processor, which takes some seconds; later "
        "runs find them in a cache."
    )
    hybrid = EngineSpec.read("hybrid")
    spent, index = seconds(lambda: make_index(material, hybrid, library_build(), merge=False))
    click.echo(f"   {len(index):,} searches indexed in {spent:.1f} s")
    first, _ = seconds(lambda: index.match(next(iter(rows_of(material.events.slice(0, 1))))))
    click.echo(f"   first listing matched after {first:.2f} s (kernels loaded or compiled)")
    return index


def _stream(index: Any, listings: pa.Table, lasting: float, show: Show) -> None:
    step("3. Listings arrive, as fast as they can be matched")
    index.match_many(listings.slice(0, 64))
    pairs = count = 0
    start = time.perf_counter()
    with tqdm(unit=" listings", unit_scale=True, desc="   matching") as bar:
        for batch in index.match_batches(_endless(listings, lasting), batch_size=BATCH):
            pairs, count = pairs + batch.table.num_rows, count + batch.events
            bar.update(batch.events)
    rate = show.rates["all cores"] = count / (time.perf_counter() - start)
    click.echo(
        f"   {count:,} listings against {show.searches:,} searches: {pairs:,} notifications, "
        f"{pairs / count:.1f} a listing;\n   {figure(rate)} listings a second on all cores"
    )


def _endless(listings: pa.Table, lasting: float) -> Iterator[pa.Table]:
    """Batches, over and over, until the time is up."""
    end = time.perf_counter() + lasting
    while True:
        for low in range(0, listings.num_rows, BATCH):
            yield listings.slice(low, BATCH)
            if time.perf_counter() > end:
                return


def _compare(index: Any, material: Material, show: Show) -> None:
    step("4. The same listings, one at a time, against a plain scan of all searches")
    with _waiting("   building the scan, the slow engine that defines what is correct"):
        scan = make_index(material, EngineSpec.read("scan"), library_build(), merge=False)
    listings = material.events
    for name, one, budget, most in (("tamis", index, 4.0, 20_000), ("scan", scan, 6.0, 1_000)):
        with tqdm(total=most, desc=f"   {name:5}", unit=" listings", leave=False) as bar:
            show.latencies[name] = one_at_a_time(one, listings.slice(0, most), budget, bar.update)
    _one_core(index, scan, listings, show)
    _table(show)
    _same(index, scan, listings.slice(0, len(show.latencies["scan"])))


@contextmanager
def _waiting(text: str) -> Iterator[None]:
    start = time.perf_counter()
    click.echo(text, nl=False)
    yield
    click.echo(f" … {time.perf_counter() - start:.1f} s")


def _one_core(index: Any, scan: Any, listings: pa.Table, show: Show) -> None:
    """Batches on one core: a fair race for both."""
    for name, one, count in (("scan, one core", scan, 512), ("one core", index, 8 * BATCH)):
        part = listings.slice(0, count)
        one.match_many(part.slice(0, 16), threads=1)
        spent, _ = seconds(lambda one=one, part=part: one.match_many(part, threads=1))  # type: ignore[misc]
        show.rates[name] = part.num_rows / spent


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
    ours, theirs = (one.match_many(listings).sort_by(order) for one in (index, scan))
    if not ours.equals(theirs):
        raise click.ClickException("the two engines disagree; run: python -m bench run market")
    click.echo(f"   and on {listings.num_rows:,} listings both find the same {ours.num_rows:,} pairs")


def _explain(index: Any, material: Material) -> None:
    step("5. Why did they match?")
    shown: set[str] = set()
    for event in rows_of(material.events):
        found = list(index.match(event))
        if not found or event["category"] in shown:
            continue
        shown.add(event["category"])
        on_map = [name for name in found if name.startswith("map-")]
        _explain_one(index, (on_map or found)[0], event, len(found))
        if len(shown) == 3:
            return


def _explain_one(index: Any, name: str, event: dict[str, Any], found: int) -> None:
    price = event.get("price") or event.get("wage")
    click.echo(
        f"\n   “{event['title']}”, {price:,} €, {event['city']}: {found} searches match, among them {name}"
    )
    for line in str(index.explain(name, event)).splitlines():
        click.echo("      " + (line if len(line) <= 100 else line[:99] + "…"))


def _draw(show: Show, file: Path) -> None:
    step("6. A picture")
    from bench.plot import draw

    file.parent.mkdir(parents=True, exist_ok=True)
    draw(show, file)
    click.echo(f"   {os.path.relpath(file)}")


if __name__ == "__main__":
    demo(prog_name="python -m bench.demo")
