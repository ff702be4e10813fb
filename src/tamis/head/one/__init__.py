"""Match one plain event in a head by one call of a kernel, as ``segment/one`` does in a segment."""

from tamis.head.one.one import OneEventInHead

__all__ = ["OneEventInHead"]
