"""Provide ``python -m bench peers``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench import report
from bench.options import chosen, json_file

if TYPE_CHECKING:
    from bench.peers.contest import Contest, Row
    from bench.peers.known import Known

LATEST = report.RESULTS / "peers.json"


def _mixes(_context: click.Context, _parameter: click.Parameter, names: str) -> list[Any]:
    from bench.workloads.mix import MIXES

    return chosen(names, MIXES)


def _peers(_context: click.Context, _parameter: click.Parameter, names: str) -> list[Any]:
    from bench.peers.known import PEERS

    return chosen(names, PEERS)


@click.command("peers")
@click.option("--mixes", default="equal,mixed,ranges", callback=_mixes, help="Comma-separated.")
@click.option("--subscriptions", "-n", type=click.IntRange(1), default=100_000)
@click.option("--events", "-m", type=click.IntRange(1), default=2_000)
@click.option("--peers", default="", callback=_peers, help="Comma-separated; all if empty.")
@click.option(
    "--budget",
    type=click.FloatRange(0.1),
    default=20.0,
    help="Seconds of matching per peer and mix; building may take four times as long.",
)
@click.option("--seed", type=click.IntRange(0), default=1)
@json_file("Write the report here instead of bench/results/peers.json.")
def peers_command(
    mixes: list[Any],
    subscriptions: int,
    events: int,
    peers: list[Known],
    budget: float,
    seed: int,
    file: Path | None,
) -> None:
    """Run the alternatives to Tamis: the same work in the same run, answers compared.

    Peers that are not installed, or whose tools (Maven, cargo) are missing, get a row that says so.
    bench/peers/README.md describes how each peer is driven, and what each timing includes.
    """
    from bench.peers import judge

    rows = [row for mix in mixes for row in _contest(mix, subscriptions, events, peers, budget, seed)]
    for mix in mixes:
        click.echo(f"\n{mix.name}: {subscriptions:,} subscriptions, {mix.about}")
        click.echo(judge.table(row for row in rows if row.mix == mix.name))
    verdicts = judge.verdicts(rows, subscriptions)
    click.echo("\n" + "\n".join(map(judge.sentence, verdicts)))
    plan = {"subscriptions": subscriptions, "events": events, "budget_s": budget, "seed": seed}
    report.write_json(_report(plan, rows, verdicts), file or LATEST)
    wrong = [f"{row.mix}: {row.difference}" for row in rows if row.difference]
    if wrong:
        raise click.ClickException("answers differ:\n" + "\n".join(wrong))


def _contest(
    mix: Any, subscriptions: int, events: int, peers: list[Known], budget: float, seed: int
) -> list[Row]:
    import tempfile

    from tqdm import tqdm

    from bench.peers import common_file
    from bench.peers.contest import Contest

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "common"
        common_file.write(mix, subscriptions, events, seed, file)
        contest = Contest(mix.name, file, subscriptions, budget)
        rows = []
        with tqdm(total=len(peers) + 2, desc=mix.name, unit="peer") as bar:
            for batch in (False, True):
                bar.set_postfix_str("tamis")
                rows.append(_tamis_row(contest, batch))
                bar.update()
            for peer in peers:
                bar.set_postfix_str(peer.name)
                rows.append(contest.row(peer))
                bar.update()
        return rows


def _tamis_row(contest: Contest, batch: bool) -> Row:
    """Return the row of Tamis; if it fails, the command fails, because there is nothing to compare with."""
    from bench.peers.protocol import Failed

    try:
        return contest.tamis_row(batch=batch)
    except Failed as why:
        raise click.ClickException(f"tamis itself failed: {why}") from None


def _report(plan: dict[str, Any], rows: list[Row], verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "parameters": plan,
        "results": [asdict(row) | {"ratio": row.ratio} for row in rows],
        "verdicts": verdicts,
        "machine": report.machine(),
        "versions": report.versions(),
        "commit": report.commit(),
    }
