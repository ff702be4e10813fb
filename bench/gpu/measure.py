"""Measure one book: from table to pairs, the kernels alone, every stage, and one core of the processor."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.gpu.books import Book, read
from bench.gpu.duel import pairs_of

RUNS = 3
CPU_EVENTS = 8_192
COMPARED = 1_024
STRINGS = 8_000_000  # ids that are written at a time
MANY = 1 << 18  # matches, too many for Python objects


def measured(book: Book, folder: Path, device: str, say: Callable[[dict[str, Any]], None]) -> None:
    """Report the figures of one book, each as soon as it is known."""
    import tamis

    index = tamis.Index.open(folder / "index")
    forms = {
        "map" if len(read(folder / "events.arrow").schema) == 1 else "columns": read(folder / "events.arrow")
    }
    if book.is_wide:
        forms["columns"] = read(folder / "wide.arrow")
    about = {"book": book.name, "subscriptions": len(index)}
    for form, events in forms.items():
        seconds, first = _timed(lambda: _run(index, events.slice(0, 4_096), device))  # noqa: B023
        say(about | {"form": form, "what": "first batch", "s": seconds, "pairs": first})
        found = _compared(index, events, device)
        say(about | {"form": form, "what": "duel", "decisions": COMPARED * len(index), "differences": found})
        for batch in (1 << 16, 1 << 17, 1 << 18):
            for threads in (4, 8):
                runs = [_timed(lambda: _run(index, events, device, batch, threads)) for _ in range(RUNS)]  # noqa: B023
                say(
                    about
                    | {
                        "form": form,
                        "what": "table to pairs",
                        "batch": batch,
                        "threads": threads,
                        "events_s": len(events) / statistics.median(run[0] for run in runs),
                        "pairs": runs[0][1] / len(events),
                        "input_bytes": events.nbytes / len(events),
                    }
                )
        some = events.slice(0, min(1 << 16, int(STRINGS / max(runs[0][1] / len(events), 1))))
        runs = [_timed(lambda: len(index.match_many(some, device=device))) for _ in range(RUNS)]  # noqa: B023
        say(
            about
            | {
                "form": form,
                "what": "table to ids",
                "events_s": len(some) / statistics.median(r[0] for r in runs),
            }
        )
    for small in (256, 1_024, 4_096, 16_384, 65_536):
        part = events.slice(0, small)
        both = {
            name: statistics.median(_timed(lambda: _run(index, part, name))[0] for _ in range(RUNS))  # noqa: B023
            for name in (device, "cpu")
        }
        say(
            about
            | {
                "form": form,
                "what": "batch size",
                "events": small,
                "card_s": both[device],
                "cpu_s": both["cpu"],
            }
        )
    say(about | {"form": form, "what": "one core"} | _one_core(index, events.slice(0, CPU_EVENTS)))


def _run(
    index: Any, events: pa.Table, device: str, batch: int | None = None, threads: int | None = None
) -> int:
    """Return the number of matches, all of them on the host."""
    found = index.match_pairs(events, device=device, batch_size=batch, threads=threads, on_error="skip")
    return sum(len(part.number) for piece in found for part in piece.parts)


def _timed(call: Callable[[], int]) -> tuple[float, int]:
    begin = time.perf_counter()
    found = call()
    return time.perf_counter() - begin, found


def _compared(index: Any, events: pa.Table, device: str) -> int:
    """Return the number of pairs by which card and processor differ, in the middle of the events."""
    some = events.slice(len(events) // 2, COMPARED)
    found, expected = (index.match_many(some, device=name, on_error="skip") for name in (device, "cpu"))
    if len(found) > MANY:
        return _differing(found.table, expected.table)
    return len(set(pairs_of(found.table)) ^ set(pairs_of(expected.table)))


def _differing(found: pa.Table, expected: pa.Table) -> int:
    order = [("event", "ascending"), ("subscription", "ascending")]
    if len(found) != len(expected):
        return abs(len(found) - len(expected))
    one, two = found.sort_by(order).combine_chunks(), expected.sort_by(order).combine_chunks()
    return 0 if one.equals(two) else len(one)


def _one_core(index: Any, events: pa.Table) -> dict[str, float]:
    """Return the processor's events a second with one thread: from table to pairs, and the engine alone."""
    from bench.parts import locate_events, search_located

    _run(index, events, "cpu", threads=1)
    runs = [_timed(lambda: _run(index, events, "cpu", threads=1))[0] for _ in range(RUNS)]
    located = locate_events(index, events)
    search_located(located)
    kernel = [_timed(lambda: search_located(located))[0] for _ in range(RUNS)]
    return {
        "table_events_s": len(events) / statistics.median(runs),
        "kernel_events_s": len(events) / statistics.median(kernel),
    }
