"""The data pipeline on Apache Spark: DataFrame in, DataFrame out.

>>> import tamis.spark  # doctest: +SKIP
>>> tamis.spark.build(subscriptions, "index")  # doctest: +SKIP
>>> events.transform(tamis.spark.match("index"))  # doctest: +SKIP
"""

from __future__ import annotations

from tamis.extras import needs_extra

# Stages have the names of their modules, so all are imported at once: a module imported later would replace
# its function.
with needs_extra("tamis.spark", "spark"):
    from tamis.spark.build import Build, build
    from tamis.spark.digest import digest
    from tamis.spark.events import events, refused_events
    from tamis.spark.generate import generate
    from tamis.spark.match import match, match_with_notes, observed, refused_of
    from tamis.spark.profiling import Profile, profile
    from tamis.spark.session import session
    from tamis.spark.sql import register
    from tamis.spark.stream import match_stream
    from tamis.spark.subscriptions import Subscriptions, subscriptions

__all__ = [
    "Build",
    "Profile",
    "Subscriptions",
    "build",
    "digest",
    "events",
    "generate",
    "match",
    "match_stream",
    "match_with_notes",
    "observed",
    "profile",
    "refused_events",
    "refused_of",
    "register",
    "session",
    "subscriptions",
]
