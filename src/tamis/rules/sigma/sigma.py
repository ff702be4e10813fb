"""Import the rules of Sigma documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

from sigma.collection import SigmaCollection
from sigma.conditions import (
    ConditionAND,
    ConditionFieldEqualsValueExpression,
    ConditionNOT,
    ConditionOR,
    ConditionValueExpression,
)
from sigma.exceptions import SigmaError
from sigma.policy import SigmaPolicy
from sigma.rule import SigmaRule
from sigma.types import SigmaRegularExpression, SigmaString, SpecialChars

from tamis.errors import InputError, PatternError, SubscriptionError, TamisError
from tamis.expression.predicates import Like
from tamis.expression.tree import And, Expr, Not
from tamis.language import check_tree, to_text
from tamis.limits import Limits
from tamis.rules.documents import Document
from tamis.rules.imported import Place, Refused, Rule
from tamis.rules.sigma.detections import prepare
from tamis.rules.sigma.sources import KEYS, LogSources, attributes_of
from tamis.rules.sigma.stream import parts_of
from tamis.rules.sigma.values import pattern_of, predicate
from tamis.rules.trees import any_of
from tamis.values.pattern import compiled

UNMAPPED = ("attributes", "ignore", "refuse")
_METADATA = ("title", "description", "author", "status", "level", "license")
_LONGEST_TITLE = 200


class _QuietRE2:
    """The engine of regular expressions for pySigma; its own one logs errors to stderr."""

    error = PatternError

    def compile(self, pattern: str, flags: int = 0) -> Any:
        """Return the program of a pattern; check_tree compiles it once more with its flags."""
        return compiled(pattern)


_POLICY = SigmaPolicy(regex_engine=cast(Any, _QuietRE2()))


class Sigma:
    """The importer.

    ``logsources`` is ``"windows"``, ``"none"`` or a configuration file. ``unmapped`` says what becomes of a
    log source that it does not describe. ``keywords`` names the attribute in which keywords are searched.
    ``placeholders`` maps names to lists of values.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        logsources: str | Path | None = None,
        unmapped: str = "attributes",
        keywords: str | None = None,
        placeholders: Mapping[str, list[Any]] | None = None,
    ) -> None:
        if unmapped not in UNMAPPED:
            raise InputError(f"unmapped is one of {', '.join(UNMAPPED)}, not {unmapped!r}")
        self._limits, self._unmapped, self._keywords = limits, unmapped, keywords
        self._sources = LogSources.read(logsources)
        self._placeholders = dict(placeholders or {})

    def rules(self, document: Document) -> Iterator[Rule | Refused]:
        """Yield every rule of a document, imported or refused."""
        before: list[dict[str, Any]] = []  # what `action: global` adds to the rules behind it
        for part in parts_of(document.text):
            place = Place(document.file, part.line)
            if isinstance(part.content, TamisError):
                yield Refused(str(place), place, part.content)
                continue
            action = part.content.get("action")
            if action == "global":
                before = [part.content]
            elif action == "reset":
                before = []
            else:
                yield self._rule(before, part.content, place)

    def _rule(self, before: list[dict[str, Any]], content: dict[str, Any], place: Place) -> Rule | Refused:
        title = str(content.get("title", ""))[:_LONGEST_TITLE]
        identity = str(content.get("id") or content.get("name") or place)
        try:
            _refuse_kind(content)
            rule, conditions = self._parsed([*before, content])
            differences: list[str] = []
            tree = check_tree(self._expression(rule, conditions, differences), self._limits)
        except TamisError as bad:
            return Refused(identity, place, bad, title)
        except SigmaError as bad:
            return Refused(identity, place, SubscriptionError(" ".join(str(bad).split())), title)
        except RecursionError:
            error = SubscriptionError("the condition of the rule nests too deeply")
            return Refused(identity, place, error, title)
        return Rule(identity, tree, place, _metadata(rule), tuple(differences))

    def _parsed(self, contents: list[dict[str, Any]]) -> tuple[SigmaRule, list[Any]]:
        """Return the rule that pySigma reads, and the trees of its conditions."""
        try:
            found = SigmaCollection.from_dicts(
                deepcopy(contents), collect_errors=True, resolve_references=False, policy=_POLICY
            )
            if found.errors:
                raise found.errors[0]
            (rule,) = found.rules
            assert isinstance(rule, SigmaRule)
            prepare(rule, self._placeholders)
            return rule, [condition.parsed for condition in rule.detection.parsed_condition]
        except (SigmaError, TamisError, RecursionError):
            raise
        except Exception as bad:  # pySigma takes some shapes for granted, so any error may leave it
            raise SubscriptionError(f"pySigma cannot read the rule: {type(bad).__name__}: {bad}") from None

    def _expression(self, rule: SigmaRule, conditions: list[Any], differences: list[str]) -> Expr:
        if None in conditions:
            raise SubscriptionError("a condition of the rule selects nothing")
        detection = any_of(map(self._tree, conditions))
        source = self._source(rule, differences)
        return detection if source is None else And((source, detection))

    def _source(self, rule: SigmaRule, differences: list[str]) -> Expr | None:
        names = {key: getattr(rule.logsource, key) for key in KEYS if getattr(rule.logsource, key)}
        found = self._sources.condition(names)
        if found is not None:
            return found
        shown = ", ".join(f"{key} {name}" for key, name in names.items())
        if self._unmapped == "refuse":
            raise SubscriptionError(f"no log source describes {shown}; add one to the log sources")
        if self._unmapped == "ignore":
            differences.append(f"the log source ({shown}) is not tested; events of other sources match, too")
            return None
        tested = attributes_of(names)
        differences.append(f"no log source describes {shown}, so events must carry it: {to_text(tested)}")
        return tested

    def _tree(self, node: Any) -> Expr:
        if isinstance(node, ConditionFieldEqualsValueExpression):
            return predicate(self._sources.attribute(node.field), node.value)
        if isinstance(node, ConditionValueExpression):
            return self._keyword(node.value)
        parts = [self._tree(child) for child in node.args]
        if isinstance(node, ConditionNOT):
            return Not(parts[0])
        if isinstance(node, ConditionOR):
            return any_of(parts)
        assert isinstance(node, ConditionAND)
        return And(tuple(parts))

    def _keyword(self, value: Any) -> Expr:
        """Return the test of a value that stands anywhere in an event."""
        if self._keywords is None:
            raise SubscriptionError(
                "the rule searches keywords in the whole event; name the attribute that holds its text:"
                " keywords='message'"
            )
        if isinstance(value, SigmaRegularExpression):
            return predicate(self._keywords, value)
        if not isinstance(value, SigmaString):
            value = SigmaString(str(value))
        pattern = pattern_of(value)
        ends = (
            [part is SpecialChars.WILDCARD_MULTI for part in (value.s[0], value.s[-1])]
            if value.s
            else [True] * 2
        )
        before, after = ("" if end else "%" for end in ends)
        return Like(self._keywords, f"{before}{pattern}{after}", fold=True)


def _refuse_kind(content: dict[str, Any]) -> None:
    """Refuse documents that are no rules about one event."""
    if "action" in content:
        raise SubscriptionError(f"Tamis does not know the action {str(content['action'])[:40]!r}")
    if "correlation" in content:
        raise SubscriptionError(
            "a correlation counts several events; Tamis decides about one event at a time"
        )
    if "filter" in content:
        raise SubscriptionError("a filter changes other rules; write its condition into them")
    detection = content.get("detection")
    condition = detection.get("condition") if isinstance(detection, dict) else None
    listed = condition if isinstance(condition, list) else [condition or ""]
    if not all(isinstance(one, str) for one in listed):
        raise SubscriptionError(f"a condition is a text, not {condition!r:.40}")


def _metadata(rule: SigmaRule) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in _METADATA:
        value = getattr(rule, name)
        if value:
            found[name] = value.name.lower() if hasattr(value, "name") else str(value)
    found["tags"] = [str(tag) for tag in rule.tags]
    found["references"] = list(rule.references)
    found["logsource"] = {key: name for key in KEYS if (name := getattr(rule.logsource, key))}
    return found
