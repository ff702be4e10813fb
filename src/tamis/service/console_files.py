"""Serves the console's files under a policy that lets them load nothing from other hosts."""

from __future__ import annotations

import hashlib
import mimetypes
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from tamis.errors import RouteUnknown

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
INDEX, SUFFIX = "index.html", ".html"


class ConsoleFile(NamedTuple):
    """A file with its media type and entity tag."""

    content: bytes
    media: str
    tag: str


class ConsoleFiles:
    """The files under ``console``, read once; every other path is unknown."""

    def __init__(self) -> None:
        self._files = dict(_read(files("tamis.service") / "console", ""))

    def paths(self) -> list[str]:
        """Return the paths of all pages."""
        return ["/", *(f"/{name}" for name in sorted(self._files))]

    async def __call__(self, request: Request) -> Response:
        """Return one file; ``/docs`` is ``docs.html``."""
        name = request.path_params.get("name") or INDEX
        page = self._files.get(name) or self._files.get(name + SUFFIX)
        if page is None:
            raise RouteUnknown(f"there is nothing at {request.url.path[:100]}")
        headers = {"etag": page.tag, "cache-control": "no-cache", "content-security-policy": POLICY}
        if page.tag in request.headers.get("if-none-match", ""):
            return Response(None, 304, headers)
        return Response(page.content, 200, headers, page.media)


def _read(folder: Traversable, prefix: str) -> list[tuple[str, ConsoleFile]]:
    found: list[tuple[str, ConsoleFile]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _read(entry, f"{prefix}{entry.name}/")
        elif not entry.name.endswith((".py", ".pyc")):
            content = entry.read_bytes()
            media = mimetypes.guess_type(entry.name)[0] or "application/octet-stream"
            found.append(
                (
                    prefix + entry.name,
                    ConsoleFile(content, media, f'"{hashlib.sha256(content).hexdigest()[:16]}"'),
                )
            )
    return found
