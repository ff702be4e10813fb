"""Measure Lucene Monitor on the same queries and documents; both must find the same pairs."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from bench.peers.programs import java
from bench.workloads.w3 import W3
from tamis import Index

PATIENCE_S = 1_800


class Pair(NamedTuple):
    """Documents that each handles in a second of processor time, and the matches of a document."""

    documents: int
    tamis: float
    lucene: float
    tamis_build_s: float
    lucene_build_s: float
    matches: float

    @property
    def ratio(self) -> float:
        """How many times as fast Tamis is."""
        return self.tamis / self.lucene


def against_lucene(texts: W3, queries: int, documents: int, batch: int, seconds: float) -> Pair:
    """Return both rates on the documents that Lucene Monitor handles in ``seconds``."""
    book, stream = texts.subscriptions(queries, 1), texts.events(documents, 3)
    lines, ids = map(" ".join, book["string"].to_pylist()), book["id"].to_pylist()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("queries", "documents", "answers")]
        files[0].write_text("\n".join(lines), encoding="ascii")
        files[1].write_text("\n".join(stream["text"].to_pylist()), encoding="ascii")
        command = [
            *java("lucene")[:-2],
            "tamis.peers.lucene.Texts",
            *map(str, files),
            str(batch),
            str(seconds),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
        figures = json.loads(done.stdout.strip().splitlines()[-1])
        answers = [sorted(ids[int(at)] for at in row.split()) for row in files[2].read_text().splitlines()]
    chosen = stream.slice(0, figures["documents"]).combine_chunks()
    begin = time.process_time()
    index = Index.build(book, sample=texts.events(500, 2))
    built = time.process_time() - begin
    index.match_many(chosen.slice(0, 64), threads=1)
    begin = time.process_time()
    found = index.match_many(chosen, threads=1).table
    spent = time.process_time() - begin
    _compare(found, answers)
    count = chosen.num_rows
    return Pair(
        count,
        count / spent,
        count / figures["seconds"],
        built,
        figures["build_s"],
        found.num_rows / count,
    )


def _compare(found: pa.Table, answers: list[list[str]]) -> None:
    own: dict[int, list[str]] = defaultdict(list)
    for event, name in zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True):
        own[event].append(name)
    for at, answer in enumerate(answers):
        if sorted(own[at]) != answer:
            odd = set(own[at]).symmetric_difference(answer)
            raise AssertionError(f"document {at}: one of the two lacks {sorted(odd)[:5]}")
