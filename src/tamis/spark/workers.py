"""Whether Spark's Python workers can import Tamis: found out on the driver, before a job fails on a worker.

A session that :func:`tamis.spark.session` made runs this interpreter. A session that the user made runs the
first ``python3`` of the PATH unless told otherwise, which in an environment that is not activated is another
one. On one machine this interpreter takes its place; elsewhere one small job asks the workers.
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

_asked: set[str] = set()  # sessions whose workers are known to have it


def ready(spark: SparkSession) -> SparkSession:
    """Return ``spark``, whose workers can import Tamis; raise :class:`SparkUnavailable` if they cannot."""
    context = _context(spark)
    key = str(getattr(context or spark, "applicationId" if context else "session_id", id(spark)))
    if key in _asked:
        return spark
    if context is not None and context.master.startswith("local"):
        if not _is_chosen(context):
            context.pythonExec = sys.executable
        if context.pythonExec == sys.executable:
            _asked.add(key)
            return spark
    _ask(spark, "python3" if context is None else str(context.pythonExec))
    _asked.add(key)
    return spark


def _context(spark: SparkSession) -> Any:
    """Return the SparkContext; a session over Connect has none here."""
    from pyspark.errors import PySparkException

    try:
        return spark.sparkContext
    except (AttributeError, PySparkException):
        return None


def _is_chosen(context: Any) -> bool:
    """Return whether the user said which Python the workers run."""
    return CHOICE in os.environ or context.getConf().get(SETTING) is not None


def _ask(spark: SparkSession, python: str) -> None:
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
    """Run on a worker, which has to import this module for it."""
    yield from batches
