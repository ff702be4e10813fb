"""The public index: snapshots of segments, matching, top-k, explanations and work reports."""
