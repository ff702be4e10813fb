"""The service over HTTP: subscriptions, events, matches, notifications; versioned, typed, owner by owner.

An *operation* (:mod:`tamis.api.operation`) is a method on a path with all that is known of it: who may, what
it reads, what it answers. One list of them makes the routes, the OpenAPI page and the test of who may what.
"""

from __future__ import annotations

from tamis.extras import needs_extra

with needs_extra("tamis.api", "service"):
    from tamis.api.app import make_app
    from tamis.api.service import Service, Settings

__all__ = ["Service", "Settings", "make_app"]
