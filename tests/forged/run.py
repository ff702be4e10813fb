"""Use forged indexes with bounds-checked kernels, in a separate process, since a kernel may crash it.

``python -m tests.forged.run FOLDER COUNT SEED ENGINE…`` writes a line of JSON for every engine. The folder
holds an index for each layout of the engine, ``FOLDER/ENGINE/0`` and so on. The file ``FOLDER/case`` names
the forgery that is being tried.
"""

from __future__ import annotations

import json
import resource
import shutil
import signal
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa

warnings.simplefilter("ignore")

from tamis import Index  # noqa: E402
from tamis.errors import TamisError  # noqa: E402
from tamis.values.event import Event  # noqa: E402
from tests.forged.mutator import LAYOUTS_TO_READ, Forger  # noqa: E402

CPU_SECONDS = 300  # for one forgery, compiling included; a longer run counts as a hang
MEMORY = 6 << 30

EVENTS: list[dict[str, Any]] = [
    {"price": 5, "city": "c3", "size": 9, "wide": 300, "deep": 310},
    {"title": "abx wool red coat cd", "price": 61.5, "brand": "aab", "ip": "10.1.2.3"},
    {"at": {"$point": [1, 1]}, "city": ["c1", "c2"], "price": [1, 7], "size": [2, 8], "wide": [3, 800]},
    {"made": {"$time": "2026-05-05T00:00:00Z"}, "sold": True, "count": 9007199254740993, "price": "text"},
    {"price": {"$interval": [2, 30]}, "city": {"$interval": ["a", "d"]}, "deep": {"$interval": [0, 2000]}},
    {"unknown": 1},
    {},
]  # fmt: skip
TABLE = pa.table(
    {
        "price": [5, 7, None],
        "city": ["c3", "zz", "c1"],
        "size": [[1, 9], [2], []],
        "title": ["wool coat", "red coat x", "b"],
        "at": [{"lon": 1.0, "lat": 1.0}, None, {"lon": 3.5, "lat": 0.0}],
        "sold": [True, False, None],
    }
)


def use(folder: Path) -> bool:
    """Open and use an index in every way; return whether it was refused at open."""
    try:
        index = Index.open(folder)
    except TamisError:
        return True
    # Merging reads the stored expressions, which are the same for all engines; the kernels that build an
    # engine take long to compile.
    acts = (_match, _best, _read, _change) if index.info()["engine"] == "hybrid" else (_match, _best, _read)
    for act in acts:
        try:
            act(index)
        except TamisError:
            continue
    return False


def _match(index: Index) -> None:
    for event in EVENTS:
        index.match(event)
    index.match_many(EVENTS * 3, threads=1)
    index.match_many(TABLE, threads=1)


def _best(index: Index) -> None:
    for event in EVENTS:
        index.top_k(event, 2)
    index.top_k(Event({"price": (5,), "city": ("c3", "c1")}, weights={"price": 0.5, "city": 2.0}), 3)


def _read(index: Index) -> None:
    index.info()
    for name in ("n3", "deep", "shape", "views", "net", "time", "m2"):
        if name in index:
            index.explain(name, EVENTS[0])
            index.explain(name, EVENTS[2])


def _change(index: Index) -> None:
    index.add("new one", "price > 4 AND city = 'c3'")
    index.merge()
    _match(index)
    _best(index)


def run(folder: Path, count: int, seed: int, engine: str) -> dict[str, Any]:
    """Try so many forgeries of one engine's indexes, with each of its layouts in turn."""
    failures: list[str] = []
    refused = 0
    layouts = LAYOUTS_TO_READ[engine]
    for number, parameters in enumerate(layouts):
        shutil.rmtree(folder / "copy", ignore_errors=True)
        original = folder / engine / str(number)
        if use(original):
            raise AssertionError("the original is refused")
        forger = Forger(original, folder / "copy", f"{seed} {engine} {number}")
        for at in range(count // len(layouts) + (number < count % len(layouts))):
            what = f"{engine} {parameters} #{at}: {forger.forge()}"
            (folder / "case").write_text(what, errors="replace")
            # Without a handler, the signal ends the process.
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
            try:
                refused += use(forger.copy)
            except Exception:
                failures.append(f"{what}\n{traceback.format_exc()}")
            signal.setitimer(signal.ITIMER_PROF, 0)  # the next original may have kernels to compile
    return {"engine": engine, "count": count, "refused": refused, "failures": failures}


def main() -> None:
    """Read the arguments, try the forgeries, and print the results."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    folder, count, seed, *engines = sys.argv[1:]
    for engine in engines:
        print(json.dumps(run(Path(folder), int(count), int(seed), engine)), flush=True)


if __name__ == "__main__":
    main()
