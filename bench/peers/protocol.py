"""Run one peer in its own process: arguments in, one line of JSON and a file of answers out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers.programs import first_error
from bench.report import ROOT

PATIENCE_S = 120.0
"""Seconds that a process may take beyond its budgets, to start and to read the common file."""

PATIENCE_BUDGETS = 10.0
"""Four for building, one and a quarter for matching, and as much again for work that cannot be cut short."""

Answers = list[list[int]]
"""The ids of the subscriptions of each event, sorted."""


class Failed(Exception):
    """A peer that died, hung or printed nonsense, and the reason."""


@dataclass(frozen=True)
class Done:
    """The measurements and answers of a peer."""

    figures: dict[str, Any]
    answers: Answers

    @property
    def subscriptions(self) -> int:
        """The number of subscriptions it took; fewer than offered if building them took too long."""
        return int(self.figures["subscriptions"])

    @property
    def us(self) -> float:
        """Microseconds per event, the mean of all passes."""
        return float(self.figures["us_per_event"])


def run(command: list[str], file: Path, subscriptions: int, budget_s: float) -> Done:
    """Run the program at ``command``; raise :class:`Failed` if it brings no answers."""
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers"
        arguments = [str(file), str(answers), str(subscriptions), str(budget_s)]
        line = _said([*command, *arguments], PATIENCE_S + PATIENCE_BUDGETS * budget_s)
        try:
            figures = json.loads(line)
            found = [list(map(int, row.split())) for row in answers.read_text(encoding="ascii").splitlines()]
            complete = len(found) == figures["events"] > 0 and figures["us_per_event"] > 0
        except (OSError, ValueError, KeyError, TypeError):
            raise Failed(f"it answered {line[:80]!r}") from None
    if not complete:
        raise Failed(f"it promised answers to {figures['events']} events and gave {len(found)}")
    return Done(figures, found)


def _said(command: list[str], timeout_s: float) -> str:
    """Return the last line that the program printed."""
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        out, errors = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        _stop(process)
        raise Failed(f"no answer in {timeout_s:.0f} s") from None
    except BaseException:
        _stop(process)
        raise
    if process.returncode:
        raise Failed(reason(process.returncode, errors))
    return (out.strip().splitlines() or [""])[-1]


def _stop(process: subprocess.Popen[str]) -> None:
    """End the process and all processes that it has started, such as the JVM of Spark."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def reason(code: int, errors: str) -> str:
    """Return the reason why a program ended with ``code``, in a few words."""
    if "OutOfMemoryError" in errors or "MemoryError" in errors:
        return "out of memory"
    if code < 0:
        return f"killed by signal {-code}"
    lines = [line for line in errors.splitlines() if line.strip()]
    python_said = lines[-1] if lines and "Traceback" in errors else ""
    return python_said or first_error(errors)
