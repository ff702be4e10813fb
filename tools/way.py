"""List the files that a subscription passes through, from its text to its postings.

``python tools/way.py`` builds an index of one subscription and prints every module of Tamis in which a
function is called. It leaves out modules that see only the options of the build, not the subscription.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from tamis import Index

PLAIN = "model = 'iphone5s' AND color = 'silver' AND price <= 580"
NESTED = "(model = 'iphone5s' OR color = 'silver') AND price <= 580"

OPTIONS = frozenset(
    {
        *("index/index.py", "index/arguments.py", "index/samples.py", "index/recent.py"),
        *("index/fields.py", "index/readers.py", "index/refused_subscriptions.py", "columns/tables.py"),
        *("contract/on_error.py", "engines/engines.py", "engines/compiled.py", "engines/parameters.py"),
        *("engines/arena.py", "segment/segment.py"),  # behind the postings
    }
)
"""Modules that see the options, the form of the source or the finished arrays."""


def files_on_the_way(text: str) -> list[str]:
    """Return the files of Tamis that one subscription passes through, in order."""
    Index.build({"first": text.replace("580", "570")})  # so that everything is imported and compiled
    found: dict[str, None] = {}

    def seen(frame: FrameType, event: str, _: Any) -> None:
        _, inside, file = frame.f_code.co_filename.partition("/src/tamis/")
        if event == "call" and inside and file not in OPTIONS:
            found.setdefault(file)

    sys.setprofile(seen)
    try:
        Index.build({"second": text})
    finally:
        sys.setprofile(None)
    return list(found)


if __name__ == "__main__":
    for expression in (PLAIN, NESTED):
        way = files_on_the_way(expression)
        print(f"{expression}: {len(way)} files", *way, sep="\n  ")
