"""Draw a stream: the delay until rows are in the outbox, and memory, over its minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bench.demo.plot import INK, OURS, SLOW


def draw_stream(outcome: dict[str, Any], file: Path) -> None:
    """Write the picture to ``file``."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (upper, lower) = plt.subplots(2, 1, figsize=(10, 6.4), sharex=True, layout="constrained")
    book = f"{outcome['subscriptions']:,} subscriptions"
    figure.suptitle(f"{outcome['rate']:,.0f} events a second against {book}", color=INK)
    since, middle, slowest = np.array(outcome["latency"]).T
    upper.plot(since + 5, middle, color=OURS, label="median")
    upper.plot(since + 5, slowest, color=SLOW, label="p99")
    upper.set_ylabel("seconds until in the outbox")
    upper.set_ylim(bottom=0)
    upper.legend(frameon=False)
    moments, java, python = np.array(outcome["memory"]).T
    lower.plot(moments, java / 1e9, color=SLOW, label="Java")
    lower.plot(moments, python / 1e9, color=OURS, label="Python: driver and workers")
    lower.set_ylabel("GB of its own")
    lower.set_xlabel("seconds")
    lower.set_ylim(bottom=0)
    lower.legend(frameon=False)
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    plt.close(figure)
