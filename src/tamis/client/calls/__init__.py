"""The operations of the service: each function returns a flow with one result, or a feed of many."""

from tamis.client.calls import admin, bulk, events, notifications, subscriptions

__all__ = ["admin", "bulk", "events", "notifications", "subscriptions"]
