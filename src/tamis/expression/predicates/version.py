"""Define ``attribute VERSION >= '2.10.0-beta.1'``, and the same for other schemes of versions."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple, Self

from tamis.errors import ParseError, PatternError
from tamis.expression.operands import clean_text
from tamis.expression.predicate import ONE_VALUE, PRESENT, Operand, Operator, Predicate, operator
from tamis.expression.views import END, Atom, OnView, StringRange, View
from tamis.limits import Limits
from tamis.values.value import Value
from tamis.values.version import SCHEMES, Scheme, version_key

Order = Literal["=", "<", "<=", ">", ">="]
_ORDERS: tuple[Order, ...] = ("=", "<", "<=", ">", ">=")

_WORDS: dict[Scheme, str] = {"semver": "VERSION", "pep440": "PEP440 VERSION", "debian": "DEBIAN VERSION"}
_VIEWS = {"semver": View.SEMVER, "pep440": View.PEP440, "debian": View.DEBIAN}
_NOUNS = {"semver": "semantic version", "pep440": "PEP 440 version", "debian": "Debian version"}
_SAMPLES = {
    "semver": "a semantic version such as '2.10.0-beta.1'",
    "pep440": "a version of PEP 440 such as '2.10rc1'",
    "debian": "a version of Debian such as '1:2.10-3~bpo12+1'",
}
_FIRST_CODE = 54


def _operators() -> tuple[Operator, ...]:
    """Return an operator for each scheme and order; only the equality has words for its negative form."""
    return tuple(
        operator(
            _FIRST_CODE + 2 * (len(_ORDERS) * place + at),
            f"{_WORDS[scheme].lower()} {op}",
            Operand("string", _NOUNS[scheme]),
            *([f"{_WORDS[scheme]} =="] if op == "=" else []),
            fields={"scheme": scheme, "op": op},
            negative=(f"{_WORDS[scheme]} !=", f"{_WORDS[scheme]} <>") if op == "=" else (),
        )
        for place, scheme in enumerate(SCHEMES)
        for at, op in enumerate(_ORDERS)
    )


class Version(Predicate, frozen=True):
    """The test ``attribute [NOT] VERSION op version``; a value that is no version is not accepted."""

    scheme: Scheme
    op: Order
    value: str
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = _operators()
    OPERANDS: ClassVar[tuple[str, ...]] = ("value",)

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a version in the right order to the operand."""
        if type(value) is not str:
            return False
        key = version_key(self.scheme, value)
        return key is not None and self._keys.holds(key)

    @property
    def _keys(self) -> _Keys:
        key = version_key(self.scheme, self.value)
        assert key is not None  # a checked operand
        low = (key, END if self.op == ">" else 0) if self.op in ("=", ">", ">=") else None
        high = (key, 0 if self.op == "<" else END) if self.op in ("=", "<", "<=") else None
        return _Keys(low, high)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with a version that its scheme can read."""
        if self.scheme not in SCHEMES or self.op not in _ORDERS:
            raise ParseError(
                f"there is no comparison {self.op!r} of {self.scheme!r} versions; the schemes are "
                f"{', '.join(SCHEMES)}, the comparisons {' '.join(_ORDERS)}"
            )
        value = clean_text(self.value, limits, "a version")
        if version_key(self.scheme, value) is None:
            raise PatternError(f"{value[:80]!r} is not {_SAMPLES[self.scheme]}")
        return self.changed(value=value, negated=bool(self.negated))

    def implies(self, other: Predicate) -> bool:
        """Return whether ``other`` accepts every version that this one accepts."""
        return isinstance(other, Version) and other.scheme == self.scheme and other._keys.hold(self._keys)

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return a range of versions."""
        return (OnView(_VIEWS[self.scheme], (StringRange(*self._keys),)),)

    @property
    def strength(self) -> int:
        """The selectivity: an equality is true of few events, an order of many."""
        return 4 if self.op == "=" else 1

    @property
    def likelihood(self) -> float:
        """The share of events that the comparison is likely to be true of."""
        return ONE_VALUE if self.op == "=" else PRESENT / 2


class _Keys(NamedTuple):
    """The keys between two cuts; ``None`` is unbounded."""

    low: tuple[bytes, int] | None
    high: tuple[bytes, int] | None

    def holds(self, key: bytes) -> bool:
        """Return whether a key lies between the cuts."""
        return (self.low is None or self.low <= (key, 0)) and (self.high is None or (key, 0) < self.high)

    def hold(self, other: _Keys) -> bool:
        """Return whether all keys between the cuts of ``other`` lie between these."""
        above = self.low is None or (other.low is not None and self.low <= other.low)
        return above and (self.high is None or (other.high is not None and other.high <= self.high))
