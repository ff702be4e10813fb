"""Stream JSON files into a store, in a process of its own that tests may kill."""

from __future__ import annotations

import sys

import tamis.spark


def main(folder: str) -> None:
    spark = tamis.spark.session("local[2]", "killed", {"spark.driver.memory": "1g"})
    events = (
        spark.readStream.schema("event_id string, attributes string")
        .option("maxFilesPerTrigger", 1)
        .json(f"{folder}/events")
    )
    query = tamis.spark.match_stream(
        events,
        f"{folder}/index",
        store=f"sqlite:///{folder}/store.db",
        checkpoint=f"{folder}/checkpoint",
        name="killed",
        trigger={"availableNow": True},
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1])
