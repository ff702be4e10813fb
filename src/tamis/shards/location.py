"""Locations of sharded indexes, on any file system that pyarrow supports."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from tamis.errors import IndexConflict, IndexError_, IndexNotFound, InputError

_COPY = 8 << 20


class Location:
    """A folder, by URI (``s3://…``, ``gs://…``, ``hdfs://…``, ``file://…``) or plain path."""

    def __init__(self, uri: str | os.PathLike[str]) -> None:
        given = os.fspath(uri)
        # An absolute path, because workers run in other folders.
        self.uri = given if "://" in given else os.path.abspath(given)
        self._fs, self._root = _file_system(self.uri)

    def __reduce__(self) -> tuple[Any, ...]:
        return Location, (self.uri,)

    @property
    def local(self) -> Path | None:
        """The local folder, whose files are mapped directly, or ``None`` for a remote location."""
        return Path(self._root) if isinstance(self._fs, pafs.LocalFileSystem) else None

    def path(self, name: str) -> str:
        """Return the name of a file for messages."""
        return f"{self.uri.rstrip('/')}/{name}"

    def names(self, folder: str = "") -> list[pafs.FileInfo]:
        """Return the entries of a folder, which may not exist."""
        with self._explained(folder):
            return list(self._fs.get_file_info(pafs.FileSelector(self._at(folder), allow_not_found=True)))

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        with self._explained(name), self._fs.open_input_stream(self._at(name)) as file:
            return bytes(file.read())

    def write(self, name: str, data: bytes) -> None:
        """Write a file atomically, replacing an existing one."""
        part = f"{name}.part-{uuid.uuid4().hex}" if self._renames else name
        with self._explained(name):
            self._fs.create_dir(os.path.dirname(self._at(name)), recursive=True)
            with self._fs.open_output_stream(self._at(part)) as file:
                file.write(data)
            if self._renames:
                self._flush(part)
                self._fs.move(self._at(part), self._at(name))

    def write_new(self, name: str, data: bytes) -> None:
        """Write a file that must not exist yet: of several concurrent calls, one succeeds."""
        if (folder := self.local) is None:
            if self.exists(name):
                raise IndexConflict(f"{self.path(name)} was written by somebody else meanwhile")
            self.write(name, data)
            return
        part = f"{name}.part-{uuid.uuid4().hex}"
        self.write(part, data)
        try:
            os.link(folder / part, folder / name)
        except FileExistsError:
            raise IndexConflict(f"{self.path(name)} was written by somebody else meanwhile") from None
        finally:
            os.unlink(folder / part)

    def exists(self, name: str) -> bool:
        """Return whether a file or folder exists."""
        with self._explained(name):
            return bool(self._fs.get_file_info(self._at(name)).type != pafs.FileType.NotFound)

    def upload(self, file: Path, name: str) -> None:
        """Copy a local file to the location."""
        with self._explained(name), file.open("rb") as source:
            self._fs.create_dir(os.path.dirname(self._at(name)), recursive=True)
            with self._fs.open_output_stream(self._at(name)) as target:
                while chunk := source.read(_COPY):
                    target.write(chunk)

    def fetch(self, name: str, file: Path) -> None:
        """Copy a file of the location to this machine."""
        with (
            self._explained(name),
            self._fs.open_input_stream(self._at(name)) as source,
            file.open("wb") as target,
        ):
            while chunk := source.read(_COPY):
                target.write(chunk)

    def remove(self, name: str) -> None:
        """Remove a file or folder if it exists."""
        with self._explained(name):
            kind = self._fs.get_file_info(self._at(name)).type
            if kind == pafs.FileType.Directory:
                self._fs.delete_dir(self._at(name))
            elif kind == pafs.FileType.File:
                self._fs.delete_file(self._at(name))

    @property
    def _renames(self) -> bool:
        """Whether files are renamed into place; object stores show a file only when it is closed."""
        return not isinstance(self._fs, pafs.S3FileSystem | pafs.GcsFileSystem)

    def _flush(self, name: str) -> None:
        """Make a local file durable before it gets its name."""
        if (folder := self.local) is not None:
            with (folder / name).open("rb") as file:
                os.fsync(file.fileno())

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise IndexNotFound(f"there is no {self.path(name)}") from None
        except (OSError, pa.ArrowException) as bad:
            raise IndexError_(f"{self.path(name)} cannot be reached: {bad}") from None


def _file_system(uri: str) -> tuple[Any, str]:
    if "://" not in uri:
        return pafs.LocalFileSystem(), uri
    try:
        system, root = pafs.FileSystem.from_uri(uri)
    except (pa.ArrowException, OSError, ValueError) as bad:
        raise InputError(f"{uri} is no place for an index: {bad}") from None
    return system, root.rstrip("/")
