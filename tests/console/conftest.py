"""Start a real browser (Debian's Chromium, driven by Playwright) on a real service."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.service.service import Running, file_url, running
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start a service on SQLite."""
    with running(file_url(tmp_path_factory.mktemp("console"))) as started:
        yield started


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium, if this machine has it."""
    sync_api = pytest.importorskip("playwright.sync_api")
    path = os.environ.get("TAMIS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no Chromium: apt-get install chromium, or set TAMIS_CHROMIUM to one")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"], timeout=1_000 * PATIENCE
        )
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser, run: Running, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Open the console, signed in as an owner of this test alone; it may reach only the service."""
    opened = browser.new_page(viewport={"width": 1280, "height": 1600})
    opened.set_default_timeout(1_000 * PATIENCE)
    troubles: list[str] = []
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("request", lambda asked: _only_home(asked.url, str(run.http.base_url), troubles))
    opened.goto(str(run.http.base_url))
    opened.fill("#key", run.caller(f"ann-{abs(hash(request.node.nodeid)):x}").key)
    opened.keyboard.press("Enter")
    opened.wait_for_selector("#sign-in:not([open])", state="attached")
    opened.wait_for_selector("#stream-state >> text=connected")
    yield opened
    opened.close()
    assert troubles == []


def _only_home(url: str, home: str, troubles: list[str]) -> None:
    if not url.startswith(home):
        troubles.append(f"asked for {url}")
