"""Rewrite trees for the index: named passes, normal forms with estimates, necessary covers."""

from tamis.normal.clauses import Clauses, clauses_of, cnf_size, cover, demands_of, dnf_size, to_cnf, to_dnf
from tamis.normal.passes import (
    PASSES,
    Clause,
    Literal,
    attribute_of,
    drop_weights,
    flatten,
    fold_constants,
    merge_same_attribute,
    needs_presence,
    normalise,
    push_not_inward,
    sort_and_dedupe,
)
from tamis.normal.verdicts import follows, is_always, is_never

__all__ = [
    "PASSES",
    "Clause",
    "Clauses",
    "Literal",
    "attribute_of",
    "clauses_of",
    "cnf_size",
    "cover",
    "demands_of",
    "dnf_size",
    "drop_weights",
    "flatten",
    "fold_constants",
    "follows",
    "is_always",
    "is_never",
    "merge_same_attribute",
    "needs_presence",
    "normalise",
    "push_not_inward",
    "sort_and_dedupe",
    "to_cnf",
    "to_dnf",
]
