"""Order versions of software: turn each into bytes whose order is that of the versions.

A key holds every part of a version in turn. A number is its count of digits and its digits, so a longer
number is the greater one. A mark between the parts decides where one version ends and another goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, get_args

Scheme = Literal["semver", "pep440", "debian"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
LONGEST = 256  # characters; a longer text is no version

_SEMVER = re.compile(
    r"v?([0-9]++)(?:\.([0-9]++)(?:\.([0-9]++))?+)?+"
    r"(?:-([0-9A-Za-z-]++(?:\.[0-9A-Za-z-]++)*+))?+(?:\+[0-9A-Za-z-]++(?:\.[0-9A-Za-z-]++)*+)?+"
)
_PEP440 = re.compile(
    r"""v?(?:(?P<epoch>[0-9]++)!)?+(?P<release>[0-9]++(?:\.[0-9]++)*+)
    (?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_number>[0-9]*+))?
    (?:-(?P<lone_post>[0-9]++)|[-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_number>[0-9]*+))?
    (?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_number>[0-9]*+))?
    (?:\+(?P<local>[a-z0-9]++(?:[-_.][a-z0-9]++)*+))?""",
    re.VERBOSE,
)
_PRE = {"a": 1, "alpha": 1, "b": 2, "beta": 2, "c": 3, "rc": 3, "pre": 3, "preview": 3}
_DEBIAN = re.compile(r"(?:([0-9]++):)?+([0-9][0-9A-Za-z.+~:-]*+)")
_DEBIAN_REVISION = re.compile(r"[0-9A-Za-z.+~]++")
_RUN = re.compile(r"([^0-9]*+)([0-9]*+)")


@lru_cache(maxsize=65_536)
def version_key(scheme: Scheme, text: str) -> bytes | None:
    """Return the bytes that order a version in ``scheme``; ``None`` if ``text`` is no such version."""
    return _KEYS[scheme](text) if len(text) <= LONGEST and text.isascii() else None


def _number(digits: str) -> bytes:
    significant = digits.lstrip("0")
    return len(significant).to_bytes(2, "big") + significant.encode()


def _semver(text: str) -> bytes | None:
    found = _SEMVER.fullmatch(text)
    if found is None:
        return None
    *numbers, before = found.groups()
    key = b"".join(_number(digits or "") for digits in numbers)
    if before is None:
        return key + b"\2"
    return key + b"\1" + b"".join(map(_identifier, before.split("."))) + b"\0"


def _identifier(text: str) -> bytes:
    """Return an identifier of a pre-release: numbers come before words."""
    return b"\1" + _number(text) if text.isdigit() else b"\2" + text.encode() + b"\0"


def _pep440(text: str) -> bytes | None:
    found = _PEP440.fullmatch(text.lower().strip())
    if found is None:
        return None
    part = found.groupdict()
    release = [digits.lstrip("0") for digits in part["release"].split(".")]
    while release and not release[-1]:
        release.pop()
    return b"".join(
        (
            _number(part["epoch"] or ""),
            *(b"\1" + _number(digits) for digits in release),
            b"\0",
            _pep440_stage(part),
            _local(part["local"]),
        )
    )


def _pep440_stage(part: dict[str, str | None]) -> bytes:
    """Return what orders the stages of a release: development, pre-release, the release, post-release."""
    is_post = part["post"] is not None or part["lone_post"] is not None
    if part["pre"] is not None:
        stage = bytes([_PRE[part["pre"]]]) + _number(part["pre_number"] or "")
    else:
        stage = b"\0" if part["dev"] is not None and not is_post else b"\4"
    post = b"\1" + _number(part["lone_post"] or part["post_number"] or "") if is_post else b"\0"
    dev = b"\0" + _number(part["dev_number"] or "") if part["dev"] is not None else b"\1"
    return stage + post + dev


def _local(text: str | None) -> bytes:
    """Return a local version: words come before numbers, and no local version before any."""
    if text is None:
        return b"\0"
    segments = re.split(r"[-_.]", text)
    written = (b"\2" + _number(one) if one.isdigit() else b"\1" + one.encode() + b"\0" for one in segments)
    return b"\1" + b"".join(written) + b"\0"


def _debian(text: str) -> bytes | None:
    found = _DEBIAN.fullmatch(text)
    if found is None:
        return None
    epoch, rest = found.groups()
    upstream, dash, revision = rest.rpartition("-")
    if not dash:
        upstream, revision = rest, ""
    elif not _DEBIAN_REVISION.fullmatch(revision):
        return None
    if ":" in upstream and epoch is None:
        return None
    return _number(epoch or "") + _debian_part(upstream) + _debian_part(revision)


def _debian_part(text: str) -> bytes:
    """Return runs of other characters and of digits in turn; a missing run of digits is a zero."""
    key = bytearray()
    at = 0
    while True:
        found = _RUN.match(text, at)
        assert found is not None  # both runs may be empty
        key += b"".join(map(_debian_character, found[1])) + b"\2" + _number(found[2])
        at = found.end()
        if at == len(text):
            return bytes(key) + b"\2"


def _debian_character(character: str) -> bytes:
    """Return a character in Debian's order: the tilde before the end, letters before all others."""
    if character == "~":
        return b"\1"
    return bytes([ord(character) if character.isalpha() else 128 + ord(character)])


_KEYS: dict[Scheme, Callable[[str], bytes | None]] = {
    "semver": _semver,
    "pep440": _pep440,
    "debian": _debian,
}
