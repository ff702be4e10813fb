"""Hooks of the documentation site: pages from the rest of the repository, links to them, the HTTP API.

A page in ``docs`` links to files outside of it, as it must on the pages of a forge. Those that are pages
themselves become part of the site below ``repository``. A link to any other file becomes its text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
GENERATED = "reference/http.md"
OUTSIDE = (
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "bench/peers/README.md",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("README.md")),
)
# A link or picture outside of code; code comes first, so that nothing inside it is taken for a link.
_CODE_OR_LINK = re.compile(r"```.*?```|`[^`\n]*`|(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)", re.DOTALL)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from outside of ``docs``, and the one about the HTTP API."""
    for name in OUTSIDE:
        files.append(File.generated(config, f"repository/{name}", abs_src_path=str(ROOT / name)))
    files.append(File.generated(config, GENERATED, content=_http_page()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Point links to files of the repository to the pages of the site."""
    here = page.file.src_uri
    place = here.removeprefix("repository/") if here.startswith("repository/") else f"docs/{here}"

    def moved(found: re.Match[str]) -> str:
        mark, text, target = found.groups()
        if target is None or re.match(r"[a-z]+:|#", target):
            return found[0]
        path, sign, anchor = target.partition("#")
        wanted = os.path.normpath(os.path.join(os.path.dirname(place), path))
        site = _on_site(wanted)
        if site is None:
            if not (ROOT / wanted).exists():
                raise FileNotFoundError(f"{place} links to {target}, which does not exist")
            return text
        return f"{mark}[{text}]({os.path.relpath(site, os.path.dirname(here) or '.')}{sign}{anchor})"

    return _CODE_OR_LINK.sub(moved, markdown)


def _on_site(path: str) -> str | None:
    """Return where a file of the repository stands on the site; ``None`` if it is no part of it."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path == "README.md":
        return "index.md"
    return f"repository/{path}" if path in OUTSIDE else None


def _http_page() -> str:
    """Return a page with all operations of the service, from its own OpenAPI description."""
    from tamis.service.app import OPERATIONS
    from tamis.service.openapi import describe

    described = describe(OPERATIONS)
    lines = [
        "# HTTP API",
        "",
        "The service describes itself: `GET /openapi.json` has every field, and `/docs` shows it.",
        "[Service](../service.md) explains how to use it.",
        "",
        "| method | path | purpose |",
        "|---|---|---|",
    ]
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            lines.append(f"| `{method.upper()}` | `{path}` | {operation.get('summary', '')} |")
    return "\n".join(lines) + "\n"
