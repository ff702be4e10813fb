"""Turn the log source of a Sigma rule into a condition on events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from sigma.types import SigmaNumber, SigmaString

from tamis.errors import InputError, TamisError
from tamis.expression.predicates import Like
from tamis.expression.tree import Expr
from tamis.language import parse
from tamis.rules.sigma.values import predicate
from tamis.rules.sigma.windows import CHANNELS, EVENTS
from tamis.rules.trees import all_of, any_of, literal

KEYS = ("product", "category", "service")
_WINDOWS_LOG = "WinEventLog:"
_MOST_REWRITES = 4
# Other tools write title, order, backends and fieldmappings; docs/rules/sigma.md says that they are ignored.
_FILE_KEYS = {"logsources", "fields", "title", "order", "backends"}
_SOURCE_KEYS = {*KEYS, "where", "conditions", "sources", "rewrite", "fieldmappings"}

Source = dict[str, str]  # product, category and service, as far as a rule names them


class Entry(NamedTuple):
    """A log source: what a rule must name, and the condition, which may be that of another source."""

    names: Source
    where: tuple[Expr, ...]
    rewrite: Source | None = None


class LogSources:
    """The log sources of one configuration, and the attributes that stand for fields."""

    def __init__(self, entries: Iterable[Entry], fields: Mapping[str, str] | None = None) -> None:
        self._entries = tuple(entries)
        self._fields = dict(fields or {})

    @classmethod
    def read(cls, source: str | Path | None) -> LogSources:
        """Return those of a configuration file, or of Windows (``"windows"``), or none (``"none"``)."""
        if source is None or source == "windows":
            return cls(_windows())
        if source == "none":
            return cls(())
        path = Path(source)
        try:
            found = yaml.safe_load(path.read_text(encoding="utf-8"))
        except OSError as bad:
            raise InputError(f"the log sources at {path}: {bad.strerror}") from None
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as bad:
            raise InputError(f"the log sources at {path} are no YAML: {bad}") from None
        return cls(*_configuration(found, path))

    def attribute(self, field: str) -> str:
        """Return the attribute that a field of a rule is in the events."""
        return self._fields.get(field, field)

    def condition(self, source: Source, depth: int = 0) -> Expr | None:
        """Return the condition of events from ``source``; ``None`` if no entry describes it."""
        found: list[Expr] = []
        for entry in self._entries:
            if any(source.get(key) != name for key, name in entry.names.items()):
                continue
            parts = list(entry.where)
            if entry.rewrite is not None and depth < _MOST_REWRITES:
                rewritten = self.condition(entry.rewrite, depth + 1)
                parts += [rewritten] if rewritten is not None else []
            if parts:
                found.append(all_of(parts))
        return any_of(found) if found else None


def attributes_of(source: Source) -> Expr:
    """Return the condition on attributes that a pipeline sets: ``_logsource.product`` and so on."""
    return all_of([Like(f"_logsource.{key}", literal(name), fold=True) for key, name in source.items()])


def _windows() -> Iterable[Entry]:
    for service, channels in CHANNELS.items():
        yield Entry({"product": "windows", "service": service}, (_channel(channels),))
    for service, categories in EVENTS.items():
        for category, conditions in categories.items():
            names = {"product": "windows", "category": category}
            yield Entry(names, _equal(conditions), {"product": "windows", "service": service})
    yield Entry({"category": "antivirus"}, (), {"product": "windows", "service": "windefend"})


def _channel(names: Iterable[str]) -> Expr:
    return any_of([Like("Channel", literal(name), fold=True) for name in names])


def _equal(conditions: Mapping[str, Any]) -> tuple[Expr, ...]:
    """Return a test of each field: one of its values, compared as Sigma compares."""
    return tuple(
        any_of([_test(field, value) for value in (wanted if isinstance(wanted, list | tuple) else [wanted])])
        for field, wanted in conditions.items()
    )


def _test(field: str, value: Any) -> Expr:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return predicate(field, SigmaNumber(value) if is_number else SigmaString(str(value)))


def _configuration(found: Any, path: Path) -> tuple[list[Entry], dict[str, str]]:
    listed = found.get("logsources") if isinstance(found, dict) else None
    rows = list(listed.values()) if isinstance(listed, dict) else listed
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"the log sources at {path} have no list 'logsources'; docs/rules/sigma.md has one")
    _refuse_unknown(found, _FILE_KEYS, path)
    fields = found.get("fields") or {}
    if not isinstance(fields, dict) or not all(isinstance(name, str) for name in (*fields, *fields.values())):
        raise InputError(f"'fields' at {path} maps names of fields to names of attributes")
    return [_entry(row, path) for row in rows], fields


def _refuse_unknown(row: dict[str, Any], known: set[str], path: Path) -> None:
    for key in row:
        if key not in known:
            raise InputError(
                f"{str(key)[:40]!r} at {path} is no key here; there are {', '.join(sorted(known))}"
            )


def _entry(row: dict[str, Any], path: Path) -> Entry:
    _refuse_unknown(row, _SOURCE_KEYS, path)
    names = _names(row)
    if not names:
        raise InputError(f"a log source at {path} names no product, category or service: {row}")
    where: list[Expr] = []
    try:
        if "where" in row:
            where.append(parse(row["where"]))
        where += _equal(row.get("conditions") or {})
    except (TamisError, AttributeError) as bad:
        raise InputError(f"the log source {names} at {path}: {bad}") from None
    sources = row.get("sources") or ()
    logs = [name.removeprefix(_WINDOWS_LOG) for name in sources if str(name).startswith(_WINDOWS_LOG)]
    where += [_channel(logs)] if logs else []
    return Entry(names, tuple(where), _names(row["rewrite"]) if row.get("rewrite") else None)


def _names(row: Mapping[str, Any]) -> Source:
    return {key: str(row[key]) for key in KEYS if row.get(key)}
