"""The ``tamis`` command: reads files and pipes, writes results to stdout and progress to stderr.

Exit status: 0 for success, 1 for a Tamis error (one message with its code on stderr), 2 for wrong usage. The
modules that a command needs are imported when it runs, so that help is quick.
"""

from __future__ import annotations

import click

from tamis.cli.backtest import backtest
from tamis.cli.build import build
from tamis.cli.check import check, info
from tamis.cli.config import PREFIX, config, config_option
from tamis.cli.export import export
from tamis.cli.import_ import import_
from tamis.cli.keys import keys
from tamis.cli.match import match
from tamis.cli.notify import notify
from tamis.cli.query import explain, top
from tamis.cli.serve import serve
from tamis.cli.spark import spark
from tamis.cli.suggest import suggest
from tamis.cli.support import TamisGroup
from tamis.version import __version__


@click.group(
    cls=TamisGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "auto_envvar_prefix": PREFIX,
    },
)
@config_option
@click.version_option(__version__, prog_name="tamis")
def main() -> None:
    """Match events against standing Boolean expressions."""


for _command in (
    build,
    import_,
    export,
    match,
    top,
    explain,
    backtest,
    suggest,
    check,
    info,
    spark,
    serve,
    notify,
    keys,
    config,
):
    main.add_command(_command)
