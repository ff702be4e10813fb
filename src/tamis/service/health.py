"""Reports liveness, readiness, metrics and status."""

from __future__ import annotations

import asyncio
import functools

from starlette.responses import Response

from tamis.errors import TamisError
from tamis.service.admin import owner_response
from tamis.service.bodies import header
from tamis.service.operation import Answer, Call, Stream, operation
from tamis.service.schemas.common import OwnerQuery
from tamis.service.schemas.service import Health, Readiness, ServiceStatus
from tamis.service.service import Service
from tamis.store import deliveries
from tamis.store.keys import ADMIN, SUBSCRIBE
from tamis.version import __version__

STORE_TIMEOUT = 3.0  # seconds for the store to answer

_open = {"scope": None, "tag": "health"}


@operation("GET", "/healthz", **_open, answers={200: Health})
async def healthz(call: Call) -> Answer:
    """Check that the process is alive."""
    return Answer(Health(status="ok", version=__version__))


@operation("GET", "/readyz", **_open, answers={200: Readiness, 503: Readiness})
async def readyz(call: Call) -> Answer:
    """Check that the service is ready for requests: the store answers and the matcher keeps up."""
    found = await _readiness(call.service)
    return Answer(found, 200 if found.ready else 503)


async def _readiness(service: Service) -> Readiness:
    reasons, lag = [], None
    if service.is_stopping:
        reasons.append("the service is about to stop")
    if not service.live.is_warm:
        reasons.append("the matching kernels are being compiled for this machine")
    try:
        async with asyncio.timeout(STORE_TIMEOUT):
            lag = await service.in_thread(service.live.lag)
    except (TamisError, TimeoutError):
        reasons.append("the store does not answer")
    if lag is not None and lag > service.limits.lag_events:
        reasons.append(
            f"{lag} events wait for the matcher, more than lag_events = {service.limits.lag_events}"
        )
    return Readiness(ready=not reasons, reasons=reasons, lag=lag)


@operation(
    "GET",
    "/metrics",
    **_open,
    answers={200: Stream("text/plain", "Metrics in the Prometheus format.")},
    refusals=(401, 403),
)
async def metrics(call: Call) -> Response:
    """Read the metrics for Prometheus. Unless metrics are open, this needs the scope ``admin``."""
    service = call.service
    if not service.settings.open_metrics:
        caller = await service.access.caller(header(call.request.scope, b"authorization"))
        caller.need(ADMIN)
    text = await service.in_thread(service.metrics.text)
    return Response(text, media_type=service.metrics.media)


@operation("GET", "/v1/status", scope=SUBSCRIBE, tag="health", query=OwnerQuery, answers={200: ServiceStatus})
async def read_status(call: Call) -> Answer:
    """Read the owner's quotas and use of them; administrators also see the matching rates and the index."""
    service = call.service
    info = await service.in_thread(service.live.info)
    lag, rates = info.pop("lag"), info.pop("rates")
    waiting = await service.read(functools.partial(deliveries.unfinished, owner=call.owner))
    return Answer(
        ServiceStatus(
            version=__version__,
            owner=await owner_response(service, call.owner),
            scopes=sorted(call.caller.scopes),  # type: ignore[arg-type]
            lag=lag,
            deliveries=waiting,
            rates=rates if call.caller.is_admin else [],
            index=info if call.caller.is_admin else None,
        )
    )


OPERATIONS = (healthz, readyz, metrics, read_status)
