"""The service from Python: the names of the library, over HTTP, now (:class:`Client`) or awaited
(:class:`AsyncClient`).

What is asked and how answers are read stands once, in ``calls``, as generators that do no I/O (``steps``);
``core`` repeats what may be repeated; ``now`` and ``later`` only do what the generators ask for.
"""

from tamis.extras import needs_extra

with needs_extra("tamis.client", "client"):
    from tamis.client.asynchronous import AsyncClient
    from tamis.client.results import (
        Advice,
        Explanation,
        Fault,
        Health,
        Holding,
        Key,
        MadeKey,
        Match,
        Matches,
        Notification,
        Outcome,
        Owner,
        Published,
        PublishedEvent,
        Quotas,
        Readiness,
        Refusal,
        Report,
        Row,
        Selectivity,
        ServiceStatus,
        Subscription,
        Told,
        Validation,
        Warned,
    )
    from tamis.client.sync import Client

__all__ = [
    "Advice",
    "AsyncClient",
    "Client",
    "Explanation",
    "Fault",
    "Health",
    "Holding",
    "Key",
    "MadeKey",
    "Match",
    "Matches",
    "Notification",
    "Outcome",
    "Owner",
    "Published",
    "PublishedEvent",
    "Quotas",
    "Readiness",
    "Refusal",
    "Report",
    "Row",
    "Selectivity",
    "ServiceStatus",
    "Subscription",
    "Told",
    "Validation",
    "Warned",
]
