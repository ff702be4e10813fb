"""Segments: immutable indexes over a set of subscriptions, in memory or memory-mapped."""

from tamis.segment.build import build_segment
from tamis.segment.segment import Particulars, Segment

__all__ = ["Particulars", "Segment", "build_segment"]
