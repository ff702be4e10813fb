"""``python -m bench``: ``run`` a workload, the ``suite``, the ``ranking``, or ``describe`` a workload."""

from __future__ import annotations

from pathlib import Path

import click

from bench.workloads import WORKLOADS, Workload


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
def main() -> None:
    """Measure Tamis on generated workloads."""


def known_workload(_context: click.Context, _parameter: click.Parameter, name: str) -> Workload:
    """The workload called ``name``; the error lists those there are."""
    if name not in WORKLOADS:
        raise click.BadParameter(f"{name!r} is not one of {', '.join(WORKLOADS)}")
    return WORKLOADS[name]


def known_engines(_context: click.Context, _parameter: click.Parameter, names: str) -> tuple[str, ...]:
    """The engines in a comma-separated list; the error lists those there are."""
    from bench.engines import engine_names

    chosen = tuple(name.strip() for name in names.split(",") if name.strip())
    for name in chosen:
        if name not in engine_names():
            raise click.BadParameter(f"{name!r} is not one of {', '.join(engine_names())}")
    if not chosen:
        raise click.BadParameter(f"name at least one of {', '.join(engine_names())}")
    return chosen


@main.command("run")
@click.argument("workload", callback=known_workload)
@click.option("--subscriptions", "-n", type=click.IntRange(1), default=1_000_000)
@click.option("--events", "-m", type=click.IntRange(1), default=10_000)
@click.option("--engines", "-e", default="scan,hybrid", callback=known_engines, help="Comma-separated.")
@click.option("--seed", type=click.IntRange(0), default=1)
@click.option("--repeats", type=click.IntRange(1), default=3)
@click.option("--threads", type=click.IntRange(1), default=1)
@click.option(
    "--sample", type=click.IntRange(0), default=0, help="Events shown to the builder for statistics."
)
@click.option(
    "--json", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write the report here."
)
def run_command(
    workload: Workload,
    subscriptions: int,
    events: int,
    engines: tuple[str, ...],
    seed: int,
    repeats: int,
    threads: int,
    sample: int,
    file: Path | None,
) -> None:
    """Build and match WORKLOAD with each engine; all must find the same pairs."""
    from bench.report import write_json
    from bench.run import Disagreement, Plan, run, summary

    plan = Plan(workload, subscriptions, events, engines, seed, repeats, threads, sample)
    try:
        outcome = run(plan)
    except Disagreement as different:
        raise click.ClickException(f"the engines disagree: {different}") from None
    click.echo(summary(outcome))
    if file:
        write_json(outcome, file)


@main.command("suite")
@click.option("--quick", is_flag=True, help="A hundredth of the size, to see that it works.")
@click.option(
    "--json", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write the report here."
)
def suite_command(quick: bool, file: Path | None) -> None:
    """Everything that has a target: both W4 books, parsing, bulk columns, start-up."""
    from bench.report import write_json
    from bench.suite import LATEST, suite, suite_summary

    outcome = suite(quick=quick)
    click.echo(suite_summary(outcome))
    write_json(outcome, file or LATEST)


@main.command("ranking")
@click.option("--workloads", "-w", default="", help="Comma-separated; all of them unless given.")
@click.option("--engines", "-e", default="", help="Comma-separated; all of them unless given.")
@click.option("--scale", type=click.IntRange(1), default=1, help="Use so many times fewer subscriptions.")
@click.option("--events", "-m", type=click.IntRange(16), default=2_000)
@click.option("--sample", type=click.IntRange(0), default=2_000, help="Events shown to the builder.")
@click.option(
    "--json", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write the report here."
)
def ranking_command(
    workloads: str, engines: str, scale: int, events: int, sample: int, file: Path | None
) -> None:
    """All engines on all workloads: which is first where, and whether the papers' rankings hold."""
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
