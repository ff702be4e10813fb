"""Health, readiness, metrics, status, the log, and the headers of every response."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from tamis.errors import StoreUnavailable
from tamis.limits import Limits
from tamis.service import Settings, logs
from tests.service.service import Caller, Running, file_url, problem, running
from tests.waiting import eventually

ONE = "/v1/subscriptions/one"


def test_service_is_healthy_and_ready(run: Running) -> None:
    assert run.http.get("/healthz").json()["status"] == "ok"
    ready = run.http.get("/readyz")
    assert (ready.status_code, ready.json()["ready"], ready.json()["reasons"]) == (200, True, [])


@pytest.mark.parametrize(("waiting", "status"), [(4, 200), (5, 200), (6, 503)])
def test_service_is_not_ready_while_the_matcher_is_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waiting: int, status: int
) -> None:
    with running(file_url(tmp_path), Limits(lag_events=5)) as run:
        monkeypatch.setattr(run.live, "lag", lambda: waiting)
        assert run.http.get("/readyz").status_code == status


def test_service_is_not_ready_while_kernels_are_compiled(
    run: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run.live._matcher, "is_warm", False)
    answer = run.http.get("/readyz")
    assert (answer.status_code, answer.json()["reasons"]) == (
        503,
        ["the matching kernels are being compiled for this machine"],
    )


def test_matcher_works_when_its_warm_up_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(engine: str) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr("tamis.live.matcher.warm", broken)
    with running(file_url(tmp_path)) as run:
        assert run.http.get("/readyz").status_code == 200
    assert "could not be warmed up" in caplog.text


def test_service_is_not_ready_without_its_store(run: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def down() -> int:
        raise StoreUnavailable("postgresql://secret-host is down", store="secret-host")

    monkeypatch.setattr(run.live, "lag", down)
    answer = run.http.get("/readyz")
    assert (answer.status_code, answer.json()["reasons"]) == (503, ["the store does not answer"])
    assert run.http.get("/healthz").status_code == 200


def test_service_is_not_ready_while_it_stops(tmp_path: Path) -> None:
    with running(file_url(tmp_path)) as run:
        run.service.stop()
        assert run.http.get("/readyz").json()["reasons"] == ["the service is about to stop"]
        ann = run.caller("ann")
        problem(ann.lines("/v1/events", '{"attributes": {}}\n'), 503, "service-busy")
        # Short requests are still served.
        assert ann("POST", "/v1/events", {"attributes": {}}).status_code == 202


def test_store_failure_is_reported_in_general_words(
    run: Running, ann: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def down(*_: Any) -> Any:
        raise StoreUnavailable("the store postgresql://secret-host is not available", store="secret-host")

    monkeypatch.setattr(run.service, "_read", down)
    run.service.access.forget()
    answer = ann("GET", "/v1/subscriptions")
    problem(answer, 503, "store-unavailable")
    assert "secret-host" not in answer.text
    assert answer.headers["retry-after"] == "1"
    assert "secret-host" in caplog.text


def test_defect_is_reported_without_a_traceback(
    run: Running, ann: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(run.service, "_read", broken)
    run.service.access.forget()
    answer = ann("GET", "/v1/subscriptions", headers={"x-request-id": "look-for-me"})
    problem(answer, 500, "internal-error")
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    assert answer.headers["x-request-id"] == "look-for-me"
    assert "ZeroDivisionError" in caplog.text


# -- metrics -----------------------------------------------------------------------------------------------


def figures(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in re.findall(r"^(tamis_\S+) (\S+)$", text, re.MULTILINE)}


def test_metrics_are_served(tmp_path: Path) -> None:
    with running(file_url(tmp_path), settings=Settings(open_metrics=True)) as run:
        ann = run.caller("ann")
        ann("PUT", "/v1/subscriptions/s", {"expression": "a = 1"})
        ann.lines("/v1/events", '{"attributes": {"a": 1}}\n{"attributes": {"a": 2}}\nrubbish\n')
        ann("GET", "/v1/subscriptions/s")
        ann("GET", "/nowhere/at/all")
        eventually(lambda: figures(run.http.get("/metrics").text)["tamis_matches_total"] == 1)
        answer = run.http.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain")
        found = figures(answer.text)
        assert found['tamis_events_total{outcome="accepted"}'] == 2
        assert found['tamis_events_total{outcome="refused"}'] == 1
        assert found["tamis_events_matched_total"] == 2
        assert (found["tamis_subscriptions"], found["tamis_lag_events"]) == (1, 0)
        route = 'method="GET",route="/v1/subscriptions/{id}",status="200"'
        assert found[f"tamis_http_requests_total{{{route}}}"] == 1
        assert found['tamis_http_requests_total{method="GET",route="pages",status="404"}'] == 1
        assert found['tamis_http_request_seconds_count{route="/v1/events"}'] == 1
        assert found["tamis_match_latency_seconds_count"] >= 1
        for name in ("tamis_segments", "tamis_index_bytes", "tamis_fresh_subscriptions", "tamis_streams"):
            assert name in found


def test_documented_metrics_exist(run: Running, repo_root: Path) -> None:
    page = (repo_root / "docs" / "service.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(tamis_[a-z_]+)`", page))
    text = run.admin("GET", "/metrics").text
    described = set(re.findall(r"^# TYPE (tamis_\w+)", text, re.MULTILINE))
    ours = {name for name in described if not name.endswith("_created")}
    assert ours == named


def test_status_reports_the_service(run: Running, ann: Caller) -> None:
    ann("PUT", "/v1/subscriptions/s", {"expression": "a = 1"})
    mine = ann("GET", "/v1/status").json()
    assert mine["owner"]["held"] == {"subscriptions": 1, "predicates": 1}
    assert (mine["scopes"], mine["index"]) == (["publish", "subscribe"], None)
    all_of_it = run.admin("GET", "/v1/status").json()
    assert all_of_it["index"]["engine"] == "hybrid"
    assert "segments" in all_of_it["index"]
    assert len(all_of_it["rates"]) == 60


# -- every response ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/docs.js", "/openapi.json", "/healthz", "/v1/status", "/none"]
)
def test_responses_have_security_headers(run: Running, path: str) -> None:
    headers = run.http.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "server" not in headers
    assert re.fullmatch(r"[0-9a-f]{16}", headers["x-request-id"])


def test_request_id_is_kept_when_it_is_valid(run: Running) -> None:
    assert run.http.get("/healthz", headers={"x-request-id": "abc-1"}).headers["x-request-id"] == "abc-1"
    for strange in ("a b", "x" * 65, "a\u00e9"):
        given = run.http.get("/healthz", headers={"x-request-id": strange.encode("latin-1")})
        assert given.headers["x-request-id"] != strange


def test_api_responses_are_not_cached(run: Running, ann: Caller) -> None:
    assert ann("GET", "/v1/status").headers["cache-control"] == "no-store"


def test_every_request_is_logged_without_secrets(
    run: Running, ann: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tamis.service.requests")
    ann("GET", "/v1/subscriptions/none", headers={"x-request-id": "line-1"})
    eventually(lambda: [record for record in caplog.records if hasattr(record, "fields")])
    (record,) = (record for record in caplog.records if hasattr(record, "fields"))
    fields = record.fields  # type: ignore[attr-defined]
    assert (fields["method"], fields["path"], fields["status"]) == ("GET", "/v1/subscriptions/none", 404)
    assert fields["key"] == ann.key.split("_")[1]
    for form in ("json", "logfmt"):
        assert ann.key not in logs.LineFormatter(form).format(record)
        assert ann.key.split("_")[2] not in logs.LineFormatter(form).format(record)


def test_log_is_written_as_json_or_logfmt() -> None:
    record = logging.LogRecord("tamis.x", logging.INFO, "f", 1, "two %s", ("words",), None)
    record.fields = {"path": "/a", "note": 'say "x"\n'}
    found = json.loads(logs.LineFormatter("json").format(record))
    assert (found["level"], found["message"], found["note"]) == ("info", "two words", 'say "x"\n')
    line = logs.LineFormatter("logfmt").format(record)
    assert line.count("\n") == 0
    assert 'message="two words" path=/a note="say \\"x\\"\\n"' in line


# -- pages -------------------------------------------------------------------------------------------------


def test_pages_are_served(run: Running) -> None:
    for path, media in (("/", "text/html"), ("/docs", "text/html"), ("/docs.css", "text/css")):
        page = run.http.get(path)
        assert (page.status_code, page.headers["content-type"].partition(";")[0]) == (200, media)
        same = run.http.get(path, headers={"if-none-match": page.headers["etag"]})
        assert (same.status_code, same.content) == (304, b"")
        assert "http://" not in page.text.replace("http://www.w3.org", "")
        assert "https://" not in page.text
    problem(run.http.post("/docs"), 405, "method-unknown")


@pytest.mark.parametrize("path", ["/nothing", "/../pyproject.toml", "/%2e%2e/app.py", "/app.py", "/docs/"])
def test_unknown_path_is_not_found(run: Running, path: str) -> None:
    problem(run.http.get(path), 404, "route-unknown")


def test_unknown_method_is_refused(run: Running) -> None:
    refused = run.http.request("OPTIONS", "/v1/subscriptions/s")
    problem(refused, 405, "method-unknown")
    assert refused.headers["allow"] == "DELETE, GET, HEAD, PATCH, PUT"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/", "/docs", "/openapi.json", "/v1/status", ONE])
def test_head_returns_the_headers_of_get(run: Running, ann: Caller, path: str) -> None:
    ann("PUT", ONE, {"expression": "a = 1"})
    whole, only = ann("GET", path), ann("HEAD", path)
    assert (only.status_code, only.content) == (200, b"")
    mine = {"date", "x-request-id"}
    assert {name: value for name, value in only.headers.items() if name not in mine} == {
        name: value for name, value in whole.headers.items() if name not in mine
    }
    assert run.http.get("/healthz").status_code == 200  # the connection stays open


def test_head_of_an_endless_response_ends(run: Running, ann: Caller) -> None:
    for path in ("/v1/stream", "/v1/subscriptions/export"):
        assert (ann("HEAD", path).status_code, ann("HEAD", path).content) == (200, b"")
    assert run.service.open_streams.count() == 0


def test_head_is_refused_like_get(run: Running, ann: Caller) -> None:
    known = ann("GET", ONE).headers["content-length"]
    for path, status in ((ONE, 401), ("/nothing", 404), ("/v1/events", 405)):
        found = run.http.head(path)
        assert (found.status_code, found.content) == (status, b"")
        assert found.headers["content-type"] == "application/problem+json"
    missing = ann("HEAD", ONE)
    assert (missing.status_code, missing.headers["content-length"]) == (404, known)
