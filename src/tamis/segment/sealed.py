"""Seal files: JSON with a checksum, and with a key also a code that only holders of the key can make.

A checksum finds damage, but anyone who can write a file can also write its checksum. With a key
(``TAMIS_INDEX_KEY``) a manifest is signed by HMAC-SHA256 and holds a BLAKE2 digest of every file that it
names, so a file from another writer is refused.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import stat
import zlib
from pathlib import Path
from typing import Any

from tamis.errors import IndexCorrupt, IndexNotFound, IndexUntrusted, InputError
from tamis.failpoint import failpoint

KEY = "TAMIS_INDEX_KEY"
LARGEST_JSON = 64 << 20
LARGEST_FILE = 1 << 40
_PURPOSE = b"tamis-index\0"


def index_key(key: str | bytes | None = None) -> bytes | None:
    """Return the key that signs indexes: ``key``, or that of the environment; ``None`` if there is none."""
    found = os.environ.get(KEY, "") if key is None else key
    if isinstance(found, str):
        found = found.encode("utf-8", "surrogateescape")
    if key is not None and not found:
        raise InputError("the key of an index cannot be empty")
    return found or None


def digest_of(data: Any) -> str:
    """Return the strong digest of some bytes, as manifests hold it."""
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def check_digest(path: Any, data: Any, expected: str | None) -> None:
    """Raise :class:`IndexUntrusted` if the bytes of a file are not those that the signed manifest names."""
    if not expected or not hmac.compare_digest(digest_of(data), expected):
        raise IndexUntrusted(f"{path} is not the file that the signed manifest names")


def seal(body: dict[str, Any], key: bytes | None = None) -> bytes:
    """Return ``body`` as JSON with its checksum, signed if there is a ``key``."""
    text = json.dumps(body, separators=(",", ":"))
    outer: dict[str, Any] = {"crc32": zlib.crc32(text.encode()), "body": text}
    if key is not None:
        outer["hmac"] = _code(key, text)
    return json.dumps(outer).encode()


def _code(key: bytes, text: str) -> str:
    return hmac.new(key, _PURPOSE + text.encode(), hashlib.sha256).hexdigest()


def unseal(sealed: bytes, path: Any, key: bytes | None = None) -> dict[str, Any]:
    """Return the body that :func:`seal` sealed; check its signature if there is a ``key``.

    Error messages name the ``path``.
    """
    if len(sealed) > LARGEST_JSON:
        raise IndexCorrupt(f"{path} is damaged: it is larger than any manifest")
    try:
        outer = json.loads(sealed)
        text = outer["body"]
        sound = zlib.crc32(text.encode()) == outer["crc32"]
        signed = key is None or hmac.compare_digest(
            str(outer.get("hmac", "")).encode(), _code(key, text).encode()
        )
        body = json.loads(text) if sound and signed else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError):
        raise IndexCorrupt(f"{path} is damaged: it is not a sealed JSON file") from None
    if not sound:
        raise IndexCorrupt(f"{path} is damaged: it does not have its checksum")
    if not signed:
        raise IndexUntrusted(
            f"{path} is not signed by the key in {KEY}; save the index again with the key, or unset the "
            "variable to open an index that is not signed"
        )
    if not isinstance(body, dict):
        raise IndexCorrupt(f"{path} is damaged: it holds no object")
    return body


def write_sealed(path: Path, body: dict[str, Any]) -> None:
    """Write ``body`` as JSON with its checksum, atomically."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(seal(body))
        file.flush()
        os.fsync(file.fileno())
    failpoint("sealed.before_rename")
    os.replace(part, path)
    sync_folder(path.parent)


def read_file(path: Path, most: int = LARGEST_FILE) -> bytes:
    """Return the bytes of a plain file; raise :class:`IndexCorrupt` if it has more than ``most`` bytes."""
    handle = open_file(path)
    with os.fdopen(handle, "rb") as file:
        if os.fstat(handle).st_size > most:
            raise IndexCorrupt(f"{path} is damaged: it is too large")
        try:
            return file.read()
        except (OSError, MemoryError) as bad:
            raise IndexCorrupt(f"{path} cannot be read: {bad}") from None


def open_file(path: Path) -> int:
    """Return a descriptor of a plain file; raise an error for anything else, such as a pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise IndexNotFound(f"there is no index at {path.parent}: {path.name} is missing") from None
    except NotADirectoryError:
        raise IndexNotFound(f"there is no index at {path.parent}: it is not a folder") from None
    except OSError as bad:
        raise IndexCorrupt(f"{path} cannot be read: {bad.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise IndexCorrupt(f"{path} cannot be read: it is no file")
    return handle


def sync_folder(folder: Path) -> None:
    """Make renames in ``folder`` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
