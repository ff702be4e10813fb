"""List the formats that rules are imported from, and import rules in one of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tamis.errors import DuplicateSubscription, InputError
from tamis.expression.operands import over
from tamis.extras import needs_extra
from tamis.language.parse import utf8_size
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.rules.documents import Document, documents_of, files_of
from tamis.rules.imported import Imported, Refused, Rule


class Importer(Protocol):
    """An importer: it is made with the options of one import and reads documents."""

    def __init__(self, limits: Limits, **options: Any) -> None:
        """Take the options; raise :class:`~tamis.errors.InputError` for one that is unusable."""

    def rules(self, document: Document) -> Iterator[Rule | Refused]:
        """Yield every rule of a document, imported or refused."""
        ...


class Format(NamedTuple):
    """The module and the class of an importer, and the endings of its files."""

    module: str
    name: str
    suffixes: tuple[str, ...]

    def importer(self) -> type[Importer]:
        """Return the importer; raise :class:`~tamis.errors.ExtraMissing` if it needs another package."""
        with needs_extra("this import of rules", "rules"):
            found: type[Importer] = getattr(import_module(f"tamis.rules.{self.module}"), self.name)
        return found


_JSON = (".json", ".jsonl")
FORMATS: dict[str, Format] = {
    "sigma": Format("sigma.sigma", "Sigma", (".yml", ".yaml")),
    "elasticsearch": Format("elasticsearch.queries", "Elasticsearch", _JSON),
    "mongodb": Format("mongodb.filters", "MongoDB", _JSON),
    "jsonlogic": Format("jsonlogic.rules", "JsonLogic", _JSON),
    "unleash": Format("flags.unleash", "Unleash", _JSON),
    "growthbook": Format("flags.growthbook", "GrowthBook", _JSON),
    "cql2": Format("cql2.filters", "CQL2", (".cql2", ".txt", *_JSON)),
    "cesql": Format("cesql.expressions", "CESQL", (".cesql", ".txt", ".jsonl")),
    "cel": Format("cel.expressions", "CEL", (".cel", ".txt", ".jsonl")),
    "eventbridge": Format("languages", "EventBridge", _JSON),
    "lucene": Format("languages", "Lucene", (".lucene", ".txt", ".jsonl")),
    "sql": Format("sql.conditions", "SQL", (".sql", ".jsonl")),
}


def read(
    form: str,
    source: str | Path,
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Any,
) -> Imported:
    """Import the rules of ``source`` in one of :data:`FORMATS`; ``options`` are those of the format.

    A string is the text of rules. A path is a file, or a folder whose files are read.
    """
    importer = _importer(form, limits, options)
    files = files_of(source, FORMATS[form].suffixes)
    kept: list[Rule] = []
    refused: list[Refused] = []
    for number, document in enumerate(documents_of(files, limits), 1):
        for one in [document] if isinstance(document, Refused) else importer.rules(document):
            checked = _within_limits(one, limits) if isinstance(one, Rule) else one
            if isinstance(checked, Rule):
                kept.append(checked)
            else:
                refused.append(checked)
        if progress is not None:
            progress(number, len(files))
    return Imported(form, *_without_doubles(kept, refused))


def _importer(form: str, limits: Limits, options: dict[str, Any]) -> Importer:
    if form not in FORMATS:
        raise InputError(f"there is no rule format {form!r:.40}; there are {', '.join(FORMATS)}")
    kind = FORMATS[form].importer()
    known = list(inspect.signature(kind.__init__).parameters)[2:]
    for name in options:
        if name not in known:
            allowed = f"there are {', '.join(known)}" if known else "there are none"
            raise InputError(f"the import of {form} has no option {name!r:.40}; {allowed}")
    return kind(limits, **options)


def _within_limits(rule: Rule, limits: Limits) -> Rule | Refused:
    """Return the rule; refuse it if its text is too long to be read again."""
    if (size := utf8_size(rule.text)) <= limits.expression_bytes:
        return rule
    error = over("expression_bytes", limits.expression_bytes, f"the expression has {size} bytes of text")
    return Refused(rule.id, rule.place, error, rule.title)


def _without_doubles(rules: list[Rule], refused: list[Refused]) -> tuple[list[Rule], list[Refused]]:
    """Refuse each rule whose id an earlier one has."""
    first: dict[str, Rule] = {}
    for rule in rules:
        earlier = first.setdefault(rule.id, rule)
        if earlier is not rule:
            error = DuplicateSubscription(
                f"the id {rule.id[:80]!r} stands at {earlier.place}, too", subscription=rule.id
            )
            refused.append(Refused(rule.id, rule.place, error, rule.title))
    return list(first.values()), refused
