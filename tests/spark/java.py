"""How the tests run Java.

``python -m tests.spark.java`` writes an archive of the classes that Spark loads. Java maps the archive and
verifies no class again, so a session starts in half the processor time. The tests start a dozen processes of
Java. Without the archive, or with another Java, they run without it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# Each plan runs once or twice, so the second compiler and parallel collectors would cost more than they give.
PLAIN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SILENT = "-Xlog:cds=off -Xlog:cds+dynamic=off"  # an archive that does not fit is no news
ROOT = Path(__file__).resolve().parents[2]


def _archive() -> Path:
    """Return the place of the archive; PySpark is not imported, because all tests import this module."""
    found = find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    jars = Path(found.origin).parent / "jars"
    return ROOT / "build" / "java" / f"spark-{version('pyspark')}-{jars.stat().st_mtime_ns}.jsa"


ARCHIVE = _archive()

JAVA_OPTIONS = f"{PLAIN} {SILENT} -XX:SharedArchiveFile={ARCHIVE}" if ARCHIVE.exists() else PLAIN


def main() -> None:
    """Run a table and a stream through Spark, and archive their classes unless that is already done."""
    from tamis.spark import session

    if ARCHIVE.exists():
        return
    ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    new = ARCHIVE.with_suffix(f".{os.getpid()}")
    options = f"{PLAIN} {SILENT} -XX:ArchiveClassesAtExit={new}"
    spark = session("local[1]", "archive", {"spark.driver.extraJavaOptions": options})
    with tempfile.TemporaryDirectory() as folder:
        spark.range(3).repartition(2).mapInArrow(_same, "id long").write.json(f"{folder}/rows")
        rows = spark.readStream.schema("id long").json(f"{folder}/rows")
        writer = rows.writeStream.foreachBatch(lambda frame, _: frame.collect())
        query = writer.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True).start()
        query.awaitTermination()
    gateway = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()  # Java ends, and writes the archive
    if gateway.proc.wait() == 0 and new.exists():
        new.rename(ARCHIVE)


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


if __name__ == "__main__":
    main()
