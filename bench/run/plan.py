"""Define a run: a workload, its size, and the engines with their parameters."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from bench.engines import engine_names
from bench.workloads import Workload


@dataclass(frozen=True)
class EngineSpec:
    """An engine and its parameters, written ``bestar:adaptive=0:beta=8``."""

    text: str
    engine: str
    parameters: dict[str, int | float]

    @classmethod
    def read(cls, text: str) -> EngineSpec:
        """Return the spec in ``text``, or raise ``ValueError``; :meth:`known` checks the engine itself."""
        engine, *settings = text.strip().split(":")
        return cls(text.strip(), engine, dict(_setting(setting, text) for setting in settings))

    def known(self) -> EngineSpec:
        """Return itself; an unknown engine or parameter raises a ``ValueError`` that lists the known ones."""
        if self.engine not in engine_names():
            raise ValueError(f"{self.engine!r} is not one of {', '.join(engine_names())}")
        _check(self.engine, self.parameters)
        return self


def _setting(setting: str, text: str) -> tuple[str, int | float]:
    name, _, value = setting.partition("=")
    try:
        return name, float(value) if set(value) & set(".eE") else int(value)
    except ValueError:
        wanted = "write NAME=NUMBER, as in bestar:beta=8"
        raise ValueError(f"{setting!r} in {text!r} is not a parameter: {wanted}") from None


def _check(engine: str, parameters: dict[str, int | float]) -> None:
    from tamis.engines.engines import engine_class
    from tamis.engines.parameters import chosen
    from tamis.errors import EngineParameter

    try:
        chosen(engine, engine_class(engine).parameters, parameters)
    except EngineParameter as wrong:
        raise ValueError(str(wrong)) from None


@dataclass(frozen=True)
class Plan:
    """The definition of a run.

    ``detail`` adds slower measurements: one event at a time, all cores, size on disk. ``budget_s`` is the
    time for one pass over the events; a slower engine gets fewer events. The builder sees ``sample`` events.
    ``scan`` also matches ``checked`` events, if it is not among the engines.
    """

    workload: Workload
    subscriptions: int = 1_000_000
    events: int = 10_000
    engines: tuple[str, ...] = ("scan", "hybrid")
    seed: int = 1
    repeats: int = 3
    threads: int = os.cpu_count() or 1
    sample: int = 0
    detail: bool = True
    budget_s: float = 3.0
    checked: int = 32

    def specs(self) -> list[EngineSpec]:
        """Return the engines as specs."""
        return [EngineSpec.read(text) for text in self.engines]

    def as_parameters(self) -> dict[str, Any]:
        """Return everything that shapes the figures, as plain values."""
        own = ("subscriptions", "events", "repeats", "threads", "sample", "budget_s")
        return self.workload.parameters() | {name: getattr(self, name) for name in own}
