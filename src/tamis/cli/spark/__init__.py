"""``tamis spark``: runs the pipeline from a shell, on one machine or on a cluster.

Help needs neither PySpark nor Java: a command looks for both when it runs.
"""

from __future__ import annotations

import click

from tamis.cli.spark.build import build
from tamis.cli.spark.digest import digest
from tamis.cli.spark.generate import generate
from tamis.cli.spark.match import match
from tamis.cli.spark.profile import profile
from tamis.cli.spark.stream import stream
from tamis.cli.spark.submit import submit_example


@click.group(short_help="Run the pipeline on Apache Spark.")
def spark() -> None:
    """Profile, build, match and stream on Apache Spark.

    Runs on this machine unless --master, SPARK_REMOTE or Spark's own configuration says otherwise.
    """


for _command in (generate, profile, build, match, stream, digest, submit_example):
    spark.add_command(_command)
