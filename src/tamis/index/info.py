"""Collect figures about an index, and show them at a prompt and in a notebook."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.index.card import figures as card_figures
from tamis.index.display import many, pairs, size_text, table
from tamis.index.snapshot import Layer, Snapshot
from tamis.index.writer import Writer
from tamis.values.analysis import shown

_COLUMNS = ("engine", "subscriptions", "removed", "clauses", "attributes", "bytes")


def figures(writer: Writer) -> dict[str, Any]:
    """Return figures about the index that ``writer`` changes, and about each of its segments."""
    snapshot = writer.current
    return {
        "subscriptions": snapshot.count,
        "fresh": snapshot.fresh,
        "engine": writer.engine,
        "parameters": dict(writer.parameters),
        "analysers": {attribute: shown(name) for attribute, name in writer.analysers.items()},
        "sample": writer.sample.count,
        "bytes": sum(len(layer.segment.arena.block) for layer in snapshot.layers),
        "head": _head(writer),
        "device": card_figures(),
        "segments": [_segment(layer, snapshot) for layer in snapshot.layers],
    }


def _head(writer: Writer) -> dict[str, Any]:
    """Return figures about the heads.

    ``waiting`` counts the full heads that a merge has yet to reach, ``full`` how often one was full and why.
    """
    snapshot = writer.current
    sealed = len(snapshot.sealed) - len(snapshot.layers)
    return {
        "structure": writer.head,
        "subscriptions": snapshot.fresh,
        "removed": sum(view.removed for view in snapshot.heads),
        "clauses": sum(view.clauses for view in snapshot.heads),
        "bytes": sum(view.head.nbytes for view in snapshot.heads),
        "waiting": sealed,
        "full": dict(writer.sealed_for),
    }


def _segment(layer: Layer, snapshot: Snapshot) -> dict[str, Any]:
    segment = layer.segment
    choice = getattr(segment.engine, "choice", None)
    return {
        "engine": segment.engine_name,
        **({"choice": choice} if choice else {}),
        "subscriptions": segment.count,
        "removed": segment.count - len(layer.living(snapshot.sequence)),
        "clauses": segment.clauses,
        "covers": int(np.count_nonzero(segment.revise & 1)),
        "attributes": segment.space.attributes,
        "dimensions": len(segment.arena["clauses.cells"]),
        "cells": int(segment.arena["clauses.cells"].sum()),
        "bytes": len(segment.arena.block),
    }


def line(info: dict[str, Any]) -> str:
    """Return a line such as ``<tamis.Index: 3 subscriptions, hybrid, 1 segment, 2.5 KiB>``."""
    count, segments = many(info["subscriptions"], "subscription"), many(len(info["segments"]), "segment")
    return f"<tamis.Index: {count}, {info['engine']}, {segments}, {size_text(info['bytes'])}>"


def tables(info: dict[str, Any]) -> str:
    """Return the figures as HTML, with a row for each segment."""
    fields = {"engine": info["engine"], "size": size_text(info["bytes"]), "fresh": info["fresh"]}
    rows = [[segment[name] for name in _COLUMNS] for segment in info["segments"]]
    title = f"Index of {many(info['subscriptions'], 'subscription')}"
    return pairs(fields, title) + table(_COLUMNS, rows, "segments")
