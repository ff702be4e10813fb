"""Worker threads are shared: an owner with many requests delays only its own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tamis.service.service import THREADS, THREADS_PER_OWNER
from tests.service.service import Caller, Running
from tests.waiting import PATIENCE, eventually

QUESTION = {"event": {"attributes": {"a": 1}}}


def test_one_owner_cannot_take_all_threads(
    run: Running, ann: Caller, bob: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, inside, go_on = run.live.match_page, threading.Semaphore(0), threading.Event()

    def slow(*given: Any) -> Any:
        inside.release()
        assert go_on.wait(PATIENCE)
        return match(*given)

    monkeypatch.setattr(run.live, "match_page", slow)
    with ThreadPoolExecutor(2 * THREADS) as pool:
        asked = [pool.submit(ann, "POST", "/v1/match", QUESTION) for _ in range(2 * THREADS)]
        for _ in range(THREADS_PER_OWNER):
            assert inside.acquire(timeout=PATIENCE)
        eventually(lambda: run.service.open_requests.count() == 2 * THREADS)
        assert bob("GET", "/v1/subscriptions").status_code == 200
        assert not inside.acquire(blocking=False)
        go_on.set()
        assert {one.result(PATIENCE).status_code for one in asked} == {200}
