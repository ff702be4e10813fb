"""Segments: immutable indexes over a set of subscriptions, in memory or memory-mapped."""

from tamis.index.segment.build import build_segment
from tamis.index.segment.segment import Particulars, Segment

__all__ = ["Particulars", "Segment", "build_segment"]
