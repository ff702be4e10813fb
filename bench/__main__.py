"""Provide ``python -m bench``: runs, comparisons, the suite, rankings, the k best, descriptions."""

from __future__ import annotations

from pathlib import Path

import click

from bench.changes.cli import changes_command
from bench.figures.cli import figures_command
from bench.gpu.cli import gpu_command
from bench.options import json_file, known_engines, known_workload
from bench.peers.cli import peers_command
from bench.run.cli import run_command
from bench.scaling.cli import scaling_command
from bench.service.cli import service_command
from bench.spark.cli import spark_command
from bench.text.cli import text_command
from bench.workloads import WORKLOADS, Workload
from bench.workloads.cli import generate_command

REPORT = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
def main() -> None:
    """Measure Tamis on generated workloads."""


main.add_command(run_command)
main.add_command(changes_command)
main.add_command(figures_command)
main.add_command(gpu_command)
main.add_command(peers_command)
main.add_command(scaling_command)
main.add_command(service_command)
main.add_command(spark_command)
main.add_command(text_command)
main.add_command(generate_command)


@main.command("compare")
@click.argument("before", type=REPORT)
@click.argument("after", type=REPORT)
def compare_command(before: Path, after: Path) -> None:
    """Compare every figure of two reports: better, worse, or noise."""
    from bench.compare import as_text
    from bench.report import read_json

    try:
        click.echo(as_text(read_json(before), read_json(after)))
    except ValueError as wrong:
        raise click.ClickException(str(wrong)) from None


@main.command("suite")
@click.option("--quick", is_flag=True, help="Use a hundredth of the size, as a smoke test.")
@json_file("Write the report here, and compare with the one that stands there.")
def suite_command(quick: bool, file: Path | None) -> None:
    """Measure every figure that has a target in ten minutes, and compare with the last run."""
    from bench.compare import as_text
    from bench.report import read_json, write_json
    from bench.suite import LATEST, suite, suite_summary

    place = file or (LATEST.with_stem("suite-quick") if quick else LATEST)
    outcome = suite(quick=quick)
    click.echo(suite_summary(outcome))
    before, known = place.with_stem(f"{place.stem}-before"), place.exists()
    if known:
        place.replace(before)
    write_json(outcome, place)  # write first: a failing comparison must not cost ten minutes
    if known:
        try:
            click.echo(f"\ncompared with the last time ({before})\n{as_text(read_json(before), outcome)}")
        except (ValueError, KeyError) as wrong:
            raise click.ClickException(f"{before} cannot be compared with: {wrong}") from None


@main.command("ranking")
@click.option("--workloads", "-w", default="", help="Comma-separated; all if empty.")
@click.option("--engines", "-e", default="", help="Comma-separated; all if empty.")
@click.option(
    "--scale", type=click.IntRange(1), default=1, help="Divide the number of subscriptions by this."
)
@click.option("--events", "-m", type=click.IntRange(16), default=2_000)
@click.option("--sample", type=click.IntRange(0), default=2_000, help="Events shown to the builder.")
@json_file()
def ranking_command(
    workloads: str, engines: str, scale: int, events: int, sample: int, file: Path | None
) -> None:
    """Rank all engines on all workloads, and check whether the papers' rankings hold."""
    from bench import ranking

    context, parameter = click.get_current_context(), click.Option(["-e"])
    chosen = known_engines(context, parameter, engines) if engines else ranking.all_engines()
    names = tuple(name.strip() for name in workloads.split(",") if name.strip()) or tuple(WORKLOADS)
    for name in names:
        known_workload(context, parameter, name)
    rows = ranking.rank(names, chosen, scale, events, sample)
    click.echo(ranking.as_table(rows, lambda row: row.us))
    click.echo("\n" + ranking.judged(rows))
    ranking.write(rows, file or ranking.LATEST)


@main.command("top")
@click.option("--engines", "-e", default="hybrid", callback=known_engines, help="Comma-separated.")
@click.option("--subscriptions", "-n", type=click.IntRange(1), default=300_000)
@click.option("--events", "-m", type=click.IntRange(16), default=200)
@click.option("--seed", type=click.IntRange(0), default=1)
@json_file()
def top_command(
    engines: tuple[str, ...], subscriptions: int, events: int, seed: int, file: Path | None
) -> None:
    """Measure the k best matches against finding all, for Zipf, uniform and equal weights."""
    from bench import report, top

    rows = top.measure(subscriptions, events, engines, seed)
    click.echo(top.as_table(rows))
    body = {"subscriptions": subscriptions, "rows": [row._asdict() for row in rows]}
    about = {"machine": report.machine(), "versions": report.versions(), "commit": report.commit()}
    report.write_json(body | about, file or top.LATEST)


@main.command("describe")
@click.argument("workload", callback=known_workload)
@click.option("--subscriptions", "-n", type=click.IntRange(1), default=100_000)
@click.option("--events", "-m", type=click.IntRange(1), default=50)
@click.option("--seed", type=click.IntRange(0), default=1)
def describe_command(workload: Workload, subscriptions: int, events: int, seed: int) -> None:
    """Show a few subscriptions and events of WORKLOAD, and how often they match."""
    from bench.describe import describe

    for line in describe(workload, subscriptions, events, seed):
        click.echo(line)


if __name__ == "__main__":
    main(prog_name="python -m bench")
