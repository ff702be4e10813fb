"""A tour of Tamis on embedded data: subscriptions, events, matches, reasons, mistakes, speed."""

from __future__ import annotations

import time
from typing import Any

import click

SEARCHES = {
    "ann": "model = 'iphone5s' AND color IN ('silver', 'gold') AND price <= 580",
    "bob": "title HAS ALL ('wool', 'coat') AND NOT size IN ('XS', 'S')",
    "eve": "place WITHIN 5 KM OF POINT (9.52 47.14) AND rooms >= 3",
    "ops": "path RLIKE '^/admin/' AND NOT ip IN CIDR ('10.0.0.0/8')",
}
EVENTS: list[dict[str, Any]] = [
    {"model": "iphone5s", "color": "gold", "price": 550},
    {"title": "Heavy wool coat, as new", "size": "M", "price": 80},
    {"place": {"$point": [9.53, 47.15]}, "rooms": 3, "price": 1900},
    {"path": "/admin/keys", "ip": "203.0.113.7"},
    {"model": "iphone5s", "color": "black", "price": 400},
]
BOOK, STREAM = 20_000, 2_000
CITIES = ("Oslo", "Rome", "Bern", "Riga", "Lyon", "Cork", "Graz", "Nice")


def _title(text: str) -> None:
    click.secho(f"\n{text}", bold=True)


def tour() -> None:
    """Show what Tamis does, with its own words and numbers of this machine."""
    import tamis

    click.echo(f"Tamis {tamis.__version__}: streams of events through standing queries")
    _title("Four people save a search:")
    for name, expression in SEARCHES.items():
        click.echo(f"  {name}  {expression}")
    index = tamis.Index.build(SEARCHES)
    click.echo("\n(compiling kernels; only the first match on a machine waits for this)", err=True)
    index.match({})

    _title("Events stream in, and each meets the searches that it satisfies:")
    for event in EVENTS:
        found = ", ".join(index.match(event)) or "–"
        click.echo(f"  {found:5} ← {event}")

    _title("Why not ann, for the last one?")
    click.echo(str(index.explain("ann", EVENTS[-1])))

    _title("A mistake is refused, with its place and a remedy:")
    try:
        tamis.parse("price <= 580 && title contains 'coat'")
    except tamis.errors.ParseError as bad:
        click.echo(f"  {bad}")

    _title(f"{BOOK:,} searches, {STREAM:,} listings:")
    _race()
    _title("Next")
    click.echo("  tamis --help         the command line")
    click.echo("  docs/start.md        two minutes with the library")
    click.echo("  make demo            in a clone: service, console, a Spark stream, notifications")


def _race() -> None:
    """Match a book with an index and with a loop over all searches, and compare the answers."""
    import tamis
    from tamis.expression.truth import matches
    from tamis.values.event import event_from

    book = {f"s{at}": _search(at) for at in range(BOOK)}
    listings = [
        {"city": CITIES[at * 7 % 8], "price": at * 37 % 1000, "rooms": at * 3 % 5} for at in range(STREAM)
    ]
    started = time.perf_counter()
    index = tamis.Index.build(book)
    built = time.perf_counter()
    index.match_many(listings[:10], threads=1)
    began = time.perf_counter()
    found = index.match_many(listings, threads=1)
    ended = time.perf_counter()
    trees = [tamis.parse(text) for text in book.values()]
    few = [event_from(one) for one in listings[:3]]
    looped = time.perf_counter()
    plain = sum(matches(tree, event) for event in few for tree in trees)
    took = (time.perf_counter() - looped) / len(few)
    rate, slow = STREAM / (ended - began), 1 / took
    assert plain == sum(len(index.match(one)) for one in listings[:3])
    click.echo(f"  built in {built - started:.1f} s; {found.num_rows:,} matches")
    click.echo(f"  with the index      {rate:>12,.0f} listings a second")
    click.echo(f"  one rule at a time  {slow:>12,.0f} listings a second")
    click.echo(f"  the index is {rate / slow:,.0f} times as fast, with the same answers")


def _search(at: int) -> str:
    low = at % 900
    return f"city = '{CITIES[at % 8]}' AND price BETWEEN {low} AND {low + 20} AND rooms = {at % 5}"
