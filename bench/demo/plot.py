"""Draw the picture: delay of notifications, time of one listing, listings per second."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bench.demo.words import Show

OURS, SLOW, INK = "#0b6e4f", "#b5651d", "#333333"


def draw(show: Show, file: Path) -> None:
    """Write the picture to ``file``."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(16, 4.8), width_ratios=(4, 4, 3), layout="constrained")
    figure.suptitle(f"{show.searches:,} saved searches against a stream of listings", fontsize=14, color=INK)
    _waits(panels[0], show.waits)
    _latencies(panels[1], show.latencies)
    _rates(panels[2], show.rates)
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=INK)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def _waits(axes: Any, waits: list[tuple[float, float]]) -> None:
    """Draw the delay from arrival to the outbox over the stream's time; medians of each second."""
    sent, waited = np.array(waits).T
    some = np.random.default_rng(1).permutation(len(sent))[:4_000]
    axes.plot(sent[some], waited[some], ".", color=OURS, alpha=0.15, markersize=3)
    whole = np.unique(sent.astype(int))
    axes.plot(whole + 0.5, [np.median(waited[sent.astype(int) == at]) for at in whole], color=INK)
    axes.set_ylim(bottom=0, top=max(1.0, float(np.percentile(waited, 99.5))))
    axes.set_xlabel("seconds since the stream began", color=INK)
    axes.set_ylabel("seconds until in the outbox", color=INK)
    middle = np.median(waited[sent > sent.max() / 2])
    axes.set_title(f"Spark stream: median {middle:.2f} s once warm", loc="left", color=INK)


def _latencies(axes: Any, latencies: dict[str, list[float]]) -> None:
    """Draw a histogram per engine over a logarithmic time axis, with medians marked."""
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
    axes.set_title("One listing at a time, in one process", loc="left", color=INK)


def _rates(axes: Any, rates: dict[str, float]) -> None:
    """Draw a bar per way of matching on a logarithmic axis."""
    bars = [("scan\none core", rates["scan, one core"], SLOW), ("tamis\none core", rates["one core"], OURS)]
    bars += [("tamis\nall cores", rates["all cores"], OURS), ("tamis\nSpark", rates["Spark"], OURS)]
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
    """Return a duration for people: ``250 µs``, ``1.5 ms``, ``2 s``."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if micros >= size:
            return f"{micros / size:.3g} {unit}"
    return f"{micros:.3g} µs"
