"""Find analysers by name, and read the analysers that an index declares for its attributes."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from tamis.errors import AnalyserError, IndexVersion
from tamis.values.analysis.analyser import Analyser
from tamis.values.analysis.settings import BUILT_IN, LANGUAGES, Analysis, built_in, stop_words_of

DEFAULT = "folding"
"""The analyser of attributes for which nothing else is declared."""

Analysers = Mapping[str, str]
"""The names of analysers by attribute."""

NO_ANALYSERS: Analysers = MappingProxyType({})
_CUSTOM = "custom-"
_KEYS = ("base", *Analysis.__struct_fields__)
_defined: dict[str, Analysis] = {}  # those of users, by a name that follows from their settings


def known_names() -> tuple[str, ...]:
    """Return the names of the built-in analysers."""
    return BUILT_IN


@functools.lru_cache(maxsize=256)
def analyser_of(name: str) -> Analyser:
    """Return an analyser by name, or raise :class:`~tamis.errors.AnalyserError`."""
    settings = built_in(name) or _defined.get(name)
    if settings is None:
        close = get_close_matches(name, BUILT_IN, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise AnalyserError(f"there is no analyser {name[:40]!r}; there are {', '.join(BUILT_IN)}{hint}")
    return Analyser(name, settings)


def clean_analysers(declared: Any) -> dict[str, str]:
    """Return the names of the analysers that ``declared`` gives to attributes.

    ``declared`` maps an attribute to a name, or to settings: ``{"base": "english", "synonyms": "file.txt"}``.
    """
    if declared is None:
        return {}
    if not isinstance(declared, Mapping):
        raise AnalyserError(f"analysers is a mapping of attributes to names, not a {type(declared).__name__}")
    found: dict[str, str] = {}
    for attribute, wanted in declared.items():
        if not isinstance(attribute, str) or not attribute:
            raise AnalyserError(f"an analyser belongs to the name of an attribute, not to {attribute!r:.80}")
        try:
            found[attribute] = _name_of(wanted)
        except AnalyserError as bad:
            raise AnalyserError(f"attribute {attribute[:80]!r}: {bad.message}", attribute=attribute) from None
    return {attribute: name for attribute, name in found.items() if name != DEFAULT}


def _name_of(wanted: Any) -> str:
    if isinstance(wanted, str):
        return analyser_of(wanted).name
    if isinstance(wanted, Analysis):
        return define(wanted)
    if isinstance(wanted, Mapping):
        return define(_settings_of(wanted))
    raise AnalyserError(f"an analyser is a name or a mapping of settings, not a {type(wanted).__name__}")


def define(settings: Analysis) -> str:
    """Make an analyser with these settings known; return its name."""
    for name in BUILT_IN:
        if built_in(name) == settings:
            return name
    _check(settings)
    digest = hashlib.blake2b(msgspec.json.encode(settings, order="deterministic"), digest_size=6)
    name = _CUSTOM + digest.hexdigest()
    _defined[name] = settings
    return name


def shown(name: str) -> str | dict[str, Any]:
    """Return the name of a built-in analyser, or the settings of another, as ``clean_analysers`` takes it."""
    if name in BUILT_IN:
        return name
    settings = dict(msgspec.to_builtins(analyser_of(name).settings))
    words = settings.get("stop_words")
    known = (language for language in LANGUAGES if words == stop_words_of(language))
    return settings | {"stop_words": next(known, words)} if words else settings


def _settings_of(wanted: Mapping[str, Any]) -> Analysis:
    unknown = next((key for key in wanted if key not in _KEYS), None)
    if unknown is not None:
        close = get_close_matches(str(unknown), _KEYS, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise AnalyserError(
            f"an analyser has no setting {str(unknown)[:40]!r}; it has {', '.join(_KEYS)}{hint}"
        )
    base = analyser_of(wanted["base"]).settings if "base" in wanted else Analysis()
    changed = {key: value for key, value in wanted.items() if key != "base"}
    if isinstance(changed.get("synonyms"), str | Path):
        changed["synonyms"] = read_synonyms(Path(changed["synonyms"]))
    if isinstance(changed.get("stop_words"), str):
        changed["stop_words"] = _stop_words(changed["stop_words"])
    try:
        return msgspec.convert({**msgspec.structs.asdict(base), **changed}, Analysis)
    except msgspec.ValidationError as bad:
        raise AnalyserError(f"a setting of the analyser cannot be used: {bad}") from None


def _stop_words(language: str) -> tuple[str, ...]:
    if language not in LANGUAGES:
        raise AnalyserError(
            f"there are no stop words for {language[:40]!r}; there are {', '.join(LANGUAGES)}"
        )
    return stop_words_of(language)


def _check(settings: Analysis) -> None:
    if settings.stemmer and settings.stemmer not in LANGUAGES:
        raise AnalyserError(
            f"there is no stemmer {settings.stemmer[:40]!r}; there are {', '.join(LANGUAGES)}"
        )
    if not 0 <= settings.ngrams <= 16:
        raise AnalyserError(f"ngrams is a length from 1 to 16, or 0 for none, not {settings.ngrams}")
    for group in settings.synonyms:
        for word in group:
            if len(Analyser("", Analysis(settings.cut)).terms(word)) != 1:
                raise AnalyserError(f"a synonym is one word, not {word[:80]!r}")


def read_synonyms(path: Path) -> tuple[tuple[str, ...], ...]:
    """Return the groups of synonyms in a file.

    A line is a group: ``coat, jacket, parka``. In ``parka => coat``, the words on the left count as the word
    on the right. Lines that begin with ``#`` are comments.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as bad:
        raise AnalyserError(f"the synonyms in {path} cannot be read: {bad}") from None
    groups = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        left, arrow, right = line.partition("=>")
        words = [word.strip() for part in ((right, left) if arrow else (left,)) for word in part.split(",")]
        if len(words) < 2 or not all(words) or (arrow and "," in right):
            raise AnalyserError(
                f"{path}, line {number}: a group is 'a, b, c' or 'a, b => c', not {line[:80]!r}"
            )
        groups.append(tuple(words))
    return tuple(groups)


# -- the same terms later --------------------------------------------------------------------------------


def fingerprints_of(names: Iterable[str]) -> dict[str, str]:
    """Return a digest of the terms that each analyser makes of a fixed text."""
    return {name: _fingerprint(name) for name in sorted(set(names))}


@functools.lru_cache(maxsize=256)
def _fingerprint(name: str) -> str:
    terms = "\0".join(analyser_of(name).terms(_probe()))
    return hashlib.blake2b(terms.encode(), digest_size=8).hexdigest()


@functools.cache
def _probe() -> str:
    """Return a text with words of all languages and common endings, which shows a changed stemmer."""
    endings = ("", "s", "ing", "ed", "ation", "ement", "ungen", "heden", "mente", "ости", "ами")
    words = [word for language in LANGUAGES for word in stop_words_of(language)]
    return " ".join(f"{word}{ending}" for word in words for ending in endings) + " wi-fi 3.14 c++ 東京都"


def check_fingerprints(stored: Mapping[str, str], path: Any) -> None:
    """Raise :class:`~tamis.errors.IndexVersion` if an analyser is unknown or makes other terms by now."""
    for name, digest in stored.items():
        try:
            found = _fingerprint(name)
        except AnalyserError as bad:
            raise IndexVersion(f"{path} needs an analyser that this version lacks: {bad.message}") from None
        if found != digest:
            raise IndexVersion(
                f"{path} was built when the analyser {name!r} made other terms (another version of the "
                "stemmer, or of Unicode); build the index again"
            )
