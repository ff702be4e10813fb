"""List every engine with the parameters worth testing, for the contract suite.

An engine that is not listed here fails the suite, so none can be added without it.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from tamis.engines.engines import NAMES

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "auto": [{}, {"least": 0, "trial": 16, "events": 4}],
    "bestar": [
        {},
        {"leaf": 1},
        {"leaf": 1, "alpha": 0.5, "selectivity": 0},
        {"leaf": 2, "split": 1, "alpha": 0.0},
        {"leaf": 1, "split": 0},
        {"leaf": 1, "incremental": 1, "beta": 1.0},
        {"leaf": 2, "incremental": 1, "split": 0, "selectivity": 0},
    ],
    "bitmatrix": [
        {},
        {"cells": 4, "summary_cells": 2},
        {"cells": 65_536, "bytes_each": 16, "summary_cells": 65_536},
    ],
    "filtertree": [
        {},
        {"names": 0},
        {"names": 2, "leaf": 0},
        {"names": 1 << 20, "leaf": 0},
        {"names": 100, "leaf": 1, "most_values": 0},
    ],
    "hybrid": [
        {},
        {"pairs": 0, "crowd": 0},
        {"pairs": 0, "crowd": 0, "most_blocks": 1},
        {"pairs": 2, "crowd": 0},
        {"pairs": 2, "crowd": 2, "most_blocks": 64, "beside": 3},
        {"pairs": 0, "crowd": 0, "beside": 8},
    ],
    "kindex": [{}, {"most_cells": 1}, {"most_cells": 3}, {"budget": 20}],
    "opindex": [
        {"trie": 1},
        {"optimised": 0},
        {"segment_bits": 0, "trie": 0},
        {"segment_bits": 8, "fill": 0, "trie": 1},
        {},
    ],
    "presearch": [
        {"time_check": 100, "time_and": 10, "time_avoid": 20},
        {},
        {"way": 0},
        {"way": 1},
        {"way": 3, "batch": 1},
        {"batch": 70, "time_check": 1, "time_and": 1000, "time_avoid": 1, "greedy": 0},
        {"leapfrog": 1, "way": 0, "batch": 5},
        {"leapfrog": 1, "way": 1},
        {"leapfrog": 1, "time_check": 100, "time_and": 30, "time_avoid": 20, "greedy": 0},
        {"leapfrog": 1, "way": 3, "batch": 3},
    ],
    "pstbloom": [{}, {"crowd": 0}, {"crowd": 0, "most_blocks": 1}, {"crowd": 2, "most_blocks": 64}],
    "psthash": [
        {},
        {"access": 3, "crowd": 0},
        {"access": 4, "combinations": 4096},
        {"combinations": 1, "crowd": 0, "most_blocks": 1},
    ],
    "scan": [{}],
}
LAYOUTS: list[tuple[str, dict[str, Any]]] = [
    (name, parameters) for name in NAMES for parameters in PARAMETERS[name]
]

# A test that builds an index with every engine, or every layout of each, does many times the work of another.
per_engine = settings(max_examples=max(10, settings.default.max_examples // 2))
per_layout = settings(max_examples=max(10, settings.default.max_examples // 4))

turns = st.integers(0, 59)


def layouts_of_turn(turn: int) -> list[tuple[str, dict[str, Any]]]:
    """Return every engine with one of its layouts, another one in another turn."""
    return [(name, PARAMETERS[name][turn % len(PARAMETERS[name])]) for name in NAMES]
