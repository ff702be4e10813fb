"""Run ``tamis serve`` as a separate process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import click

START = "from tamis.cli import main; main()"
PATIENCE = 120  # seconds for an orderly end


class Served(NamedTuple):
    """A running service."""

    pid: int
    address: str
    first_key: str  # empty unless this was the first start


@contextmanager
def served(folder: Path, options: Sequence[str]) -> Iterator[Served]:
    """Run the service of a folder on a free port, until the end of the block."""
    is_first = not (folder / "tamis.db").exists()
    command = [sys.executable, "-c", START, "serve", "--data", str(folder), "--port", "0"]
    process = subprocess.Popen(
        [*command, "--log-level", "error", *options], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        said = process.stdout.readline()
        if not said:
            raise click.ClickException("the service did not start; see above")
        key = process.stdout.readline().split()[-1] if is_first else ""
        yield Served(process.pid, said.split("/ ")[0].split()[-1], key)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()
