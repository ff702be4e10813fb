"""Operands that are valid and yet look as if another form was meant: wildcards, quoted numbers and times."""

from __future__ import annotations

from collections.abc import Iterator

from tamis.expression.predicates import Predicate
from tamis.index.advice.cautions import Caution, shortened
from tamis.language import Span, to_text


def of_operands(leaves: list[tuple[Predicate, Span]]) -> Iterator[Caution]:
    """Cautions about single predicates, at most one for each."""
    for predicate, span in leaves:
        said = predicate.suspicion()
        if said is not None:
            code, text = said
            yield Caution(code, f"{shortened(to_text(predicate))}: {text}", span.start, span.end)
