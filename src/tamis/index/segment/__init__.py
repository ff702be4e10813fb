"""Segments: immutable indexes over a set of subscriptions, in memory or memory-mapped."""

from tamis.index.segment.build import build_segment
from tamis.index.segment.segment import Segment

__all__ = ["Segment", "build_segment"]
