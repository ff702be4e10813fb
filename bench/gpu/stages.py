"""Time the stages of one batch on a card, and try launch parameters."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bench.gpu.books import Book, read

EVENTS = 1 << 17
RUNS = 3
TRIED = ("dense 1M", "sparse 1M")  # with other numbers of registers, each of which is compiled


def stages(book: Book, folder: Path, say: Callable[[dict[str, Any]], None], *, sweep: bool) -> None:
    """Report the time of every stage of one batch, in one thread, and of the search with other parameters."""
    import tamis
    from tamis.gpu.device import device

    index = tamis.Index.open(folder / "index")
    segment = index._writer.current.layers[0].segment
    card = device(0)
    events = read(folder / ("wide.arrow" if book.is_wide else "events.arrow")).slice(0, EVENTS)
    begin = time.perf_counter()
    on_card = card.segment(segment)
    say({"book": book.name, "what": "upload", "s": time.perf_counter() - begin, "bytes": on_card.nbytes})
    with card.use():
        for _ in range(2):  # the first compiles
            found, times, batch = _once(segment, on_card, card, events)
        per_event = {name: round(1e9 * value / len(events), 3) for name, value in times.items()}
        say(
            {
                "book": book.name,
                "what": "stages",
                "ns": per_event,
                "probed": found.probed / len(events),
                "visited": found.visited / len(events),
                "verified": found.verified / len(events),
                "pairs": float(found.start[-1]) / len(events),
                "hashed": on_card.is_hashed,
            }
        )
        if sweep:
            _sweep(book, on_card, card, batch, int(found.start[-1]), say)


def _once(segment: Any, on_card: Any, card: Any, events: pa.Table) -> tuple[Any, dict[str, float], Any]:
    """Run every stage once and wait after each."""
    from tamis.gpu.columns.table import take_apart
    from tamis.index.match import locate

    workspace, encoder, times = card.workspace(), segment.encoder, {}
    clock = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal clock
        workspace.wait()
        now = time.perf_counter()
        times[name], clock = now - clock, now

    apart = take_apart(encoder, events)
    lap("take apart")
    skipped = np.zeros(len(events), np.uint8)
    if apart is None:
        located, _ = locate(encoder, events)
        lap("locate on the processor")
        found = on_card.space.entries(workspace, located, skipped, on_card.most_entries)
    elif apart.map is not None:
        found = on_card.space.map(workspace, apart.map, encoder.limits, on_card.most_entries)
    else:
        found = on_card.space.columns(workspace, apart, skipped, on_card.most_entries)
    lap("send and locate")
    dead = on_card.dead(None, 0, 0)
    matched = on_card.search(workspace, found.batch, dead)
    lap("search and gather")
    number = workspace.fetch("number back", matched.number)
    lap("fetch")
    number.copy()
    lap("copy")
    return matched, times, found.batch


def _sweep(
    book: Book, on_card: Any, card: Any, batch: Any, pairs: int, say: Callable[[dict[str, Any]], None]
) -> None:
    """Time the search alone with other numbers of registers, threads, blocks and threads to a list."""
    from tamis.gpu.cuda import cuda
    from tamis.gpu.search import _kernels

    make: Any = _kernels.search_kernel
    workspace = card.workspace()
    processors = cuda.gpus[card.number].MULTIPROCESSOR_COUNT
    before = on_card._threads, on_card._blocks, on_card._lane_bits
    best: tuple[float, Any] = (float("inf"), None)
    for registers in (64, 128, 48) if book.name in TRIED else (64,):
        on_card.__dict__["_search"] = make(*on_card._words[0], on_card.is_hashed, on_card._is_wide, registers)
        for threads in (32, 64, 128, 256):
            for lanes in (1, 2, 3, 5):
                on_card._threads, on_card._lane_bits = threads, lanes
                on_card._blocks = processors * min(32, 2048 // threads)
                took = _kernel_time(on_card, workspace, batch, pairs)
                best = min(best, (took, (registers, threads, lanes)))
                say(
                    {
                        "book": book.name,
                        "what": "search",
                        "registers": registers,
                        "threads": threads,
                        "lanes": 1 << lanes,
                        "ns": 1e9 * took / batch.events,
                    }
                )
    on_card._threads, on_card._blocks, on_card._lane_bits = before
    del on_card.__dict__["_search"]
    say({"book": book.name, "what": "best search", "ns": 1e9 * best[0] / batch.events, "with": best[1]})


def _kernel_time(on_card: Any, workspace: Any, batch: Any, pairs: int) -> float:
    """Return the median seconds of the search kernel by the card's own clock."""
    from tamis.gpu.cuda import cuda

    events = batch.events
    count = workspace.device("count", events, np.int32)
    source = workspace.device("source", events, np.int64)
    out = workspace.device("out", pairs + 1, np.uint32)
    work = workspace.send("work", np.zeros(4, np.int64))
    dead = on_card.dead(None, 0, 0)
    times = []
    for _ in range(RUNS + 1):
        begin, end = cuda.event(), cuda.event()
        total = workspace.send("total", np.zeros(1, np.int64))
        begin.record(workspace.stream)
        on_card._launch(workspace, batch, dead, out, total, source, count, work)
        end.record(workspace.stream)
        end.synchronize()
        times.append(cuda.event_elapsed_time(begin, end) / 1e3)
    return float(statistics.median(times[1:]))
