"""Index single subscriptions as they arrive, until a merge moves them into a segment."""

from tamis.head.head import ALIVE, Head, HeadView

__all__ = ["ALIVE", "Head", "HeadView"]
