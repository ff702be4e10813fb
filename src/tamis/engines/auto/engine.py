"""The ``auto`` engine."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import msgspec
import numpy as np
import numpy.typing as npt

from tamis.engines.arena import Arena
from tamis.engines.auto.choose import choose
from tamis.engines.auto.parts import build_parts, part_arena, read_choice
from tamis.engines.engines import attach
from tamis.engines.forms import BYTE, Forms
from tamis.engines.parameters import Declared, Whole, chosen
from tamis.engines.proof import Proof
from tamis.engines.protocol import Candidates, Engine, Ranked
from tamis.engines.units import Statistics
from tamis.space.located import Located
from tamis.space.space import Clauses


class Auto:
    """See the package's page."""

    name: ClassVar[str] = "auto"
    parameters: ClassVar[Declared] = {
        "least": Whole(50_000, 0, 1 << 31),  # clauses below which nothing is tried
        "trial": Whole(65_536, 8, 1 << 31),  # clauses that engines are tried on
        "events": Whole(256, 1, 1 << 20),  # events that they are tried with
    }

    forms: ClassVar[Forms] = {"choice": BYTE}  # and those of the parts, by their numbers

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Choose, then build what was chosen."""
        parts, why = choose(clauses, statistics, **chosen(cls.name, cls.parameters, parameters))
        return build_parts(clauses, statistics, parts, why)

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._choice = read_choice(arena)
        if len(self._choice.parts) == 1:
            # One engine for all: nothing stands between it and the caller.
            only = self._parts[0][1]
            self.candidates = only.candidates  # type: ignore[method-assign]
            if isinstance(only, Ranked):
                self.ranking, self.best = only.ranking, only.best

    @cached_property
    def _parts(self) -> list[tuple[int, Engine]]:
        """(first clause, engine) of every part."""
        clause, literal, found = 0, 0, []
        alone = len(self._choice.parts) == 1
        for number, part in enumerate(self._choice.parts):
            arena = part_arena(self._arena, number, (clause, literal), part, alone)
            found.append((clause, attach(part.engine, arena)))
            clause, literal = clause + part.clauses, literal + part.literals
        return found

    @property
    def choice(self) -> Any:
        """What was chosen, what the alternatives would have cost, and why, as plain values."""
        return msgspec.to_builtins(self._choice)

    def candidates(self, events: Located) -> Candidates:
        """Return all pairs of a batch, of all parts."""
        found = [(first, engine.candidates(events)) for first, engine in self._parts]
        return Candidates(
            np.concatenate([pairs.event for _, pairs in found]),
            np.concatenate([pairs.clause + first for first, pairs in found]),
            sum(pairs.probed for _, pairs in found),
            sum(pairs.verified for _, pairs in found),
            sum(pairs.visited for _, pairs in found),
        )

    def check(self) -> None:
        """The parts have the clauses they should, and each is sound."""
        proof, start = Proof(self.name), self._arena["clauses.start"].astype(np.int64)
        parts = zip(self._parts, self._choice.parts, strict=True)
        for number, ((first, engine), part) in enumerate(parts):
            if len(self._parts) > 1:
                mine = self._arena[f"engine.{number}.start"].astype(np.int64)
                same = np.array_equal(mine, start[first : first + part.clauses + 1] - start[first])
                proof.ensure(same, "a part has other clauses than it should")
            engine.check()
