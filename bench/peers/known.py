"""List the peers by name: the way to start each, and notes about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bench.peers import programs


@dataclass(frozen=True)
class Known:
    """A peer, its command and its notes."""

    name: str
    command: Callable[[], list[str]]
    """The command that starts it; raises :class:`programs.Unavailable`."""

    remark: str
    batch: bool = False
    """Whether it takes many events at once; it is then compared with Tamis doing the same."""

    python_engine: bool = False
    version: Callable[[], str] | None = None
    """The version of programs that do not report it themselves."""


def _python(
    name: str, remark: str, module: str = "", *, tool: str = "", batch: bool = False, engine: bool = False
) -> Known:
    return Known(name, partial(programs.python, name, module, tool), remark, batch, engine)


def _java(name: str, profile: str, remark: str) -> Known:
    command = partial(programs.java, profile)
    return Known(name, command, remark, version=partial(programs.java_version, profile))


TAMIS = _python("tamis", "one dictionary at a time")
TAMIS_BATCH = _python("tamis-batch", "Arrow tables of 2,000 events", batch=True)

_ALL = (
    _python("rule-engine", "each rule asked", "rule_engine", engine=True),
    _python("json-logic", "each rule asked", "json_logic", engine=True),
    _python("eval", "each rule asked, compiled", engine=True),
    _python("sqlite", "indexed join on the narrowest condition"),
    _python("duckdb", "join on the narrowest condition", "duckdb", batch=True),
    _python("spark", "the same join, one core", "pyspark", tool="java", batch=True),
    _java("lucene-monitor", "lucene", "its presearcher does not index ranges"),
    _java("event-ruler", "ruler", "an automaton"),
    _java("vespa", "vespa", "an interval index"),
    Known("a-tree", programs.rust, "a shared tree of expressions", version=programs.rust_version),
)

PEERS: dict[str, Known] = {peer.name: peer for peer in _ALL}
