"""The HTTP client of the service, synchronous (:class:`Client`) or asynchronous (:class:`AsyncClient`).

The modules in ``calls`` define each request and its response once, as generators without I/O (``steps``).
``core`` retries the requests that may be repeated. ``sync_runner`` and ``async_runner`` perform the steps.
"""

from tamis.extras import needs_extra

with needs_extra("tamis.client", "client"):
    from tamis.client.async_client import AsyncClient
    from tamis.client.results import (
        Advice,
        CreatedKey,
        Explanation,
        ExpressionWarning,
        Fault,
        Health,
        Highlight,
        Highlights,
        Key,
        Match,
        Matches,
        Notification,
        Outcome,
        Owner,
        OwnerUsage,
        Published,
        PublishedEvent,
        Quotas,
        Readiness,
        Refusal,
        Report,
        Row,
        Selectivity,
        ServiceStatus,
        Snippet,
        StreamedMatch,
        Subscription,
        Validation,
    )
    from tamis.client.sync_client import Client

__all__ = [
    "Advice",
    "AsyncClient",
    "Client",
    "CreatedKey",
    "Explanation",
    "ExpressionWarning",
    "Fault",
    "Health",
    "Highlight",
    "Highlights",
    "Key",
    "Match",
    "Matches",
    "Notification",
    "Outcome",
    "Owner",
    "OwnerUsage",
    "Published",
    "PublishedEvent",
    "Quotas",
    "Readiness",
    "Refusal",
    "Report",
    "Row",
    "Selectivity",
    "ServiceStatus",
    "Snippet",
    "StreamedMatch",
    "Subscription",
    "Validation",
]
