"""Build, store and open segments: immutable indexes over a set of subscriptions, in memory or mapped."""

from tamis.segment.build import build_segment
from tamis.segment.segment import Particulars, Segment

__all__ = ["Particulars", "Segment", "build_segment"]
