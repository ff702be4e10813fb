"""Provide ``python -m bench run``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from bench.options import changed_workload, json_file, known_engines, known_workload, settings
from bench.workloads import Workload

STAGES = 5  # messages per engine: warming up, building, matching, one at a time, on all cores


@click.command("run")
@click.argument("workload", callback=known_workload)
@click.option("--subscriptions", "-n", type=click.IntRange(1), default=1_000_000)
@click.option("--events", "-m", type=click.IntRange(1), default=10_000)
@click.option(
    "--engines",
    "-e",
    default="scan,hybrid",
    callback=known_engines,
    help="Comma-separated; parameters after colons, as in bestar:beta=8.",
)
@click.option("--vary", default=None, metavar="PARAM=V1,V2,…", help="Run once for each of these values.")
@click.option(
    "--set",
    "changes",
    multiple=True,
    callback=settings,
    metavar="PARAM=VALUE",
    help="Set a parameter of the workload; repeatable.",
)
@click.option("--seed", type=click.IntRange(0), default=1)
@click.option("--repeats", type=click.IntRange(1), default=3)
@click.option("--threads", type=click.IntRange(1), default=None, help="Threads of the run on all cores.")
@click.option("--sample", type=click.IntRange(0), default=0, help="Events shown to the builder.")
@click.option(
    "--budget", type=click.FloatRange(0.001), default=3.0, help="Seconds for one pass over the events."
)
@click.option("--time", "minutes", type=click.FloatRange(0), default=None, help="Minutes for the whole run.")
@click.option("--memory", type=click.FloatRange(0.1), default=None, help="GB of memory that the run may use.")
@json_file()
def run_command(
    workload: Workload,
    vary: str | None,
    changes: dict[str, str],
    threads: int | None,
    budget: float,
    minutes: float | None,
    memory: float | None,
    file: Path | None,
    **sizes: Any,
) -> None:
    """Build and match WORKLOAD with each engine; all must find the same pairs.

    An engine that is too slow for the budget is timed on fewer events. A run that would not fit into memory
    is refused before it starts. `python -m bench describe WORKLOAD` lists the parameters.
    """
    from bench.run import Plan, summary

    if threads:
        sizes["threads"] = threads
    plan = Plan(changed_workload(workload, changes), budget_s=budget, **sizes)
    deadline = time.monotonic() + 60 * minutes if minutes is not None else None
    outcome = _carried_out(plan, vary, deadline, memory and memory * 1e9, file)
    click.echo(summary(outcome))
    if file:
        from bench.report import write_json

        write_json(outcome, file)


def _carried_out(
    plan: Any, vary_text: str | None, deadline: float | None, budget: float | None, file: Path | None
) -> dict[str, Any]:
    from bench.run import Disagreement, memory, run, vary

    parameter, values = _values(vary_text) if vary_text else ("", [""])
    try:
        with bar(len(values) * (1 + STAGES * len(plan.engines))) as say:
            if parameter:
                return vary(plan, parameter, values, say=say, deadline=deadline, budget=budget)
            memory.insist(plan, budget)
            return run(plan, say=say, deadline=deadline)
    except memory.TooLarge as large:
        raise click.ClickException(str(large)) from None
    except ValueError as wrong:
        raise click.BadParameter(str(wrong)) from None
    except Disagreement as different:
        place = written_case(different, file)
        raise click.ClickException(f"the engines disagree: {different}\nthe case is in {place}") from None


def _values(text: str) -> tuple[str, list[str]]:
    name, sign, values = text.partition("=")
    found = [value.strip() for value in values.split(",") if value.strip()]
    if not sign or not name.strip() or not found:
        raise click.BadParameter(f"--vary takes PARAM=V1,V2,…, not {text!r}")
    return name.strip(), found


@contextmanager
def bar(total: int) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on stderr; call the yielded function with the name of each new step."""
    from tqdm import tqdm

    with tqdm(total=total, unit="step", dynamic_ncols=True, leave=False) as shown:

        def say(text: str) -> None:
            shown.update(1)
            shown.set_description_str(text)

        yield say


def written_case(different: Any, file: Path | None) -> Path:
    """Return the path to which the case of a disagreement was written: beside the report, or in results."""
    from bench.report import RESULTS, write_json

    place = file.with_suffix(".disagreement.json") if file else RESULTS / "disagreement.json"
    write_json(different.case.as_dict(), place)
    return place
