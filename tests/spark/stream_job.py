"""Stream JSON files into a store, in a process of its own that tests may kill."""

from __future__ import annotations

import sys
from pathlib import Path

import tamis.spark
from tamis.store import Store
from tests.spark.java import JAVA_OPTIONS


def main(folder: str) -> None:
    options = {"spark.driver.memory": "1g", "spark.driver.extraJavaOptions": JAVA_OPTIONS}
    spark = tamis.spark.session("local[2]", "killed", options)
    url = f"sqlite:///{folder}/store.db"
    if not Path(folder, "index").exists():
        book = spark.read.format("tamis").option("store", url).load()
        tamis.spark.build(book, f"{folder}/index", shards=2, applied=Store.open(url).last_change())
    events = (
        spark.readStream.schema("event_id string, attributes string")
        .option("maxFilesPerTrigger", 1)
        .json(f"{folder}/events")
    )
    query = tamis.spark.match_stream(
        events,
        f"{folder}/index",
        store=url,
        checkpoint=f"{folder}/checkpoint",
        name="killed",
        trigger={"availableNow": True},
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1])
