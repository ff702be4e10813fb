"""The matcher: snapshots of segments, matching, top-k, explanations, work reports."""
