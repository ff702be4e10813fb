"""Read documents whose rules are single expressions: JSON values, or texts.

A file is one rule, whose id is the name of the file. Each member of a list in a JSON file, and each line of a
``.jsonl`` file, is one rule, too: the rule alone, or an object with ``id``, ``rule`` and any metadata.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from tamis.errors import ParseError, SubscriptionError, TamisError
from tamis.expression.operands import over
from tamis.expression.tree import Expr
from tamis.language import check_tree
from tamis.language.json_form import decode_json
from tamis.language.parse import utf8_size
from tamis.limits import Limits
from tamis.rules.documents import Document
from tamis.rules.imported import Place, Refused, Rule


class Entry(NamedTuple):
    """One rule as it is written, before it is read."""

    id: str
    rule: Any
    place: Place
    metadata: dict[str, Any]
    priority: float = 0.0


class Expressions(ABC):
    """The base of importers whose rules are single expressions."""

    JSON: ClassVar[bool] = False  # whether a rule is a JSON value; otherwise it is a text

    def __init__(self, limits: Limits) -> None:
        self.limits = limits

    @abstractmethod
    def expression(self, rule: Any, differences: list[str]) -> Expr:
        """Return the tree of a rule; add to ``differences`` where it decides otherwise than the original."""

    def entry(self, value: Any, name: str, place: Place) -> Entry:
        """Return the entry of a JSON value: an object with ``id`` and ``rule``, or a rule alone."""
        if isinstance(value, Mapping) and "rule" in value and "id" in value:
            metadata = {key: one for key, one in value.items() if key not in ("id", "rule")}
            return Entry(_text_of_id(value["id"]), value["rule"], place, metadata)
        return Entry(name, value, place, {})

    def rules(self, document: Document) -> Iterator[Rule | Refused]:
        """Yield every rule of a document, imported or refused."""
        for value, name, place in self._values(document):
            if isinstance(value, TamisError):
                yield Refused(name, place, value)
                continue
            try:
                entry = self.entry(value, name, place)
            except TamisError as bad:
                yield Refused(name, place, bad)
                continue
            yield self._imported(entry)

    def _imported(self, entry: Entry) -> Rule | Refused:
        differences: list[str] = []
        try:
            if not self.JSON and not isinstance(entry.rule, str):
                raise ParseError(f"a rule is a text, not a {type(entry.rule).__name__}")
            if not self.JSON and (size := utf8_size(entry.rule)) > self.limits.expression_bytes:
                raise over("expression_bytes", self.limits.expression_bytes, f"the rule has {size} bytes")
            tree = check_tree(self.expression(entry.rule, differences), self.limits)
        except TamisError as bad:
            return Refused(entry.id, entry.place, bad, str(entry.metadata.get("title", "")))
        except RecursionError:
            error = ParseError("the rule nests too deeply")
            return Refused(entry.id, entry.place, error, str(entry.metadata.get("title", "")))
        stated = tuple(dict.fromkeys(differences))
        return Rule(entry.id, tree, entry.place, entry.metadata, stated, entry.priority)

    def _values(self, document: Document) -> Iterator[tuple[Any, str, Place]]:
        """Yield each value of a document (an error, if it cannot be read), with a name and its place."""
        file, name = document.file, document.name
        if file is not None and file.endswith(".jsonl"):
            for line, text in enumerate(document.text.splitlines(), 1):
                if text.strip():
                    yield self._decoded(text), f"{name}:{line}", Place(file, line)
            return
        if not self.JSON:
            yield document.text.strip(), name, Place(file)
            return
        found = self._decoded(document.text)
        if not isinstance(found, list):
            yield found, name, Place(file)
            return
        for number, value in enumerate(found, 1):
            yield value, f"{name}:{number}", Place(file)

    def _decoded(self, text: str) -> Any:
        try:
            # A file holds many rules; each rule has its own limit behind.
            return decode_json(text, Limits(expression_bytes=max(1, len(text) * 4)))
        except TamisError as bad:
            return bad


def _text_of_id(identity: Any) -> str:
    if isinstance(identity, str | int) and not isinstance(identity, bool):
        return str(identity)
    raise SubscriptionError(f"an id is a text, not a {type(identity).__name__}")
