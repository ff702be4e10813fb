"""Make the cases: plain words, and the same queries and documents with one thing that plain words lack."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from bench.workloads.w3 import W3
from bench.workloads.words import vocabulary

ACCENTS = 50  # letters of a document that get an accent
FIRST = 300  # words of the language before this rank stand in most documents

Subscriptions = list[dict[str, str]]


class Case(NamedTuple):
    """Subscriptions beside the plain queries, and the change of the documents."""

    name: str
    extra: Subscriptions
    changed: Callable[[pa.Table], pa.Table] = lambda documents: documents


def cases(texts: W3, documents: pa.Table) -> list[Case]:
    """Return all cases; phrases are taken from ``documents``, which no case is measured on."""
    chance = random.Random(1)
    words = vocabulary(texts.vocabulary).to_pylist()[FIRST:50_000]
    phrases = list(_phrases(documents, 3_000, chance))

    def some(count: int, form: Callable[[str], str]) -> Subscriptions:
        return _named(form(word) for word in chance.sample(words, count))

    return [
        Case("plain words", []),
        Case("one phrase", _named(phrases[:1])),
        Case("accents in each document", [], accented),
        Case("3,000 phrases", _named(phrases)),
        Case(
            "1,000 prefixes and suffixes",
            some(500, lambda w: f"{w[:5]}*") + some(500, lambda w: f"*{w[-5:]}"),
        ),
        Case("1,000 inner wildcards", some(1_000, lambda w: f"{w[:3]}*{w[-2:]}")),
        Case("1,000 fuzzy words", some(1_000, lambda w: f"{w}~{1 if len(w) < 6 else 2}")),
        Case("100 regular expressions", some(100, lambda w: f"/{w[:3]}[a-m]?.{w[-1]}/")),
        Case("100 ranges", some(100, lambda w: f"[{w} TO {w}z]")),
    ]


def _named(terms: Iterator[str] | Any) -> Subscriptions:
    return [
        {
            "id": f"extra {term}",
            "expression": f"text HAS {'PHRASE ' if ' ' in term and term[0] != '[' else ''}'{term}'",
        }
        for term in dict.fromkeys(terms)
    ]


def _phrases(documents: pa.Table, count: int, chance: random.Random) -> Iterator[str]:
    """Yield pairs of neighbours in documents."""
    found = documents["text"].to_pylist()
    for _ in range(count):
        words = chance.choice(found).split(" ")
        at = chance.randrange(max(1, len(words) - 1))
        yield " ".join(words[at : at + 2])


def accented(documents: pa.Table) -> pa.Table:
    """Return the documents with accents on some letters of each, which no match depends on."""
    changed = pc.replace_substring(documents["text"], "e", "é", max_replacements=ACCENTS)
    return documents.set_column(0, "text", changed)
