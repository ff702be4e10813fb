"""The settings that Tamis gives to a session, and those that the user has already set."""

from __future__ import annotations

import os
import re
import shlex
from itertools import pairwise
from pathlib import Path

_GIB = 1 << 30
_PROPERTY = re.compile(
    r"^[ \t]*([^\s#=:]+)(?:[ \t]*[=:]|[ \t])[ \t]*(.*)$", re.MULTILINE
)  # key value, or key = value

# For every session, also on a Connect server: these may change while it runs.
SQL = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",  # a third faster than the default of 10,000
    "spark.sql.python.filterPushdown.enabled": "true",
}
# With these, a micro-batch spends 25 ms instead of 140 ms on its logs.
_STREAMS = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
}
_CONTEXT = {
    "spark.python.daemon.module": "tamis.spark.daemon",
    "spark.ui.showConsoleProgress": "false",
}


def defaults(master: str) -> dict[str, str]:
    """Return the default settings of a session on ``master``."""
    if master.startswith("sc://"):
        return dict(SQL)
    return SQL | _STREAMS | _CONTEXT | (_local() if master.startswith("local") else {})


def _local() -> dict[str, str]:
    """Return the settings for one machine: no port is open to others, and the driver is the executor."""
    quiet = Path(__file__).with_name("log4j2.properties")
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.driver.memory": f"{_driver_gib()}g",
        # Spark prints plans with regular expressions that overflow the usual stack when a query is stopped.
        "spark.driver.extraJavaOptions": f"-Xss8m -Dlog4j2.configurationFile={quiet.as_uri()}",
    }


def _driver_gib() -> int:
    """Return a quarter of the memory: Python workers map indexes outside Java's heap."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(8, max(1, memory // 4 // _GIB))


def user_settings() -> dict[str, str]:
    """Return the settings in spark-defaults.conf, PYSPARK_SUBMIT_ARGS and spark-submit."""
    return _defaults_file() | _submit_arguments() | _submitted()


def _defaults_file() -> dict[str, str]:
    folder = os.environ.get("SPARK_CONF_DIR") or os.path.join(os.environ.get("SPARK_HOME", ""), "conf")
    try:
        text = (Path(folder) / "spark-defaults.conf").read_text(encoding="utf-8")
    except OSError:
        return {}
    return {key: value.strip() for key, value in _PROPERTY.findall(text)}


def _submit_arguments() -> dict[str, str]:
    """Return the settings in PYSPARK_SUBMIT_ARGS, which a notebook's kernel often has."""
    words = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    words = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    found: dict[str, str] = {}
    for flag, value in pairwise(words):
        if flag in ("--conf", "-c"):
            key, _, setting = value.partition("=")
            found[key] = setting
        elif flag in _FLAGS:
            found[_FLAGS[flag]] = value
    return found


_FLAGS = {
    "--master": "spark.master",
    "--remote": "spark.remote",
    "--name": "spark.app.name",
    "--driver-memory": "spark.driver.memory",
    "--driver-java-options": "spark.driver.extraJavaOptions",
}


def submitted() -> bool:
    """Return whether spark-submit started this process and its Java."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _submitted() -> dict[str, str]:
    """Return the settings of spark-submit, which only its Java knows."""
    if not submitted():
        return {}
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())
