"""Test how a card is chosen, how its failures are reported, and where ``device`` is taken."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from bench.gpu.duel import pairs_of
from tamis import Index
from tamis.cli import main
from tamis.errors import DeviceFailed, DeviceMemory, DeviceMissing, DeviceUnsupported, InputError
from tamis.gpu import device as devices
from tamis.gpu.device import Device
from tamis.gpu.segment import DeviceSegment
from tamis.index import card

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
EVENTS = pa.table({"a": [1, 2, 3], "b": [3, None, 1]})
BOOK = {f"s{n}": f"a >= {n} ^ {n + 1} OR b = {n}" for n in range(4)}


class CudaError(Exception):
    """Stand for an error of the driver."""

    __module__ = "numba.cuda.cudadrv.driver"


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let "auto" take the card for any batch."""
    monkeypatch.setattr(card, "LEAST_EVENTS", 1)
    monkeypatch.setattr(card, "LEAST_CLAUSES", 1)
    monkeypatch.setattr(card, "_failure", None)


def failing(message: str) -> Any:
    def search(*_: Any) -> None:
        raise CudaError(message)

    return search


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cuda:-1", "CUDA", 0, None])
def test_unknown_device_is_refused(name: Any) -> None:
    with pytest.raises(InputError, match="device is 'cpu', 'cuda', 'cuda:1' or 'auto'"):
        Index.build(BOOK).match_many(EVENTS, device=name)


def test_missing_card_is_reported_with_a_remedy() -> None:
    with pytest.raises(DeviceMissing, match=r"there is no card 7.*pass device='cpu'"):
        Index.build(BOOK).match_many(EVENTS, device="cuda:7")


def test_other_engines_are_refused_by_a_card_and_left_alone_by_auto(eager: None) -> None:
    index = Index.build(BOOK, engine="kindex")
    with pytest.raises(DeviceUnsupported, match="build the index with engine='hybrid'"):
        index.match_many(EVENTS, device="cuda")
    assert index.match_many(EVENTS, device="auto") == index.match_many(EVENTS)


def test_failing_card_leaves_the_index_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index.build(BOOK)
    expected = index.match_many(EVENTS)
    monkeypatch.setattr(DeviceSegment, "search", failing("CUDA_ERROR_ILLEGAL_ADDRESS"))
    with pytest.raises(
        DeviceFailed, match="card 0 failed: CUDA_ERROR_ILLEGAL_ADDRESS; the index still matches"
    ):
        index.match_many(EVENTS, device="cuda")
    assert index.match_many(EVENTS) == expected


def test_auto_falls_back_to_the_processor_with_one_warning(
    eager: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    index = Index.build(BOOK)
    expected = index.match_many(EVENTS)
    monkeypatch.setattr(DeviceSegment, "search", failing("CUDA_ERROR_OUT_OF_MEMORY"))
    with caplog.at_level(logging.WARNING, logger="tamis"):
        for _ in range(2):
            assert index.match_many(EVENTS, device="auto", batch_size=1) == expected
    assert [record.getMessage()[:44] for record in caplog.records] == [
        "device='auto' matches on the processor: card"
    ]
    assert "too little memory" in index.info()["device"]["failure"]


def test_auto_takes_the_card_for_batches_that_pay(eager: None, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index.build(BOOK)
    expected = index.match_many(EVENTS)
    searched = []
    search = DeviceSegment.search
    monkeypatch.setattr(DeviceSegment, "search", lambda *given: searched.append(1) or search(*given))
    assert pairs_of(index.match_many(EVENTS, device="auto")) == pairs_of(expected)
    monkeypatch.setattr(card, "LEAST_EVENTS", 4)
    assert index.match_many(EVENTS, device="auto") == expected
    assert len(searched) == 1


def test_segments_make_room_for_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    index, other = Index.build(BOOK), Index.build(BOOK)
    index.match_many(EVENTS, device="cuda")
    upload, full = Device._upload, []

    def once(self: Device, segment: Any) -> DeviceSegment:
        if not full:
            full.append(segment)
            raise DeviceMemory("card 0 has too little memory")
        return upload(self, segment)

    monkeypatch.setattr(Device, "_upload", once)
    assert pairs_of(other.match_many(EVENTS, device="cuda")) == pairs_of(other.match_many(EVENTS))
    assert len(full) == 1
    assert len(devices.device(0)._segments) == 1


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_best_matches_of_a_table_are_those_of_its_events(device: str) -> None:
    index = Index.build(BOOK)
    index.add("new", "a >= 1 ^ 2.5")
    index.remove("s1")
    found = index.top_k(EVENTS, k=2, device=device).to_pydict()
    events = [{"a": 1, "b": 3}, {"a": 2}, {"a": 3, "b": 1}]
    expected = [(row, *pair) for row, event in enumerate(events) for pair in index.top_k(event, k=2)]
    assert list(zip(*found.values(), strict=True)) == expected


def test_command_matches_on_a_card(tmp_path: Path) -> None:
    Index.build(BOOK).save(tmp_path / "index")
    runner, lines = CliRunner(), '{"a": 1, "b": 3}\n{"a": 2}\n'
    plain, on_card = (
        runner.invoke(main, ["match", str(tmp_path / "index"), "--device", device], input=lines)
        for device in ("cpu", "cuda")
    )
    assert on_card.exit_code == 0, on_card.output
    rows = [[json.loads(line) for line in result.stdout.splitlines()] for result in (plain, on_card)]
    assert [(row["event"], sorted(row["subscriptions"])) for row in rows[1]] == [
        (row["event"], sorted(row["subscriptions"])) for row in rows[0]
    ]


def test_numpy_without_a_name_that_numba_asks_for_is_an_error_that_says_what_to_install() -> None:
    # As with NumPy 2.5. Outside of the simulator, so in a process of its own.
    code = """
import numpy, sys
given = numpy.__getattr__
def lacking(name):
    if name == "row_stack":
        raise AttributeError("module 'numpy' has no attribute 'row_stack'")
    return given(name)
vars(numpy).pop("row_stack", None)
numpy.__getattr__ = lacking
from tamis.errors import DeviceUnsupported
try:
    import tamis.gpu.cuda
except DeviceUnsupported as bad:
    sys.exit(str(bad))
"""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_ENABLE_CUDASIM"}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert "no attribute 'row_stack'; install the versions" in result.stderr
