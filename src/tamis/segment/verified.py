"""Note which files were verified, so that a large index opens in milliseconds the next time.

A note beside a file records that every byte of it was read and found sound. The note is signed with a secret
of this user on this host, so a file that comes with a note of its own is verified all the same. A note counts
only as long as the file keeps its size, inode and times. A writer cannot set the time of change back.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path

NOTE = "verified"
_SECRET = "verified.key"
_SIZE = 32
_MOST_NOTES = 16  # of other users and hosts that share the file


def cache_folder() -> Path:
    """Return the folder for files of this user on this host: ``TAMIS_CACHE``, else the cache folder."""
    chosen = os.environ.get("TAMIS_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(chosen) if chosen else base / "tamis"


def is_verified(file: Path, seal: bytes) -> bool:
    """Return whether this user verified the unchanged ``file`` with this ``seal`` on this host before."""
    try:
        note = _note(file, seal)
        return note is not None and note in _notes(file)
    except OSError:
        return False


def note_verified(file: Path, seal: bytes) -> None:
    """Write a note that ``file`` is sound."""
    with suppress(OSError):  # a file in a read-only place is verified again at every open
        note = _note(file, seal)
        if note is None:
            return
        others = [] if not file.with_name(NOTE).exists() else _notes(file)
        file.with_name(NOTE).write_text("\n".join([*others[1 - _MOST_NOTES :], note]) + "\n")


def _notes(file: Path) -> list[str]:
    path = file.with_name(NOTE)
    if not stat.S_ISREG(path.stat().st_mode) or path.stat().st_size > 1 << 12:
        return []
    return path.read_bytes().decode("ascii", "replace").split()


def _note(file: Path, seal: bytes) -> str | None:
    """Return the note for the current state of the file; ``None`` if this user cannot keep a secret."""
    try:
        secret = _secret(cache_folder())
    except (OSError, RuntimeError):  # no home folder, or one that cannot be written
        return None
    state = file.stat()
    times = f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_dev} {state.st_ino} "
    return hmac.new(secret, times.encode() + hashlib.sha256(seal).digest(), hashlib.sha256).hexdigest()


@cache
def _secret(folder: Path) -> bytes:
    """Return the secret of this user, made when it is first needed."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _SECRET
    with suppress(FileExistsError):
        part = folder / f"{_SECRET}.{secrets.token_hex(8)}"
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(_SIZE))
            os.link(part, path)  # of several processes one succeeds
        finally:
            part.unlink()
    state = path.stat()
    secret = path.read_bytes()
    if state.st_uid != os.getuid() or state.st_mode & 0o077 or len(secret) != _SIZE:
        raise PermissionError(f"{path} is not a secret of this user")
    return secret
