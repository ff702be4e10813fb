"""Read the documents of an import: a text, a file, or all files of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tamis.errors import InputError
from tamis.limits import Limits
from tamis.rules.imported import Place, Refused


class Document(NamedTuple):
    """A text with rules, the file that it came from, and a name for its rules if they have none."""

    text: str
    file: str | None = None
    name: str = "text"


def files_of(source: str | Path, suffixes: tuple[str, ...]) -> list[str | tuple[Path, str]]:
    """Return the text itself, or the files of a path, each with the name of its rules.

    Of a folder, every file counts whose name ends in one of ``suffixes``, in the order of names.
    """
    if isinstance(source, str):
        return [source]
    if not isinstance(source, Path):
        raise InputError(f"rules come from a text or a Path, not from a {type(source).__name__}")
    if source.is_dir():
        files = sorted(path for path in source.rglob("*") if path.is_file() and path.name.endswith(suffixes))
        if not files:
            raise InputError(f"{source} has no file that ends in {' or '.join(suffixes)}")
        return [(path, path.relative_to(source).with_suffix("").as_posix()) for path in files]
    if not source.is_file():
        raise InputError(f"{source} is no file and no folder")
    return [(source, source.stem)]


def documents_of(files: list[str | tuple[Path, str]], limits: Limits) -> Iterator[Document | Refused]:
    """Yield the document of each file, or the reason why it cannot be read."""
    for found in files:
        yield Document(found) if isinstance(found, str) else _document(*found, limits)


def _document(path: Path, name: str, limits: Limits) -> Document | Refused:
    try:
        if (size := path.stat().st_size) > limits.import_bytes:
            what = f"the file has {size} bytes, more than import_bytes = {limits.import_bytes}"
            raise InputError(f"{what}; divide it", limit="import_bytes")
        return Document(path.read_text(encoding="utf-8-sig"), str(path), name)
    except UnicodeDecodeError as bad:
        error = InputError(f"the file is not UTF-8: byte {bad.start} is {bad.object[bad.start]:#04x}")
    except InputError as bad:
        error = bad
    except OSError as bad:
        error = InputError(f"the file cannot be read: {bad.strerror}")
    return Refused(name, Place(str(path)), error)
