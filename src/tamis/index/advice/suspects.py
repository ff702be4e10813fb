"""Warn about valid operands that look like a mistake: wildcards, quoted numbers and times."""

from __future__ import annotations

from collections.abc import Iterator

from tamis.expression.predicates import Predicate
from tamis.index.advice.cautions import Caution, shortened
from tamis.language import Span, to_text


def of_operands(leaves: list[tuple[Predicate, Span]]) -> Iterator[Caution]:
    """Yield warnings about single predicates, at most one for each."""
    for predicate, span in leaves:
        suspicion = predicate.suspicion()
        if suspicion is not None:
            code, text = suspicion
            yield Caution(code, f"{shortened(to_text(predicate))}: {text}", span.start, span.end)
