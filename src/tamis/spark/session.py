"""The one place where a SparkSession is made."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tamis.spark import settings
from tamis.spark.java import provide_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger(__name__)


def session(
    master: str | None = None, name: str = "tamis", conf: Mapping[str, str] | None = None
) -> SparkSession:
    """Return the active session, or a new one with settings that suit Tamis.

    ``master`` is ``local[*]`` unless it is given here, by SPARK_REMOTE, or by Spark's own configuration;
    ``sc://host`` connects to a Spark Connect server. ``conf`` goes before Spark's configuration, and that
    before what Tamis would set. A session that is active already is returned as it is.
    """
    wanted = {key: str(value) for key, value in (conf or {}).items()}
    active = active_session()
    if active is not None:
        _say_what_differs(active, master, wanted)
        return active
    return _started(master, name, wanted)


def active_session() -> SparkSession | None:
    """Return the session that runs in this process already."""
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _started(master: str | None, name: str, wanted: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    known = {"spark.app.name": name} | settings.given() | wanted
    address = master or _address(known)
    if not address.startswith("sc://") and not settings.submitted():
        provide_java()
    _name_interpreters(known)
    if master is not None and "SPARK_REMOTE" in os.environ:  # PySpark would go there all the same
        del os.environ["SPARK_REMOTE"]
        _log.info("the master %s goes before SPARK_REMOTE", master)
    key = "spark.remote" if _is_remote(address, master, known) else "spark.master"
    options: dict[str, Any] = settings.defaults(address) | known | {key: address}
    options.pop("spark.master" if key == "spark.remote" else "spark.remote", None)
    if key == "spark.remote":
        options = {name: value for name, value in options.items() if _may_be_sent(name, address)}
    _log.debug("starting Spark on %s: %s", address, options)
    with warnings.catch_warnings():
        # A Connect server that is started here has them all; PySpark then sends them once more, in vain.
        warnings.filterwarnings("ignore", "Failed to set spark", UserWarning)
        return SparkSession.builder.config(map=options).getOrCreate()


def _address(known: Mapping[str, str]) -> str:
    remote = known.get("spark.remote") or os.environ.get("SPARK_REMOTE")
    return remote or known.get("spark.master") or os.environ.get("MASTER") or "local[*]"


def _is_remote(address: str, master: str | None, known: Mapping[str, str]) -> bool:
    """Return whether to speak Spark Connect: to a server, or, as SPARK_REMOTE=local does, to one started
    here."""
    asked = known.get("spark.remote") or os.environ.get("SPARK_REMOTE")
    return address.startswith("sc://") or (master is None and asked is not None)


def _may_be_sent(key: str, address: str) -> bool:
    """Return a Connect server that runs already takes settings of SQL only."""
    return not address.startswith("sc://") or key == "spark.remote" or key.startswith("spark.sql.")


def _name_interpreters(known: Mapping[str, str]) -> None:
    """Workers run this interpreter, not whatever python3 is first on the PATH."""
    chosen = known.get("spark.pyspark.python", sys.executable)
    os.environ.setdefault("PYSPARK_PYTHON", chosen)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", known.get("spark.pyspark.driver.python", sys.executable))


def _say_what_differs(active: SparkSession, master: str | None, wanted: Mapping[str, str]) -> None:
    asked = dict(wanted) | ({"spark.master": master} if master else {})
    kept = {key: active.conf.get(key, None) for key in asked}
    for key, value in asked.items():
        if kept[key] != value:
            _log.warning("the active Spark session is kept: %s is %s, not %s", key, kept[key], value)
