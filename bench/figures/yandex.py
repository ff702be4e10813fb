"""Define the figures of the Yandex paper: a running service over time and under stress, and one matcher."""

from __future__ import annotations

from dataclasses import replace

from bench.figures.claims import ahead, below, slower_growth
from bench.figures.curves import HYBRID, SCAN
from bench.figures.spec import Claim, Curve, Figure, Job, Panel, Paper, job, sweep

N = 300_000
SIZES = (30_000, 100_000, 300_000, 1_000_000)
STEADY, SECONDS, STEP = 500, 24, 2  # events per second, duration, distance of samples
RATES, EACH = (500, 1_000, 2_000, 3_000, 4_000), 6.0  # the loads of the stress test, seconds of each

_LOAD = Job(
    "service",
    N,
    (),
    (("each", EACH), ("rates", RATES), ("seconds", float(SECONDS)), ("steady", STEADY)),
    kind="service",
)
_OVER_TIME = tuple((at, _LOAD) for at in range(STEP, SECONDS + 1, STEP))
_BY_RATE = tuple((rate, _LOAD) for rate in RATES)
_INDEX = ((N, _LOAD),)
_TREE = Curve("filtertree", "candidates tree")
_ENGINES = (SCAN, _TREE, HYBRID)


def _rates(engine: str) -> tuple[Curve, ...]:
    return Curve(engine, "accepted", "accepted"), Curve(engine, "matched", "matched")


def _waits(engine: str) -> tuple[Curve, ...]:
    return Curve(engine, "median", "latency_ms"), Curve(engine, "slowest", "slowest_ms")


def _cars(size: int) -> Job:
    return job("w5", size, ("scan", "filtertree", "hybrid"))


_BY_SIZE = sweep(_cars, *SIZES)
_WORK = (("candidates", "candidates"), ("verified", "revised"), ("matches", "matches"))


def _work(engine: str) -> tuple[Curve, ...]:
    return tuple(Curve(engine, label, measure) for measure, label in _WORK)


FIGURE_8 = Figure(
    "8",
    "A service over time",
    (
        Panel("(a) events", "seconds", "events_per_s", _OVER_TIME, _rates("at {x}"), log_y=False),
        Panel("(b) latency", "seconds", "wait_ms", _OVER_TIME, _waits("at {x}")),
    ),
    (
        Claim("(b) Between an event and the notification pass less than several seconds.",
              below("slowest", 3_000, "ms", panel=1)),
    ),
    note=f"One process on SQLite with the searches of our marketplace takes {STEADY} listings a second. A "
    "probe publishes an event four times a second and waits for its match on the stream of another client. "
    "We take 3 s for the paper's several seconds.",
    shape="The rate of events and the latency of a cluster with 300,000 active subscriptions over a time. "
    "The text gives no numbers, except that the latency is below several seconds.",
)  # fmt: skip
FIGURE_9 = Figure(
    "9",
    "A service under stress",
    (
        Panel("(a) throughput", "events offered per second", "events_per_s", _BY_RATE, _rates("rate {x}"),
              log_y=False),
        Panel("(b) latency", "events offered per second", "wait_ms", _BY_RATE, _waits("rate {x}")),
    ),
    note="The paper's cluster has two data centres with two matchers each. Ours is one process on one "
    "machine, which also runs the publisher. Every load starts when the service is idle.",
    shape="Throughput and latency of four matchers in two data centres in a stress test. The text gives no "
    "numbers.",
)  # fmt: skip
FIGURE_10 = Figure(
    "10",
    "One matcher",
    (
        Panel("(a) throughput", "subscriptions", "events_per_s", _BY_SIZE,
              tuple(replace(curve, measure="per_second") for curve in _ENGINES), log_x=True),
        Panel("(b) latency", "subscriptions", "us", _BY_SIZE, _ENGINES, log_x=True),
        Panel("(c) candidates tree, two phases", "subscriptions", "per_event", _BY_SIZE,
              _work("filtertree"), log_x=True),
        Panel("(d) the index of the service", "", "per_event", _INDEX, _work("index"), kind="table"),
    ),
    (
        Claim("(b) The tree grows slower than the number of subscriptions, so slower than the naive test.",
              slower_growth("candidates tree", "scan", panel=1)),
        Claim("(b) Candidates and revision are faster than testing every subscription.",
              ahead("scan", "candidates tree", "faster", panel=1)),
    ),
    note="(a) to (c): the car searches of the paper's example (w5), without HTTP and store, on one core. "
    "(c) and (d) are ours: the candidates that an event meets, those that the revision tests, and matches. "
    "(d): the marketplace searches of figures 8 and 9 in the engine of the service, hybrid.",
    shape="Throughput and latency of a single matcher of the cluster. The text gives no numbers.",
)  # fmt: skip

YANDEX_PAPER = Paper(
    "yandex",
    "Yandex",
    "Saved searches of classified advertisements: a tree over a few frequent attributes selects candidates, "
    "and a revision tests them. A service takes events and delivers notifications. Figures 1 to 7 of the "
    "paper are drawings.",
    (FIGURE_8, FIGURE_9, FIGURE_10),
)
