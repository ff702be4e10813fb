"""Templates of notifications: text with placeholders and sections, without any program code.

::

    {{count}} new for {{subscription}}        a placeholder: the value of that name, escaped in HTML
    {{#events}} … {{/events}}                 once for each event, or once for a plain value
    {{^events}} … {{/events}}                 only if there is none

Inside ``events`` there are ``id``, ``time``, ``score``, ``summary``, ``attributes.NAME``, and the section
``attributes`` with ``name``, ``value`` and ``marked``, the value with its highlights. The section
``highlights`` has only the attributes with highlights. A section tag alone on its line leaves no line. Users
write templates: parsing takes time in proportion to the text, rendering in proportion to the output, and the
output is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from tamis.errors import DeliveryError
from tamis.limits import DEFAULT_LIMITS, Limits

MESSAGE = ("id", "kind", "owner", "subscription", "expression", "count", "more", "from", "to", "created")
EVENT = ("id", "time", "score", "summary")
ATTRIBUTE = ("name", "value", "marked")
DEPTH = 3  # of nested sections

_TAG = re.compile(r"\{\{([^{}]*)\}\}")
_ALONE = re.compile(r"^[ \t]*(\{\{[#^/][^{}\n]*\}\})[ \t]*\n", re.MULTILINE)
_INSIDE = {"events": EVENT, "attributes": ATTRIBUTE, "highlights": ATTRIBUTE}


class Placeholder(NamedTuple):
    """A placeholder for a value."""

    name: str


class Section(NamedTuple):
    """A section that is repeated or left out."""

    name: str
    negated: bool
    body: tuple[Node, ...]


Node = str | Placeholder | Section
Template = tuple[Node, ...]
Values = Mapping[str, Any]


@lru_cache(maxsize=1_000)
def parse_template(text: str, limits: Limits = DEFAULT_LIMITS) -> Template:
    """Parse a template, or raise a ``DeliveryError`` that shows the faulty tag."""
    _check_size(text, limits)
    if "{{{" in text:  # other template languages write unescaped values so
        raise _unreadable(text[text.index("{{{") :])
    pieces = _TAG.split(_ALONE.sub(r"\1", text))
    if len(pieces) // 2 > limits.template_tags:
        raise DeliveryError(
            f"the template has {len(pieces) // 2} tags, more than template_tags = {limits.template_tags}",
            limit="template_tags",
        )
    return _read(pieces)


def _check_size(text: str, limits: Limits) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as bad:
        raise DeliveryError(
            f"the template holds a lone surrogate at character {bad.start}, which is no text; remove it"
        ) from None
    if size > limits.template_bytes:
        raise DeliveryError(
            f"the template has {size} bytes, more than template_bytes = {limits.template_bytes}",
            limit="template_bytes",
        )


def _read(pieces: list[str]) -> Template:
    """Parse ``pieces``, which are text and tag contents in turn."""
    done: list[Node] = []
    open_sections: list[tuple[str, bool, list[Node]]] = []
    for number, piece in enumerate(pieces):
        if number % 2 == 0:
            done += _plain(piece)
            continue
        mark, name = _tag(piece)
        if mark in ("#", "^"):
            _check_section(name, [section for section, *_ in open_sections])
            open_sections.append((name, mark == "^", done))
            done = []
        elif mark == "/":
            done = _closed(name, open_sections, done)
        else:
            _check_placeholder(name, [section for section, *_ in open_sections])
            done.append(Placeholder(name))
    if open_sections:
        raise DeliveryError(
            f"the section {open_sections[-1][0]!r} is never closed; write {{{{/{open_sections[-1][0]}}}}}"
        )
    return tuple(done)


def _plain(piece: str) -> list[Node]:
    if "{{" in piece:
        raise _unreadable(piece[piece.index("{{") :])
    return [piece] if piece else []


def _unreadable(text: str) -> DeliveryError:
    return DeliveryError(f"the tag {text[:40]!r} cannot be read; a place is written {{{{name}}}}")


def _tag(piece: str) -> tuple[str, str]:
    said = piece.strip()
    mark = said[:1] if said[:1] in ("#", "^", "/") else ""
    return mark, said[len(mark) :].strip()


def _closed(name: str, open_sections: list[tuple[str, bool, list[Node]]], body: list[Node]) -> list[Node]:
    if not open_sections or open_sections[-1][0] != name:
        raise DeliveryError(f"{{{{/{name[:40]}}}}} closes a section that is not open there")
    _, negated, outer = open_sections.pop()
    return [*outer, Section(name, negated, tuple(body))]


def _check_section(name: str, around: list[str]) -> None:
    if len(around) >= DEPTH:
        raise DeliveryError(f"sections stand in one another at most {DEPTH} deep, not {name[:40]!r}")
    if name in around:  # nested loops over the same list would take time without use
        raise DeliveryError(f"the section {name[:40]!r} cannot stand in itself")
    if name in ("attributes", "highlights") and "events" not in around:
        raise DeliveryError(f"the section {name!r} stands inside {{{{#events}}}} … {{{{/events}}}}")
    if name not in _INSIDE:
        _check_placeholder(name, around)


def _check_placeholder(name: str, around: list[str]) -> None:
    allowed = [*MESSAGE, *(known for section in around for known in _INSIDE.get(section, ()))]
    is_attribute = "events" in around and name.startswith("attributes.") and name != "attributes."
    if name not in allowed and not is_attribute:
        inside = "" if "events" in around else "; those of an event stand inside {{#events}} … {{/events}}"
        raise DeliveryError(
            f"the template knows no {name[:40]!r} there; it knows {', '.join(dict.fromkeys(allowed))}{inside}"
        )


def render(template: Template, values: Values, escape: Callable[[str], str], most: int) -> str | None:
    """Return the rendered template, or ``None`` if it has more than ``most`` characters."""
    out = _Output(most)
    _write(template, (values,), escape, out)
    return "".join(out.pieces) if out.left >= 0 else None


class _Output:
    def __init__(self, most: int) -> None:
        self.pieces: list[str] = []
        self.left = most

    def put(self, piece: str) -> None:
        self.left -= len(piece)
        if self.left >= 0:
            self.pieces.append(piece)


def _write(
    nodes: Iterable[Node], scopes: tuple[Values, ...], escape: Callable[[str], str], out: _Output
) -> None:
    for node in nodes:
        if out.left < 0:  # the output is too long already
            return
        if isinstance(node, str):
            out.put(node)
        elif isinstance(node, Placeholder):
            value = _find(node.name, scopes)
            text = value if isinstance(value, str) else str(value)  # of a subclass that escape knows, too
            out.put(escape("" if value is None else text))
        else:
            for inner in _repeated(node, scopes):
                _write(node.body, inner, escape, out)


def _repeated(section: Section, scopes: tuple[Values, ...]) -> Iterable[tuple[Values, ...]]:
    value = _find(section.name, scopes)
    if section.negated:
        return () if value else (scopes,)
    if isinstance(value, list):
        return ((*scopes, item) for item in value)
    return (scopes,) if value else ()


def _find(name: str, scopes: tuple[Values, ...]) -> Any:
    """Return the value in the innermost scope that has the name, or ``None``."""
    return next((scope[name] for scope in reversed(scopes) if name in scope), None)
