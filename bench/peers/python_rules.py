"""Drive engines that evaluate one rule at a time in Python: every rule is asked about every event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from types import CodeType
from typing import Any

from bench.peers.common_file import Predicate


class _Rules:
    """A list of rules, and events as dictionaries of values."""

    batch = 1
    package = ""

    def __init__(self) -> None:
        self._rules: list[tuple[int, Any]] = []

    def ready(self) -> None:
        """Do nothing: only the rules are built."""

    def prepare(self, events: Sequence[tuple[int, ...]]) -> dict[str, int]:
        """Return dictionaries, as they come out of a JSON parser."""
        return {f"a{at}": value for at, value in enumerate(events[0])}

    def ids(self, answer: list[int], count: int) -> list[list[int]]:
        """Return the answer, which is already a list of ids."""
        return [answer]

    def version(self) -> str:
        """Return the version of the package."""
        return version(self.package)


class RuleEngine(_Rules):
    """The rule-engine package: ``Rule(text).matches(event)``."""

    package = "rule-engine"

    def __init__(self) -> None:
        super().__init__()
        from rule_engine import Context, Rule

        self._make: Callable[..., Any] = Rule
        self._context = Context()

    def add(self, number: int, predicates: tuple[Predicate, ...]) -> None:
        """Add a rule from its text."""
        text = " and ".join(_comparison(predicate) for predicate in predicates)
        self._rules.append((number, self._make(text, context=self._context)))

    def match(self, prepared: dict[str, int]) -> list[int]:
        """Ask every rule."""
        return [number for number, rule in self._rules if rule.matches(prepared)]


class JsonLogic(_Rules):
    """The panzi-json-logic package: ``jsonLogic(rule, event)``."""

    package = "panzi-json-logic"

    def __init__(self) -> None:
        super().__init__()
        from json_logic import jsonLogic

        self._apply: Callable[[Any, Any], Any] = jsonLogic

    def add(self, number: int, predicates: tuple[Predicate, ...]) -> None:
        """Add a rule as JSON, as it would come out of a store."""
        self._rules.append((number, {"and": [_json_logic(predicate) for predicate in predicates]}))

    def match(self, prepared: dict[str, int]) -> list[int]:
        """Ask every rule."""
        apply = self._apply
        return [number for number, rule in self._rules if apply(rule, prepared)]


class Eval(_Rules):
    """Python itself: ``eval`` of a compiled expression, with the event as its variables."""

    def add(self, number: int, predicates: tuple[Predicate, ...]) -> None:
        """Compile the expression once."""
        text = " and ".join(_comparison(predicate) for predicate in predicates)
        self._rules.append((number, compile(text, "<rule>", "eval")))

    def match(self, prepared: dict[str, int]) -> list[int]:
        """Ask every rule; the texts are our own, so that ``eval`` is safe here."""
        nothing: dict[str, Any] = {"__builtins__": {}}
        rules: list[tuple[int, CodeType]] = self._rules
        return [number for number, code in rules if eval(code, nothing, prepared)]

    def version(self) -> str:
        """Return the version of Python."""
        import platform

        return platform.python_version()


def _comparison(predicate: Predicate) -> str:
    """Return the predicate in the words that Python and rule-engine share."""
    name, first = predicate.name, predicate.operands[0]
    match predicate.operator:
        case "between":
            return f"{name} >= {first} and {name} <= {predicate.operands[1]}"
        case "in":
            return f"{name} in [{', '.join(map(str, predicate.operands))}]"
        case "=":
            return f"{name} == {first}"
    return f"{name} {predicate.operator} {first}"


def _json_logic(predicate: Predicate) -> dict[str, Any]:
    variable, operands = {"var": predicate.name}, list(predicate.operands)
    match predicate.operator:
        case "between":
            return {"<=": [operands[0], variable, operands[1]]}
        case "in":
            return {"in": [variable, operands]}
        case "=":
            return {"===": [variable, operands[0]]}
        case "!=":
            return {"!==": [variable, operands[0]]}
    return {predicate.operator: [variable, operands[0]]}
