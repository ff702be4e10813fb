"""Appends each message to a file as a line of JSON, which is on disk before it counts as delivered.

Each owner has a subfolder of the service's folder, so that no owner writes to another's file.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from tamis.contract.delivery import File
from tamis.errors import SendFailed, TransportUnavailable
from tamis.notify.message import Message, body_of
from tamis.notify.transports.base import Transport

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class FileTransport(Transport):
    """A file transport; several notifiers may append to the same file."""

    settings = File

    def check(self, delivery: File) -> None:
        """Raise ``TransportUnavailable`` if there is no folder."""
        self._folder()

    def _folder(self) -> Path:
        if self.service.folder is None:
            raise TransportUnavailable("the service has no folder for files; give it --folder")
        return self.service.folder

    def send(self, delivery: File, message: Message) -> None:
        """Append a line; it counts as delivered when it is on disk."""
        folder = self._folder() / folder_of(message.owner)
        line = body_of(message, self.service.limits.notification_bytes) + b"\n"
        try:
            _append(folder, delivery.name, line)
        except OSError as bad:
            raise SendFailed(f"the file {delivery.name} cannot be written: {bad.strerror}") from None


def folder_of(owner: str | None) -> str:
    """Return the name of an owner's folder: the owner, if that is a plain name, otherwise a hash."""
    if owner is None:
        return "_"
    return owner if _PLAIN.fullmatch(owner) else "_" + hashlib.sha256(owner.encode()).hexdigest()[:40]


def _append(folder: Path, name: str, line: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    is_new = not (folder / name).exists()
    with _opened(folder / name) as file:
        size = os.fstat(file).st_size
        torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"  # a crash left an incomplete line
        try:
            _write(file, b"\n" * torn + line)
            os.fsync(file)
        except OSError:
            os.ftruncate(file, size)  # a full disk leaves no incomplete line
            raise
    if is_new:
        with _opened(folder, os.O_RDONLY) as entry:
            os.fsync(entry)


@contextlib.contextmanager
def _opened(path: Path, flags: int = _FLAGS) -> Iterator[int]:
    file = os.open(path, flags, 0o640)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def _write(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]
