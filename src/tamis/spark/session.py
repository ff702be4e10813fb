"""Creates SparkSessions; no other module does."""

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
    """Return the active session, or a new one with settings for Tamis.

    ``master`` is ``local[*]`` unless it is given here, by SPARK_REMOTE, or by Spark's own configuration;
    ``sc://host`` connects to a Spark Connect server. ``conf`` overrides Spark's configuration, which
    overrides the defaults of Tamis. An active session is returned unchanged.
    """
    wanted = {key: str(value) for key, value in (conf or {}).items()}
    active = active_session()
    if active is not None:
        _warn_of_differences(active, master, wanted)
        return active
    return _started(master, name, wanted)


def active_session() -> SparkSession | None:
    """Return the session that already runs in this process, or ``None``."""
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _started(master: str | None, name: str, wanted: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    known = {"spark.app.name": name} | settings.user_settings() | wanted
    address = master or _address(known)
    if not address.startswith("sc://") and not settings.submitted():
        provide_java()
    _name_interpreters(known)
    if master is not None and "SPARK_REMOTE" in os.environ:  # PySpark would connect there in any case
        del os.environ["SPARK_REMOTE"]
        _log.info("the master %s goes before SPARK_REMOTE", master)
    key = "spark.remote" if _is_remote(address, master, known) else "spark.master"
    options: dict[str, Any] = settings.defaults(address) | known | {key: address}
    options.pop("spark.master" if key == "spark.remote" else "spark.remote", None)
    if key == "spark.remote":
        options = {name: value for name, value in options.items() if _may_be_sent(name, address)}
    _log.debug("starting Spark on %s: %s", address, options)
    with warnings.catch_warnings():
        # A Connect server started here has all settings; PySpark would try in vain to send them again.
        warnings.filterwarnings("ignore", "Failed to set spark", UserWarning)
        return SparkSession.builder.config(map=options).getOrCreate()


def _address(known: Mapping[str, str]) -> str:
    remote = known.get("spark.remote") or os.environ.get("SPARK_REMOTE")
    return remote or known.get("spark.master") or os.environ.get("MASTER") or "local[*]"


def _is_remote(address: str, master: str | None, known: Mapping[str, str]) -> bool:
    """Return whether to use Spark Connect: a server, or one started here, as SPARK_REMOTE=local does."""
    asked = known.get("spark.remote") or os.environ.get("SPARK_REMOTE")
    return address.startswith("sc://") or (master is None and asked is not None)


def _may_be_sent(key: str, address: str) -> bool:
    """Return whether a setting may be sent: a running Connect server accepts only those of SQL."""
    return not address.startswith("sc://") or key == "spark.remote" or key.startswith("spark.sql.")


def _name_interpreters(known: Mapping[str, str]) -> None:
    """Make workers use this interpreter, not the first python3 on the PATH."""
    chosen = known.get("spark.pyspark.python", sys.executable)
    os.environ.setdefault("PYSPARK_PYTHON", chosen)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", known.get("spark.pyspark.driver.python", sys.executable))


def _warn_of_differences(active: SparkSession, master: str | None, wanted: Mapping[str, str]) -> None:
    asked = dict(wanted) | ({"spark.master": master} if master else {})
    kept = {key: active.conf.get(key, None) for key in asked}
    for key, value in asked.items():
        if kept[key] != value:
            _log.warning("the active Spark session is kept: %s is %s, not %s", key, kept[key], value)
