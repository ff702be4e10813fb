"""``tamis spark stream`` and ``digest``, which run until they are stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis.cli.spark.queries import run
from tamis.cli.spark.sources import Shape, stream_events
from tamis.errors import InputError
from tamis.store import Store
from tests.spark.commands import BOOK, Call
from tests.waiting import eventually


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        opened.put("phone", BOOK["phone"], schedule="every minute")
        opened.put("cheap", BOOK["cheap"])
        yield opened


@pytest.mark.spark
def test_folder_is_streamed_into_a_store(
    spark: Any, files: Path, tmp_path: Path, tamis: Call, store: Store
) -> None:
    built = tamis("build", store.url, "-o", tmp_path / "index")
    assert built.exit_code == 0, built.output
    (tmp_path / "in").mkdir()
    shutil.copy(files / "events.jsonl", tmp_path / "in")
    store.remove("cheap")
    store.put("dear", "price >= 300")
    options = ("--store", store.url, "--checkpoint", tmp_path / "checkpoint", "--once", "--event-id", "id")
    first = tamis("stream", tmp_path / "in", tmp_path / "index", *options, "--metrics-port", "0")
    assert first.exit_code == 0, first.output
    assert "metrics at http://127.0.0.1:" in first.stderr
    assert "1 batch, 5 rows read, 3 new rows" in first.stderr
    rows = spark.read.format("tamis").option("store", store.url).option("table", "outbox").load().collect()
    assert sorted((row["event_id"], row["subscription_id"]) for row in rows) == [
        ("a", "dear"),
        ("a", "phone"),
        ("c", "dear"),
    ]
    again = tamis("stream", tmp_path / "in", tmp_path / "index", *options)
    assert again.exit_code == 0, again.output
    assert "0 batches" in again.stderr, "what was matched is not matched again"


@pytest.mark.spark
def test_socket_lines_are_streamed(spark: Any, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        frame = stream_events(spark, f"socket:127.0.0.1:{server.getsockname()[1]}", Shape())
        query = frame.writeStream.format("memory").queryName("lines").start()
        sender, _ = server.accept()
        with sender:
            sender.sendall(b'{"price": 1}\n{"price": 1}\n')
            eventually(lambda: spark.table("lines").count() == 2, every=0.1)
        rows = spark.table("lines").collect()
        query.stop()
    assert [row.attributes for row in rows] == ['{"price": 1}'] * 2
    assert None not in {row.event_time for row in rows}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("kafka:host:9092", "a topic is written kafka:HOST:PORT/TOPIC"),
        ("socket:host", "a socket is written socket:HOST:PORT"),
    ],
)
def test_invalid_address_is_explained(spark: Any, source: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        stream_events(spark, source, Shape())


@pytest.mark.spark
def test_matches_are_digested(spark: Any, tmp_path: Path, tamis: Call, store: Store) -> None:
    (tmp_path / "in").mkdir()
    row = {"event_id": "a", "subscription_id": "phone", "version": 1}
    (tmp_path / "in" / "1.json").write_text(json.dumps(row), encoding="utf-8")
    options = ("--store", store.url, "--checkpoint", tmp_path / "checkpoint", "--once", "--tick", "1 second")
    result = tamis("digest", tmp_path / "in", *options)
    assert result.exit_code == 0, result.output
    assert "digests of " in result.stderr
    wrong = tamis("digest", tmp_path / "in", *options[:-1], "sometimes")
    assert "input-invalid: tick is a time such as '30 seconds'" in wrong.stderr


@pytest.mark.spark
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_a_query_cleanly(spark: Any, tmp_path: Path, number: signal.Signals) -> None:
    writer = spark.readStream.format("rate").load().writeStream.format("noop")
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    handler = signal.getsignal(number)

    def kill() -> None:
        """Send the signal as soon as ``run`` handles it."""
        eventually(lambda: signal.getsignal(number) is not handler)
        os.kill(os.getpid(), number)

    killer = threading.Thread(target=kill)
    killer.start()
    run(query)
    killer.join()
    assert not query.isActive
    assert query.exception() is None
    assert signal.getsignal(number) is handler


@pytest.mark.spark
def test_unreachable_store_is_named_without_its_password(
    index: Path, tmp_path: Path, tamis: Call, files: Path
) -> None:
    url = "postgresql+psycopg://me:secret@127.0.0.1:1/none"
    result = tamis(
        "stream", files, index, "--store", url, "--checkpoint", tmp_path, "--events-format", "json"
    )
    assert result.exit_code == 1
    assert "127.0.0.1:1" in result.stderr
    assert "secret" not in result.stderr


# -- the page -----------------------------------------------------------------------------------------------
