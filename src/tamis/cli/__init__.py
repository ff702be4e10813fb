"""The ``tamis`` command: reads files and pipes, writes results to stdout and progress to stderr."""

from __future__ import annotations

import click

from tamis import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tamis")
def main() -> None:
    """Match events against standing Boolean expressions."""
