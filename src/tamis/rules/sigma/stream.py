"""Read the documents of a YAML stream, each with its first line, without trust in its author."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from tamis.errors import SubscriptionError, TamisError

DEEPEST = (
    50  # The parser of libyaml recurses without a bound of its own, so a deep document would end the process.
)


class Part(NamedTuple):
    """A document of a stream: its first line, and its content or the reason why it has none."""

    line: int
    content: dict[str, Any] | TamisError


def parts_of(text: str) -> Iterator[Part]:
    """Yield every document of a stream; after a syntax error, the rest of the stream is lost."""
    try:
        repeated = _repeated_keys(text)
        loader = yaml.CSafeLoader(text)
    except SubscriptionError as bad:
        yield Part(1, bad)
        return
    except yaml.YAMLError as bad:
        yield _unreadable(bad)
        return
    number = 0
    try:
        while loader.check_node():
            node: Any = loader.get_node()
            found = repeated.get(number) or _content(loader, node)
            if found is not None:
                yield Part(node.start_mark.line + 1, found)
            number += 1
    except yaml.YAMLError as bad:
        yield _unreadable(bad)
    finally:
        loader.dispose()


def _content(loader: Any, node: Any) -> dict[str, Any] | TamisError | None:
    """Return the content of a document; ``None`` if it is empty, as behind a last ``---``."""
    try:
        found = loader.construct_document(node)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as bad:
        return SubscriptionError(f"the document cannot be read: {_one_line(bad)}")
    if found is None or isinstance(found, dict):
        return found
    return SubscriptionError(f"a Sigma rule is a mapping, not a {type(found).__name__}")


def _unreadable(bad: yaml.YAMLError) -> Part:
    mark = getattr(bad, "problem_mark", None)
    line = mark.line + 1 if mark is not None else 1
    return Part(line, SubscriptionError(f"the text is no YAML: {_one_line(bad)}"))


def _one_line(bad: Exception) -> str:
    return " ".join(str(bad).split()).replace('in "<unicode string>", ', "")[:300]


def _repeated_keys(text: str) -> dict[int, SubscriptionError]:
    """Return the first repeated key of each document that has one; YAML would keep the last without a word.

    Raise an error if the documents are nested too deeply.
    """
    found: dict[int, SubscriptionError] = {}
    number = -1
    open_nodes: list[set[str] | None] = []  # the keys of a mapping; None stands for a sequence
    at_key: list[bool] = []
    events: Any = yaml.parse(text, Loader=yaml.CSafeLoader)
    try:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                number += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                open_nodes.pop()
                at_key.pop()
            elif isinstance(event, yaml.NodeEvent):
                line = event.start_mark.line + 1  # type: ignore[union-attr]
                if open_nodes and (keys := open_nodes[-1]) is not None:
                    if at_key[-1] and isinstance(event, yaml.ScalarEvent):
                        if event.value in keys:
                            what = f"line {line}: the key {event.value[:80]!r} stands twice in one mapping"
                            found.setdefault(number, SubscriptionError(what))
                        keys.add(event.value)
                    at_key[-1] = not at_key[-1]
                if isinstance(event, yaml.CollectionStartEvent):
                    open_nodes.append(set() if isinstance(event, yaml.MappingStartEvent) else None)
                    at_key.append(True)
                    if len(open_nodes) > DEEPEST:
                        raise SubscriptionError(f"line {line}: the YAML nests deeper than {DEEPEST} levels")
    except yaml.YAMLError:
        pass  # whoever reads the documents meets it at the same place
    return found
