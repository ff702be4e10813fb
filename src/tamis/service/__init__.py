"""The HTTP service for subscriptions, events, matches and notifications; every resource belongs to an owner.

An *operation* (:mod:`tamis.service.operation`) is a method on a path with its scope, its request body and its
responses. One list of operations produces the routes, the OpenAPI description and the test of scopes.
"""

from __future__ import annotations

from tamis.extras import needs_extra

with needs_extra("tamis.service", "service"):
    from tamis.service.app import make_app
    from tamis.service.service import Service, Settings

__all__ = ["Service", "Settings", "make_app"]
