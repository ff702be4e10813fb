"""Turn a missing optional package into one line that says how to install it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tamis.errors import ExtraMissing


@contextlib.contextmanager
def needs_extra(part: str, extra: str) -> Iterator[None]:
    """Raise :class:`~tamis.errors.ExtraMissing` if an import inside the block finds no package."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise extra_missing(part, extra, missing) from None


def extra_missing(part: str, extra: str, missing: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error that names the package to install; ``missing`` if it is a module of Tamis itself."""
    package = (missing.name or "").split(".")[0]
    if isinstance(missing, ExtraMissing) or package in ("", "tamis"):
        return missing
    return ExtraMissing(
        f"{part} needs the package {package!r}, which is not installed; pip install 'tamis[{extra}]'",
        package=package,
        extra=extra,
    )
