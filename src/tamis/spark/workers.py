"""Checks on the driver that Spark's Python workers can import Tamis, before a job fails on a worker.

A session from :func:`tamis.spark.session` runs this interpreter. A session that the user created runs the
first ``python3`` on the PATH by default, which is another one if the environment is not activated. On one
machine, this interpreter replaces it; on a cluster, a small job checks the workers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tamis.errors import SparkUnavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHOICE, SETTING = "PYSPARK_PYTHON", "spark.pyspark.python"
_SIGNS = ("No module named", "which is not installed", "PYTHON_VERSION_MISMATCH", "Cannot run program")

_checked: set[str] = set()  # sessions whose workers can import Tamis


def ready(spark: SparkSession) -> SparkSession:
    """Return ``spark``, whose workers can import Tamis; raise :class:`SparkUnavailable` if they cannot."""
    context = _context(spark)
    key = str(getattr(context or spark, "applicationId" if context else "session_id", id(spark)))
    if key in _checked:
        return spark
    if context is not None and context.master.startswith("local"):
        if not _is_chosen(context):
            context.pythonExec = sys.executable
        if context.pythonExec == sys.executable:
            _checked.add(key)
            return spark
    _check(spark, "python3" if context is None else str(context.pythonExec))
    _checked.add(key)
    return spark


def _context(spark: SparkSession) -> Any:
    """Return the SparkContext; a session over Connect has none here."""
    from pyspark.errors import PySparkException

    try:
        return spark.sparkContext
    except (AttributeError, PySparkException):
        return None


def _is_chosen(context: Any) -> bool:
    """Return whether the user chose the workers' Python."""
    return CHOICE in os.environ or context.getConf().get(SETTING) is not None


def _check(spark: SparkSession, python: str) -> None:
    from pyspark.errors import PySparkException

    try:
        spark.range(1).mapInArrow(_echo, "id long").collect()
    except PySparkException as bad:
        said = next((line for line in str(bad).splitlines() if any(sign in line for sign in _SIGNS)), None)
        if said is None:
            raise
        raise SparkUnavailable(
            f"Spark's workers run {python}, and Tamis cannot run there: {said.strip()[:300]}; install tamis "
            f"for that Python, or name one that has it before the session starts: {CHOICE}={sys.executable}, "
            f"or {SETTING} with spark-submit; a cluster needs it on every host, or in an archive (--archives)"
        ) from None


def _echo(batches: Iterator[Any]) -> Iterator[Any]:
    """Return the batches; a worker that runs this has imported the module."""
    yield from batches
