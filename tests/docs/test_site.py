"""Test the documentation site: it builds without a warning, is complete, and asks no other host."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; in strict mode a warning, such as a broken link, is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_of_docs_is_on_the_site(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    named = {page.with_name("index.html") if page.stem == "README" else page for page in pages}
    built = {path.relative_to(site) for path in site.rglob("*.html")}
    assert named - built == set()
    assert Path("repository/ARCHITECTURE.html") in built


def test_no_page_asks_another_host(site: Path) -> None:
    asking = [path.name for path in site.rglob("*.html") if FOREIGN.search(path.read_text(encoding="utf-8"))]
    assert asking == []


def test_reference_has_the_docstrings_and_the_operations_of_the_service(site: Path) -> None:
    assert "A set of subscriptions that events are matched against" in (
        site / "reference/python.html"
    ).read_text(encoding="utf-8")
    assert "/v1/subscriptions/validate" in (site / "reference/http.html").read_text(encoding="utf-8")


def test_search_index_can_be_read_without_a_server(site: Path) -> None:
    assert (site / "search" / "search_index.js").read_text(encoding="utf-8").startswith("var __index = {")
