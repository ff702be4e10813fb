"""The picture of the demonstration: how long one listing takes, and how many a second."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bench.demo import Show

OURS, SLOW, INK = "#0b6e4f", "#b5651d", "#333333"


def draw(show: Show, file: Path) -> None:
    """Write the picture to ``file``."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), width_ratios=(3, 2), layout="constrained")
    figure.suptitle(f"{show.searches:,} saved searches against a stream of listings", fontsize=14, color=INK)
    _latencies(left, show.latencies)
    _rates(right, show.rates)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=INK)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def _latencies(axes: Any, latencies: dict[str, list[float]]) -> None:
    """A histogram per engine over a logarithmic time axis, medians marked."""
    everything = np.concatenate(list(latencies.values()))
    edges = np.geomspace(max(1.0, everything.min() * 0.9), everything.max() * 1.1, 80)
    for (name, singles), colour in zip(latencies.items(), (OURS, SLOW), strict=False):
        weights = np.full(len(singles), 100 / len(singles))
        axes.hist(singles, edges, weights=weights, color=colour, alpha=0.85)
        middle = float(np.median(singles))
        top = np.histogram(singles, edges, weights=weights)[0].max()
        axes.annotate(
            f"{name}\nmedian {readable(middle)}\np99 {readable(float(np.percentile(singles, 99)))}",
            (middle, top),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            color=colour,
        )
    axes.set_xscale("log")
    axes.set_ylim(top=axes.get_ylim()[1] * 1.3)
    axes.xaxis.set_major_formatter(lambda value, _: readable(value))
    axes.set_xlabel("time to match one listing, given as a dictionary", color=INK)
    axes.set_ylabel("% of listings", color=INK)
    axes.set_title("Latency, one at a time", loc="left", color=INK)


def _rates(axes: Any, rates: dict[str, float]) -> None:
    """A bar per way of matching, on a logarithmic axis."""
    bars = [("scan\none core", rates["scan, one core"], SLOW), ("tamis\none core", rates["one core"], OURS)]
    bars.append(("tamis\nall cores", rates["all cores"], OURS))
    for at, (_, rate, colour) in enumerate(bars):
        axes.bar(at, rate, color=colour, width=0.6)
        axes.text(at, rate * 1.15, f"{rate:,.0f}", ha="center", color=colour, fontweight="bold")
    axes.set_yscale("log")
    axes.set_ylim(bottom=min(rate for _, rate, _ in bars) / 5, top=max(rate for _, rate, _ in bars) * 4)
    axes.set_xticks(range(len(bars)), [name for name, _, _ in bars])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_ylabel("listings a second", color=INK)
    axes.set_title("Throughput, in batches", loc="left", color=INK)


def readable(micros: float) -> str:
    """``250 µs``, ``1.5 ms``, ``2 s``."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if micros >= size:
            return f"{micros / size:.3g} {unit}"
    return f"{micros:.3g} µs"
