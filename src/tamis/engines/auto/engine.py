"""The ``auto`` engine."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import msgspec
import numpy as np
import numpy.typing as npt

from tamis.engines.agenda import FoundAgenda, JoinedAgenda
from tamis.engines.arena import Arena
from tamis.engines.auto.choose import choose
from tamis.engines.auto.parts import build_parts, part_arena, part_weights, read_choice
from tamis.engines.engines import attach
from tamis.engines.forms import BYTE, Forms
from tamis.engines.parameters import Declared, Whole, chosen
from tamis.engines.proof import Proof
from tamis.engines.protocol import Agenda, Candidates, Engine, Ranked, Wanted, Weights
from tamis.engines.units import Statistics
from tamis.space.located import Located
from tamis.space.space import Clauses

Rank = tuple[Weights, Any]  # the weights of a part's clauses, and its engine's ranking, if any


class Auto:
    """The ``auto`` engine, described in the package's docstring."""

    name: ClassVar[str] = "auto"
    parameters: ClassVar[Declared] = {
        "least": Whole(50_000, 0, 1 << 31),  # with fewer clauses, no engine is tried
        "trial": Whole(65_536, 8, 1 << 31),  # clauses in a trial
        "events": Whole(256, 1, 1 << 20),  # events in a trial
    }

    forms: ClassVar[Forms] = {"choice": BYTE}  # and the parts' own arrays, under their numbers

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Choose the parts and build their engines."""
        parts, why = choose(clauses, statistics, **chosen(cls.name, cls.parameters, parameters))
        return build_parts(clauses, statistics, parts, why)

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._choice = read_choice(arena)
        if len(self._choice.parts) == 1:
            # One engine serves all clauses: return it directly, without a wrapper.
            only = self.only = self._parts[0][1]
            self.candidates = only.candidates  # type: ignore[method-assign]
            if isinstance(only, Ranked):
                self.ranking = only.ranking  # type: ignore[method-assign]
                self.best = only.best  # type: ignore[method-assign, assignment]

    @cached_property
    def _parts(self) -> list[tuple[int, Engine]]:
        """The first clause and the engine of every part."""
        clause, literal, found = 0, 0, []
        alone = len(self._choice.parts) == 1
        for number, part in enumerate(self._choice.parts):
            arena = part_arena(self._arena, number, (clause, literal), part, alone)
            found.append((clause, attach(part.engine, arena)))
            clause, literal = clause + part.clauses, literal + part.literals
        return found

    @property
    def choice(self) -> Any:
        """The choice, the costs of the alternatives and the reason, as plain values."""
        return msgspec.to_builtins(self._choice)

    def candidates(self, events: Located) -> Candidates:
        """Return all pairs of a batch, from all parts."""
        found = [(first, engine.candidates(events)) for first, engine in self._parts]
        return Candidates(
            np.concatenate([pairs.event for _, pairs in found]),
            np.concatenate([pairs.clause + first for first, pairs in found]),
            sum(pairs.probed for _, pairs in found),
            sum(pairs.verified for _, pairs in found),
            sum(pairs.visited for _, pairs in found),
        )

    def ranking(self, weights: Weights) -> list[Rank] | None:
        """Return the weights and the ranking of every part; ``None`` if no part can prune."""
        ranks = []
        for (first, engine), part in zip(self._parts, self._choice.parts, strict=True):
            mine = part_weights(weights, first, part.clauses)
            ranks.append((mine, engine.ranking(mine) if isinstance(engine, Ranked) else None))
        return ranks if any(ranking is not None for _, ranking in ranks) else None

    def best(self, event: Located, ranking: list[Rank], wanted: Wanted) -> Agenda:
        """Return the agendas of all parts; a part that cannot prune finds all its matches."""
        parts = zip(self._parts, ranking, strict=True)
        agendas = [(first, _agenda(engine, event, rank, wanted)) for (first, engine), rank in parts]
        # The scores of parts that prune spare the other parts, which have found all anyway, the most.
        return JoinedAgenda(sorted(agendas, key=lambda part: isinstance(part[1], FoundAgenda)))

    def check(self) -> None:
        """Raise :class:`IndexCorrupt` unless the parts have the clauses they should and each is sound."""
        proof, start = Proof(self.name), self._arena["clauses.start"].astype(np.int64)
        parts = zip(self._parts, self._choice.parts, strict=True)
        for number, ((first, engine), part) in enumerate(parts):
            if len(self._parts) > 1:
                mine = self._arena[f"engine.{number}.start"].astype(np.int64)
                same = np.array_equal(mine, start[first : first + part.clauses + 1] - start[first])
                proof.ensure(same, "a part has other clauses than it should")
            engine.check()


def _agenda(engine: Any, event: Located, rank: Rank, wanted: Wanted) -> Agenda:
    """Return the agenda of a part, over all its matches if its engine has none."""
    weights, ranking = rank
    agenda: Agenda | None = engine.best(event, ranking, wanted) if ranking is not None else None
    return agenda or FoundAgenda(engine.candidates(event), weights, wanted)
