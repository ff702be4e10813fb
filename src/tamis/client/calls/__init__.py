"""What can be asked of the service: an operation is a function that makes a flow, or a feed of many."""

from tamis.client.calls import admin, bulk, events, notifications, subscriptions

__all__ = ["admin", "bulk", "events", "notifications", "subscriptions"]
